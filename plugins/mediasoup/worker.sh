#!/usr/bin/env bash
# Builds mediasoup's worker with Weir, from a copy of its npm package: worker.sh FOLDER. FOLDER takes the package, the
# copy (source) and the program (out/mediasoup-worker). Debian's libraries replace those that meson would download.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p "$1"
plugin=$PWD root=$(cd ../.. && pwd) out=$(cd "$1" && pwd) state=$1/built-from
cp package.json package-lock.json "$out/"
npm ci --prefix "$out" --ignore-scripts --no-audit --no-fund --silent ||
  { echo "plugins/mediasoup: npm cannot download mediasoup" >&2; exit 3; }
wanted=$(cat package-lock.json mediasoup-worker.patch $(find debian -type f | sort) | sha256sum)
if [[ $(cat "$state" 2>/dev/null) != "$wanted" ]]; then
  rm -rf "$out/source" "$out/out"
  cp -r "$out/node_modules/mediasoup/worker" "$out/source"
  cat mediasoup-worker.patch debian/ktls.patch | patch --quiet -p1 -d "$out/source"
  for library in debian/*/; do
    wrap=$out/source/subprojects/$(basename "$library").wrap
    cp -r "$library" "$out/source/subprojects/$(sed -n 's/^directory = //p' "$wrap")"
  done
  echo "$wanted" >"$state"
fi
mkdir -p "$out/source/weir/observe"
cp -u src/* "$out/source/weir/"
cp -u ../observe/*.{cc,h} "$out/source/weir/observe/"
cp -u "$root"/build/amalgamation/{weir.cc,weir.h,weir_model.h} "$out/source/weir/"
export PYTHONPATH=$out/meson
[[ -x $out/meson/bin/meson ]] ||
  python3 -m pip install --quiet --root-user-action=ignore --require-hashes --no-deps --target "$out/meson" -r "$plugin/requirements.txt"
[[ -e $out/out/build.ninja ]] || python3 "$out/meson/bin/meson" setup "$out/out" "$out/source" --buildtype release \
  -Db_ndebug=true --wrap-mode nodownload >"$out/meson.log" || { cat "$out/meson.log" >&2; exit 1; }
ninja --quiet -C "$out/out" mediasoup-worker
