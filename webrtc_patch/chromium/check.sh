#!/usr/bin/env bash
# Applies the patch of make_patch.sh to the source of Debian's Chromium, and compiles each file that it adds or changes
# with that Chromium's own gn, clang and libc++: objects only, because the rest of Chromium takes days.
#
#   webrtc_patch/chromium/check.sh DESTINATION [MILESTONE]       for example build/chromium 150
#
# Fetches 950 MB; takes 7 GB and half an hour of a core. Without MILESTONE it checks the version whose source is in
# DESTINATION; in an empty one, the newest version whose source the mirror serves.
# LLVM_ROOT (/usr/lib/llvm-19) and RUST_ROOT (/usr) locate the compilers; gn uses only the libraries of Rust.
# Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

say() { echo "chromium: $1" >&2; }
fail() { # CODE MESSAGE
  say "$2"
  exit "$1"
}

[[ ($# -eq 1 || $# -eq 2) && ${2:-1} =~ ^[0-9]+$ ]] || fail 2 "usage: check.sh DESTINATION [MILESTONE]"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
destination=$(cd "$1" && pwd)
readonly here destination src=$destination/src out=$destination/src/out/check
readonly llvm=${LLVM_ROOT:-/usr/lib/llvm-19} rust=${RUST_ROOT:-/usr}
for command in dpkg-source gn ninja git nm python3 "$llvm/bin/clang++" "$rust/bin/rustc"; do
  command -v "$command" >/dev/null ||
    fail 3 "'$command' is missing; run: apt-get install dpkg-dev generate-ninja ninja-build git binutils python3 clang-19 libc++-19-dev rustc-web"
done

# Unpacks the source with Debian's patches and its replacements for what the package lacks.
version=$(cat "$destination/version" 2>/dev/null || true)
if [[ -z $version || (-n ${2:-} && $version != "$2".*) ]]; then
  found=$("$here/../libwebrtc/fetch.sh" "${XDG_CACHE_HOME:-$HOME/.cache}/weir" --package "${@:2}") || exit
  read -r version package <<<"$found"
  say "unpacking the source of chromium $version, five minutes"
  rm -rf "$src" "$destination"/{version,applied.patch}
  XZ_DEFAULTS=-T0 dpkg-source --no-check --extract "$package/chromium_$version.dsc" "$src" >"$destination/unpack.log" 2>&1 ||
    { cat "$destination/unpack.log" >&2; fail 1 "the source of chromium $version cannot be unpacked (see above)"; }
  rm -rf "$package" "$src/.pc"
  (cd "$src" && python3 -B debian/scripts/unbundle)
  echo "$version" >"$destination/version"
fi

# Applies the patch as a user does, after removing that of an earlier check.
apply() { GIT_CEILING_DIRECTORIES=$destination git -C "$src" apply --whitespace=nowarn "$@"; }
[[ ! -r $destination/applied.patch ]] || apply --reverse "$destination/applied.patch" || fail 1 "$src was changed; remove $destination"
rm -f "$destination/applied.patch"
"$here/make_patch.sh" "$destination/weir.patch" >/dev/null
apply "$destination/weir.patch" || fail 1 "the patch does not apply to chromium $version"
cp "$destination/weir.patch" "$destination/applied.patch"
say "the patch applies to chromium $version"

# Makes gn load what webrtc_component depends on: its root is in the output folder, and pkg-config reports all
# development packages, which only programs need, as present.
mkdir -p "$out/tools" "$src/out/root"
echo 'group("root") { deps = [ "//third_party/webrtc_overrides:webrtc_component" ] }' >"$src/out/root/BUILD.gn"
sed 's|^buildconfig = |root = "//out/root"\n&|' "$src/.gn" >"$src/out/dotfile.gn"
printf '#!/bin/sh\ncase "$*" in *version*) echo 99.0 ;; esac\n' >"$out/tools/pkg-config"
chmod +x "$out/tools/pkg-config"
{
  cat "$here/args.gn"
  echo "clang_base_path = \"$llvm\" clang_version = \"$(basename "$llvm" | grep -oE '[0-9]+$')\""
  echo "rust_sysroot_absolute = \"$rust\" rust_bindgen_root = \"$rust\" rustc_version = \"$("$rust/bin/rustc" --version 2>/dev/null || echo unknown)\""
  echo "pkg_config = \"$out/tools/pkg-config\" host_pkg_config = pkg_config"
} >"$out/args.gn"
ccache=$(command -v ccache || true)
export CC="${ccache:+ccache }$llvm/bin/clang" CXX="${ccache:+ccache }$llvm/bin/clang++" AR=ar NM=nm
export CFLAGS='' CPPFLAGS='' CXXFLAGS=-stdlib=libc++ LDFLAGS=-stdlib=libc++
run_gn() {
  (cd "$src" && gn "$1" out/check --dotfile=out/dotfile.gn --root=. "${@:2}") >"$destination/gn.log" 2>&1 ||
    { cat "$destination/gn.log" >&2; fail 1 "gn $* failed (see above)"; }
}
run_gn gen --export-compile-commands
# Checks that each include comes from a dependency, in the targets that the patch adds or changes.
for target in weir/\* webrtc_overrides:environment webrtc/modules/congestion_controller webrtc/pc:media_session \
  webrtc/pc:webrtc_session_description_factory; do
  run_gn check "//third_party/$target"
done
apply --numstat "$destination/weir.patch" | cut -f 3 | grep '\.cc$' | python3 "$here/compile.py" "$out" ||
  fail 1 "not every file of the patch compiles (see above)"

# Finds symbols of Weir that linking webrtc_component would miss; libwebrtc's own symbols are not checked.
find "$out/obj/third_party/weir" "$out/obj/third_party/webrtc_overrides/environment" -name '*.o' -exec nm -C {} + >"$destination/symbols"
missing=$(comm -23 <(sed -n 's/^ *U \(.*weir::\)/\1/p' "$destination/symbols" | sort -u) \
  <(sed -nE 's/^[0-9a-f]+ [[:alpha:]] //p' "$destination/symbols" | sort -u))
[[ -z $missing ]] || fail 1 "no source of the patch defines: $missing"
