#!/usr/bin/env bash
# Builds and runs a consumer of each package of plugins/packages.py, outside the clone and as a user would, with nothing
# but the ecosystem's own tools: run.sh PACKAGES. All print the same rate after 400 packets. What is not here is skipped,
# and named.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 PACKAGES" >&2; exit 2; }
packages=$(realpath "$1") here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
(cd "$packages" && sha256sum --check --quiet SHA256SUMS)

echo "== C"
tar -xzf "$packages"/weir-*.tar.gz
c++ -std=c++20 -O2 -fno-exceptions -fno-rtti -c weir-*/weir.cc
cc -std=c11 -fPIE -I"$(echo weir-*)" -c "$here/consumer.c"
c++ -static-pie consumer.o weir.o -o consumer
./consumer | tee expected

if command -v go >/dev/null; then
  echo "== Go"
  module=$(cd "$packages/go" && find . -name list | sed -E 's#^\./(.*)/@v/list$#\1#')
  mkdir go && cp "$here/consumer.go" go/main.go
  sed -i "s#weir.example/pion#$module#" go/main.go
  export GOFLAGS=-mod=mod GOPROXY="file://$packages/go,$(go env GOPROXY)" GONOSUMDB=$module
  # Not the module of an earlier package of the same version.
  export GOMODCACHE=$work/modules
  (cd go && go mod init consumer >/dev/null 2>&1 && go get "$module" && go run .) | cmp - expected
else
  echo "== Go: skipped, since go is not here"
fi

crate=$(find "$packages" -name '*.crate')
if command -v cargo >/dev/null && [[ -n $crate ]]; then
  echo "== Rust"
  tar -xzf "$crate" && mv weir-webrtc-rs-* crate
  mkdir -p rust/src && cp "$here/consumer.rs" rust/src/main.rs
  printf '[package]\nname = "consumer"\nedition = "2024"\n[dependencies]\nweir-webrtc-rs = { path = "../crate" }\n' >rust/Cargo.toml
  (cd rust && cargo run --quiet --release) | cmp - expected
else
  echo "== Rust: skipped, since cargo or the crate is not here"
fi
