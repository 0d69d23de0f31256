#!/usr/bin/env bash
# Builds the libwebrtc of Debian's source package `chromium`, with Weir's patches, as ../CMakeLists.txt expects it:
# DESTINATION/src with the headers, libwebrtc.a, args.gn, version.
#
#   webrtc_patch/libwebrtc/build.sh DESTINATION [--checked]     for example build/libwebrtc
#
# libwebrtc's debug checks are off, as in browsers. With --checked they are on, for tests, and the result is in
# DESTINATION/checked; both are compiled from one source.
#
# 1,800 objects each: about 25 minutes of a core, seconds where ccache has them. Interrupted, it continues where it stopped.
# The fetched archive stays in ${XDG_CACHE_HOME:-~/.cache}/weir.
# Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

say() { echo "webrtc: $1" >&2; }
fail() { # CODE MESSAGE
  say "$2"
  exit "$1"
}

[[ $# -eq 1 || ($# -eq 2 && $2 == --checked) ]] || fail 2 "usage: build.sh DESTINATION [--checked]"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
destination=$(cd "$1" && pwd)
readonly here destination series=$here/../patches src=$destination/src
if [[ $# -eq 1 ]]; then
  readonly result=$destination kind=release checks=false
else
  readonly result=$destination/checked kind=checked checks=true
fi
readonly out=$src/out/$kind
mapfile -t patches < <(sed "s|^|$series/|" "$series/series")
for command in gn ninja g++ ar python3 patch; do
  command -v "$command" >/dev/null || fail 3 "'$command' is missing; run: apt-get install generate-ninja ninja-build g++ python3 patch"
done

# The patched source, as a checkout of WebRTC: its folder on top.
wanted=$(cat "$here"/* "$series/series" "${patches[@]}" | sha256sum)
if [[ ! -r $destination/prepared || $(<"$destination/prepared") != "$wanted" ]]; then
  found=$("$here/fetch.sh" "${XDG_CACHE_HOME:-$HOME/.cache}/weir")
  read -r version archive <<<"$found"
  apply() { patch --directory="$1" --strip=1 --fuzz=0 --forward --batch --quiet --no-backup-if-mismatch <"$2" || fail 1 "$2 does not apply to chromium $version"; }
  readonly chromium=$destination/chromium
  rm -rf "$src" "$chromium" "$destination"/{prepared,version,checked}
  mkdir "$chromium"
  tar -C "$chromium" -xzf "$archive"
  while read -r patch; do apply "$chromium/src" "$chromium/debian/patches/$patch"; done <"$chromium/debian/patches/weir-series"
  mv "$chromium/src/third_party/webrtc" "$src"
  mv "$chromium"/src/{build,testing,third_party,tools} "$src"
  rm -rf "$chromium"
  # Debian's gn is of 2022.
  sed -i -e 's/^exec_script_allowlist =/exec_script_whitelist =/' -e 's|^buildconfig = |root = "//weir"\n&|' "$src/.gn"
  sed -i 's/^build_with_chromium = true/build_with_chromium = false/' "$src/build/config/gclient_args.gni"
  # Parts that the package lacks or nothing here needs. Opus is the system's.
  mkdir -p "$src"/third_party/{opus,zlib,dav1d} "$src"/weir
  cp "$src/build/linux/unbundle/opus.gn" "$src/third_party/opus/BUILD.gn"
  echo 'group("dav1d") {}' >"$src/third_party/dav1d/BUILD.gn"
  echo 'config("zlib_config") {} group("zlib") {}' >"$src/third_party/zlib/BUILD.gn"
  echo 'group("jpeg") {}' >"$src/third_party/BUILD.gn"
  for patch in "$here"/*.patch "${patches[@]}"; do apply "$src" "$patch"; done
  cp "$here/BUILD.gn" "$src/weir/"
  echo "$version" >"$destination/source"
  echo "$wanted" >"$destination/prepared"
fi

# Weir's own targets, from this folder of the repository; where a Chromium has them.
mkdir -p "$src/third_party/weir"
for folder in estimator trainer webrtc_patch; do ln -sfn "$(cd "$here/../.." && pwd)/$folder" "$src/third_party/weir/$folder"; done

# The compilers' flags are gn's alone.
ccache=$(command -v ccache || true)
export CC="${ccache:+ccache }gcc" CXX="${ccache:+ccache }g++" AR=ar NM=nm CFLAGS='' CPPFLAGS='' CXXFLAGS='' LDFLAGS=''
mkdir -p "$result" "$out"
[[ -e $result/src ]] || ln -s ../src "$result/src"
{ cat "$here/args.gn" && echo "dcheck_always_on = $checks"; } >"$out/args.gn"
readonly log=$result/build.log
(cd "$src" && gn gen --quiet "out/$kind") >"$log" 2>&1 || { cat "$log" >&2; fail 1 "gn failed (see above)"; }
say "building libwebrtc ($kind) of chromium $(<"$destination/source"); $log"
"$here/../../docker/progress.sh" "$log" ninja -C "$out" -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" weir:weir >&2 ||
  fail 1 "libwebrtc did not compile (see above and $log)"
ln -sf "src/out/$kind/obj/weir/libweir_webrtc.a" "$result/libwebrtc.a"
ln -sf "src/out/$kind/args.gn" "$result/args.gn"
cp "$destination/source" "$result/version"
say "libwebrtc of chromium $(<"$result/version") is in $result"
