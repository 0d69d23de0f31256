#!/usr/bin/env bash
# Complains, with status 3, when what a plug-in in Go is built with is not there: toolchain.sh [NAME]
set -euo pipefail
readonly WANTED=1.24
missing=()
version=$(go env GOVERSION 2>/dev/null || true)
if [[ $(printf '%s\n' "$WANTED" "${version#go}" | sort -V | head -n 1) != "$WANTED" ]]; then
  missing+=("Go $WANTED or later (here: ${version:-none}): from go.dev, or Debian's backports: apt-get install -t bookworm-backports golang-go")
fi
command -v c++ >/dev/null || missing+=("a C++ compiler: apt-get install g++")
if ((${#missing[@]})); then
  echo "plugins/${1:-pion}: not there:" >&2
  printf '  - %s\n' "${missing[@]}" >&2
  exit 3
fi
