#!/usr/bin/env bash
# Builds and runs a consumer of each package of estimator/packages/write.py, outside the clone and as a user would, with
# nothing but the ecosystem's own tools: run.sh PACKAGES. All print the same rate after 400 packets. What is not here is
# skipped, and named; those that WEIR_CONSUMERS names, such as "CMake Go", must be here.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 PACKAGES" >&2; exit 2; }
consumers=" C musl musl-arm64 CMake Conan vcpkg Python Python-arm64 Node browser Go Rust "
for name in ${WEIR_CONSUMERS:-}; do
  [[ $consumers == *" $name "* ]] || { echo "WEIR_CONSUMERS: $name is none of$consumers" >&2; exit 2; }
done

# skip NAME REASON
skip() {
  if [[ " ${WEIR_CONSUMERS:-} " == *" $1 "* ]]; then
    echo "WEIR_CONSUMERS: $1 must run, but $2; install it, or do not name $1" >&2
    exit 3
  fi
  echo "== $1: skipped, since $2"
}

packages=$(realpath "$1") here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
(cd "$packages" && sha256sum --check --quiet SHA256SUMS)

# As the first: the others print what it prints.
echo "== C"
tar -xzf "$packages"/weir-*.tar.gz
mv weir-*/ source
c++ -std=c++20 -O2 -fPIC -fno-exceptions -fno-rtti -c source/weir.cc
cc -std=c11 -fPIE -Isource -c "$here/consumer.c"
c++ -static-pie consumer.o weir.o -o consumer
./consumer | tee expected

# musl MACHINE [EMULATOR]: with zig, which brings musl.
musl() {
  python3 -m ziglang c++ -target "$1-linux-musl" -std=c++20 -O2 -fno-exceptions -fno-rtti -c source/weir.cc -o musl.o
  python3 -m ziglang cc -target "$1-linux-musl" -std=c11 -Isource -c "$here/consumer.c" -o musl_consumer.o
  python3 -m ziglang c++ -target "$1-linux-musl" -static musl_consumer.o musl.o -o musl_consumer
  ${2:-} ./musl_consumer | cmp - expected
}

if python3 -c "import ziglang" 2>/dev/null; then
  echo "== C with musl, static"
  musl "$(uname -m)"
else
  skip musl "python3 has no ziglang"
fi

if python3 -c "import ziglang" 2>/dev/null && command -v qemu-aarch64-static >/dev/null; then
  echo "== C with musl, static, on arm64, under qemu-user"
  musl aarch64 qemu-aarch64-static
else
  skip musl-arm64 "qemu-aarch64-static is not here, or python3 has no ziglang"
fi

if command -v cmake >/dev/null; then
  echo "== CMake: find_package, -static-pie"
  cmake -S source -B library -DCMAKE_INSTALL_PREFIX="$work/prefix" >/dev/null
  cmake --build library >/dev/null
  cmake --install library >/dev/null
  options=(-DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_EXE_LINKER_FLAGS=-static-pie)
  cmake -S "$here" -B cmake "${options[@]}" >/dev/null
  cmake --build cmake >/dev/null
  [[ $(readelf -h cmake/consumer) == *"DYN (Position-Independent"* && $(readelf -l cmake/consumer) != *INTERP* ]]
  cmake/consumer | cmp - expected
else
  skip CMake "cmake is not here"
fi

if command -v conan >/dev/null; then
  echo "== Conan"
  export CONAN_HOME=$work/conan_home
  conan profile detect >/dev/null 2>&1
  settings=(-s compiler.cppstd=20)
  conan create source --no-remote "${settings[@]}" >conan.log 2>&1 || { cat conan.log >&2; exit 1; }
  mkdir conan
  cp "$here"/{CMakeLists.txt,consumer.c} conan
  conan install --requires="weir/$(sed -n 's/^    version = "\(.*\)"/\1/p' source/conanfile.py)" --no-remote "${settings[@]}" \
    -g CMakeDeps -g CMakeToolchain --output-folder conan >conan.log 2>&1 || { cat conan.log >&2; exit 1; }
  cmake -S conan -B conan/build -DCMAKE_TOOLCHAIN_FILE="$work/conan/conan_toolchain.cmake" -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build conan/build >/dev/null
  conan/build/consumer | cmp - expected
else
  skip Conan "conan is not here"
fi

if [[ -x ${VCPKG_INSTALLATION_ROOT:-}/vcpkg ]]; then
  echo "== vcpkg"
  "$VCPKG_INSTALLATION_ROOT/vcpkg" install weir --overlay-ports="$packages/vcpkg" --classic >/dev/null
  toolchain=$VCPKG_INSTALLATION_ROOT/scripts/buildsystems/vcpkg.cmake
  cmake -S "$here" -B vcpkg -DCMAKE_TOOLCHAIN_FILE="$toolchain" >/dev/null
  cmake --build vcpkg >/dev/null
  vcpkg/consumer | cmp - expected
else
  skip vcpkg "VCPKG_INSTALLATION_ROOT names none"
fi

python=$(basename "$packages"/python/*manylinux*x86_64.whl | sed -E 's/.*-cp3([0-9]+)-cp.*/python3.\1/')
if [[ $(uname -m) == x86_64 ]] && command -v "$python" >/dev/null; then
  echo "== Python, the wheel and the sdist"
  for package in "$packages"/python/*manylinux*x86_64.whl "$packages"/python/*.tar.gz; do
    rm -rf environment
    "$python" -m venv environment
    environment/bin/pip install --quiet --disable-pip-version-check "$package"
    environment/bin/python "$here/consumer.py" | cmp - expected
  done
else
  skip Python "$python on x86-64 is not here"
fi

if command -v qemu-aarch64-static >/dev/null && command -v "$python" >/dev/null; then
  echo "== Python on arm64, under qemu-user"
  packages_of_root=("$python-minimal" "lib$python-minimal" "lib$python-stdlib" libc6 zlib1g libexpat1 libgcc-s1 libffi8)
  DEBIAN_ARCHITECTURE=arm64 "$here/../../../docker/debian_packages.sh" bookworm "$work/arm64" "${packages_of_root[@]}"
  unzip -q "$packages"/python/*manylinux*aarch64.whl -d "$work/arm64/wheel"
  QEMU_LD_PREFIX=$work/arm64 PYTHONPATH=$work/arm64/wheel qemu-aarch64-static "$work/arm64/usr/bin/$python" \
    "$here/consumer.py" | cmp - expected
else
  skip Python-arm64 "qemu-aarch64-static or $python is not here"
fi

if command -v node >/dev/null; then
  echo "== Node"
  mkdir node
  cp "$here/consumer.mjs" node
  (cd node && npm install --silent --no-audit --no-fund "$packages"/weir-bwe-*.tgz && node consumer.mjs) | cmp - expected
else
  skip Node "node is not here"
fi

chromium=$(command -v chromium || command -v google-chrome || true)
clone_python=$here/../../../.venv/bin/python
if [[ -n $chromium ]] && "$clone_python" -c "import playwright" 2>/dev/null; then
  echo "== Browser"
  mkdir browser
  cp "$here/consumer.mjs" "$here/consumer.html" browser
  tar -xzf "$packages"/weir-bwe-*.tgz -C browser
  "$clone_python" "$here/browser.py" browser "$chromium" | cmp - expected
else
  skip browser "chromium is not here, or .venv has no playwright"
fi

if command -v go >/dev/null; then
  echo "== Go, cgo"
  module=$(cd "$packages/go" && find . -name list | sed -E 's#^\./(.*)/@v/list$#\1#')
  mkdir go
  cp "$here/consumer.go" go/main.go
  sed -i "s#weir.example/pion#$module#" go/main.go
  export GOFLAGS=-mod=mod GOPROXY="file://$packages/go,$(go env GOPROXY)" GONOSUMDB=$module
  # Not the module of an earlier package of the same version.
  export GOMODCACHE=$work/modules
  (cd go && go mod init consumer >/dev/null 2>&1 && go get "$module")
  (cd go && go run .) | cmp - expected
  echo "== Go without cgo"
  (cd go && CGO_ENABLED=0 go run .) | cmp - expected
else
  skip Go "go is not here"
fi

crate=$(find "$packages" -name '*.crate')
if command -v cargo >/dev/null && [[ -n $crate ]]; then
  echo "== Rust"
  tar -xzf "$crate"
  mv weir-bwe-*/ crate
  mkdir -p rust/src
  cp "$here/consumer.rs" rust/src/main.rs
  printf '[package]\nname = "consumer"\nedition = "2024"\n[dependencies]\nweir-bwe = { path = "../crate" }\n' >rust/Cargo.toml
  (cd rust && cargo run --quiet --release) | cmp - expected
else
  skip Rust "cargo or the crate is not here"
fi
