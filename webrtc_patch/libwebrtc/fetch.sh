#!/usr/bin/env bash
# Takes what libwebrtc is built from out of Debian's source package `chromium`, and prints the version and the archive.
#
#   webrtc_patch/libwebrtc/fetch.sh CACHE [--fetched | --package [MILESTONE]]
#
# The package, 950 MB, comes by `apt-get source` from the mirror that this machine's apt already uses, through a private
# sources file; apt checks signature and hashes. Only the archive, 60 MB, stays in CACHE. With it there, nothing is
# fetched. An interrupted fetch goes on where it stopped.
# With --fetched, an archive that is not there is a missing component. With --package it is the newest version whose
# source the mirror serves, or the newest of MILESTONE (150); the whole package stays, and the version and its folder are
# printed.
# Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

# The first was tried; the other is M150's later point release, to which the patches must only apply.
readonly versions=(150.0.7871.100-1~deb12u1 150.0.7871.181-1~deb12u1)
# Folders of Chromium: those that are compiled, and those whose build files are named by them.
readonly compiled=(build third_party/{abseil-cpp,boringssl,libsrtp,libvpx,libyuv,nasm,webrtc} tools/{clang/scripts,generate_shim_headers})
readonly named=(testing third_party/{compiler-rt,fuzztest,googletest,jsoncpp,libaom,libgav1,pffft,protobuf,re2,rnnoise})
# Debian's patches for other machines, and one for a WebRTC inside Chromium.
readonly not_applied='^(#|$|i386/|loongarch64/|ppc64le/|ungoogled/|bookworm/gn-funcs\.patch)'

say() { echo "webrtc: $1" >&2; }
fail() { # CODE MESSAGE
  say "$2"
  exit "$1"
}

[[ $# -eq 1 || ($# -eq 2 && $2 == --fetched) || ($# -ge 2 && $# -le 3 && $2 == --package && ${3:-1} =~ ^[0-9]+$) ]] ||
  fail 2 "usage: fetch.sh CACHE [--fetched | --package [MILESTONE]]"
mkdir -p "$1"
cache=$(cd "$1" && pwd)
contents=$(declare -p compiled named not_applied | sha256sum | cut -c 1-8)
readonly cache contents
# Another build of the same user may be at it.
exec 9>"$cache/lock"
flock 9
for version in "${versions[@]}"; do
  archive=$cache/chromium-$version-$contents.tar.gz
  [[ ! -r $archive || ${2:-} == --package ]] || { echo "$version $archive"; exit 0; }
done
[[ ${2:-} != --fetched ]] || fail 3 "the source of libwebrtc is not on this machine; \`make webrtc\` fetches it, 950 MB"

for command in apt-get xz; do
  command -v "$command" >/dev/null || fail 3 "'$command' is missing; run: apt-get install apt xz-utils"
done
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -r $keyring ]] || fail 3 "the Debian archive keys are missing; run: apt-get install debian-archive-keyring"
readonly work=$cache/fetch
mkdir -p "$work"/{lists,apt/archives}/partial
# The suites that this machine has packages of, as sources.
apt-get indextargets --format "deb-src [signed-by=$keyring] \$(REPO_URI) \$(RELEASE) main" 'Created-By: Packages' 'Component: main' |
  awk '!seen[$0]++' >"$work/sources.list"
[[ -s $work/sources.list ]] || fail 3 "this machine's apt has no Debian mirror"
options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/apt"
  -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3)
apt-get -qq "${options[@]}" update >&2 || fail 1 "could not read the index of Debian's sources (see above)"
source=(apt-get "${options[@]}" source --download-only)
cd "$work"
candidates=("${versions[@]}")
[[ ${2:-} != --package ]] || mapfile -t candidates < <(apt-cache "${options[@]}" showsrc --only-source chromium |
  sed -n "s/^Version: \(${3:+$3\\.}.*\)/\1/p" | sort --unique --version-sort --reverse)
for version in "${candidates[@]}" ''; do
  [[ -n $version || ${2:-} != --package ]] || fail 3 "Debian's mirror serves the source of no chromium${3:+ $3}"
  [[ -n $version ]] || fail 3 "Debian's mirror serves none of the versions of chromium that fit (${versions[*]}). \
Build on Debian 12; elsewhere, or later, use the image weir-call, or copy a chromium-*.tar.gz of another machine into $cache"
  if "${source[@]}" -qq --dsc-only "chromium=$version" >/dev/null 2>&1; then break; fi
  [[ ${2:-} != --package ]] || say "the mirror lists chromium $version but does not serve its source"
done
say "fetching the source of chromium $version, 950 MB"
"${source[@]}" "chromium=$version" >&2 || fail 1 "the source of chromium $version did not arrive (see above); run the same again, it goes on where it stopped"
[[ ${2:-} != --package ]] || { echo "$version $work"; exit 0; }

say "unpacking it, a minute or two"
rm -rf src debian
mkdir src
tar -xJf "chromium_$version.debian.tar.xz"
grep -vE "$not_applied" debian/patches/series >debian/patches/weir-series
patterns=("${compiled[@]/%//*}" "${named[@]/%//*.gn*}" 'testing/*.pydeps')
# The other files that Debian's patches change, so that they apply.
mapfile -t changed < <(cd debian/patches && xargs cat <weir-series |
  awk '$1 == "---" { name = $2; sub("[^/]*/", "", name) } $1 == "@@" && $2 != "-0,0" && name != "dev/null" { print name }' | sort -u)
for name in "${changed[@]}"; do
  for pattern in "${patterns[@]}"; do
    # shellcheck disable=SC2053 # a pattern
    [[ $name != $pattern ]] || continue 2
  done
  patterns+=("$name")
done
# xz with all cores.
XZ_DEFAULTS=-T0 tar -C src --strip-components=1 -xJf "chromium_${version%-*}.orig.tar.xz" --wildcards "${patterns[@]/#/chromium-${version%-*}/}"
archive=$cache/chromium-$version-$contents.tar.gz
tar -czf "$archive.new" src debian/patches debian/copyright
mv "$archive.new" "$archive"
cd "$cache" && rm -rf "$work"
echo "$version $archive"
