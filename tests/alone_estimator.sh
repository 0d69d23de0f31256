#!/usr/bin/env bash
# Tests the library alone: C++, C and Python, without ns-3, libwebrtc, torch and the other folders. Compiles a copy of
# estimator/ and tests/estimator in build/alone/estimator.
#
#   UV=UV tests/alone_estimator.sh      as `make test-estimator` does
#
# Exit codes: 0 all passed, 1 something failed, 3 a Debian package is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
home=$PWD/build/alone/estimator
tree=$home/tree
mkdir -p "$tree"
# Files that are the same keep their times, so that only changes are compiled.
git ls-files --cached --others --exclude-standard estimator tests/estimator tests/support tests/conftest.py examples/controllers LICENSE |
  while read -r file; do
    mkdir -p "$tree/$(dirname "$file")"
    cmp -s "$file" "$tree/$file" || { [[ -e $file ]] && cp "$file" "$tree/$file"; }
  done || true
(cd "$tree" && find estimator tests examples -type f -not -path '*/__pycache__/*') |
  while read -r file; do [[ -e $file ]] || rm "$tree/$file"; done
sed -n '/^\[tool.pytest/,$p' pyproject.toml >"$tree/pyproject.toml"

export VIRTUAL_ENV=$home/venv
[[ -x $VIRTUAL_ENV/bin/python ]] || "$UV" venv --quiet --python "${PYTHON:-python3}" "$VIRTUAL_ENV"
grep -hoE '^[a-z0-9][^ ;]*==[^ ;]+' requirements/{run,test}.txt | sort -u >"$home/constraints.txt"
"$UV" pip install --quiet --constraints "$home/constraints.txt" hypothesis numpy onnx onnxruntime pybind11 pydantic pytest \
  pytest-asyncio pytest-xdist
docker/onnxruntime.sh "$home/onnxruntime" "$VIRTUAL_ENV/bin/python"
export PATH=$VIRTUAL_ENV/bin:$PATH
cmake -S "$tree/estimator" -B "$home/build" -G Ninja -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DWEIR_BUILD_PYTHON=ON \
  -DWEIR_BUILD_TESTS=ON -DWEIR_ONNXRUNTIME=ON -DONNXRUNTIME_ROOT="$home/onnxruntime" \
  -DPython_EXECUTABLE="$VIRTUAL_ENV/bin/python" >/dev/null
docker/progress.sh "$home/build.log" cmake --build "$home/build" -j "$(nproc)"
ctest --test-dir "$home/build" --output-on-failure -j "$(nproc)" | tail -n 5
site=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
rm -rf "$site/weir"
cp -r "$tree/estimator/python/weir" "$site/weir"
cmake --install "$home/build" --component python --prefix "$site" >/dev/null
cd "$tree"
exec pytest -q -n "$(nproc)" --dist worksteal tests/estimator
