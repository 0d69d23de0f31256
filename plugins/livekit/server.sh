#!/usr/bin/env bash
# Builds livekit-server with livekit-server.patch, from a copy of its module: server.sh FOLDER. FOLDER takes the copy
# and the program, livekit-server-weir.
set -euo pipefail
cd "$(dirname "$0")"
readonly MODULE=github.com/livekit/livekit-server
command -v patch >/dev/null || { echo "plugins/livekit: patch is missing: apt-get install patch" >&2; exit 3; }
go mod download || { echo "plugins/livekit: Go cannot download $MODULE" >&2; exit 3; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -rf "$out/source"
cp -r "$(go list -m -f '{{.Dir}}' "$MODULE")" "$out/source"
chmod -R u+w "$out/source"
patch --quiet -p1 -d "$out/source" <livekit-server.patch
cp go.mod "$out/server.mod"
cp go.sum "$out/server.sum"
go mod edit -replace "$MODULE=$out/source" "$out/server.mod"
go build -modfile="$out/server.mod" -o "$out/livekit-server-weir" "$MODULE/cmd/server"
