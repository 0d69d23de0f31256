#!/usr/bin/env bash
# Writes one patch for a Chromium checkout: the series for libwebrtc, feature.patch, and Weir as third_party/weir.
#
#   webrtc_patch/chromium/make_patch.sh FILE       for example build/chromium/weir.patch
#
#   cd ~/chromium/src && git apply FILE
#
# Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

[[ $# -eq 1 ]] || { echo "usage: make_patch.sh FILE" >&2; exit 2; }
command -v git >/dev/null || { echo "make_patch.sh: 'git' is missing; run: apt-get install git" >&2; exit 3; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$(realpath "$1")
readonly here out root=$here/../..
# A repository with only the new files produces a diff that `git apply` reads, including the binary model.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly weir=$work/third_party/weir
mkdir -p "$weir"
# The files listed in the BUILD.gn files.
files=(LICENSE estimator/models/weir.onnx webrtc_patch/adapter/embed_model.py)
for folder in estimator webrtc_patch/{adapter,chromium}; do
  files+=("$folder/BUILD.gn")
  while read -r source; do files+=("$folder/$source"); done < <(grep -oE '"[a-z0-9_/]+\.(cc|h)"' "$root/$folder/BUILD.gn" | tr -d '"')
done
tar -C "$root" -c "${files[@]}" | tar -x -C "$weir"
cp "$here/README.chromium" "$weir/"
# Settings and hooks of the user's git would change the result.
new() { GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git -C "$work" -c core.autocrlf=false "$@"; }
new init --quiet
new add --all --force
{
  for patch in $(<"$root/webrtc_patch/patches/series"); do
    sed -E -e 's|^diff --git a/(.*) b/(.*)$|diff --git a/third_party/webrtc/\1 b/third_party/webrtc/\2|' \
      -e 's|^(---) a/|\1 a/third_party/webrtc/|' -e 's|^(\+\+\+) b/|\1 b/third_party/webrtc/|' "$root/webrtc_patch/patches/$patch"
  done
  cat "$here/feature.patch"
  new diff --cached --binary --no-color --no-ext-diff
} >"$out.new"
mv "$out.new" "$out"
echo "$out"
