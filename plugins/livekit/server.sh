#!/usr/bin/env bash
# Builds livekit-server with livekit-server.patch, from a copy of its module: server.sh FOLDER. FOLDER takes the copy
# and the program, livekit-server-weir. Versions are those of LiveKit's own go.mod.
set -euo pipefail
cd "$(dirname "$0")"
readonly MODULE=github.com/livekit/livekit-server
command -v patch >/dev/null || { echo "plugins/livekit: patch is missing: apt-get install patch" >&2; exit 3; }
go mod download "$MODULE" || { echo "plugins/livekit: Go cannot download $MODULE" >&2; exit 3; }
mkdir -p "$1"
out=$(cd "$1" && pwd) weir=$PWD
rm -rf "$out/source"
cp -r "$(go list -m -f '{{.Dir}}' "$MODULE")" "$out/source"
chmod -R u+w "$out/source"
patch --quiet -p1 -d "$out/source" <livekit-server.patch
cd "$out/source"
cat "$weir"/go.sum "$weir"/../pion/go.sum >>go.sum
# Without these, the newer ones that weir/pion requires would be used.
mapfile -t pion < <(awk '$1 ~ "^github.com/pion/" { print "-replace=" $1 "=" $1 "@" $2 }' go.mod)
go mod edit "${pion[@]}" -replace=weir/pion="$weir/../pion" -replace=weir/livekit="$weir" -require=weir/livekit@v0.0.0
go build -mod=mod -buildvcs=false -o "$out/livekit-server-weir" ./cmd/server
