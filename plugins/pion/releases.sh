#!/usr/bin/env bash
# Tests this module, and a program of its own with the README's code, against the three newest releases of pion, or
# against those that PION names, such as "v4.2.25 v4.2.26": releases.sh FOLDER. FOLDER takes the program, which is built
# from its folder `vendor` after its way to the clone is gone.
set -euo pipefail
readonly PION_MODULE=github.com/pion/webrtc/v4
mkdir -p "$1"
out=$(realpath "$1") weir=$(realpath "$(dirname "$0")")
cd "$weir"
if [[ -z ${PION:-} ]]; then
  versions=$(go list -m -versions "$PION_MODULE") ||
    { echo "plugins/pion: Go cannot list the releases of $PION_MODULE; name them in PION" >&2; exit 3; }
  PION=$(tr ' ' '\n' <<<"$versions" | grep -E '^v[0-9.]+$' | tail -n 3 | tr '\n' ' ')
fi

for version in $PION; do
  echo "== pion $version: the tests of this module"
  cp go.mod "$out/weir.mod"
  cp go.sum "$out/weir.sum"
  go get -modfile="$out/weir.mod" "$PION_MODULE@$version"
  go mod tidy -modfile="$out/weir.mod"
  go test -modfile="$out/weir.mod" ./...

  echo "== pion $version: the README's program, with what it needs in its folder \`vendor\`"
  program=$out/program
  rm -rf "$program"
  mkdir "$program"
  cp example/*.go "$program"
  rm "$program"/*_test.go
  ln -sfn "$weir" "$out/clone"
  cd "$program"
  go mod init program
  go mod edit -replace "weir/pion=$out/clone"
  go get "$PION_MODULE@$version"
  go mod tidy
  used=$(go list -m -f '{{.Version}}' "$PION_MODULE")
  [[ $used == "$version" ]] || { echo "plugins/pion: needs pion $used, later than $version" >&2; exit 1; }
  go mod vendor
  cmp "$weir/LICENSE" vendor/weir/pion/LICENSE
  rm "$out/clone"
  CGO_ENABLED=1 go run -mod=vendor .
  # Without cgo it builds, and runs if `make wasm` was here.
  CGO_ENABLED=0 go build -mod=vendor -o /dev/null .
  cd "$weir"
done
