#!/usr/bin/env bash
# Puts the source of Debian's libwebrtc (source package libtgowt, in the version of the installed libtgowt-dev) where CMake looks for it,
# with a patch series applied.
#
#   webrtc_patch/fetch_source.sh DESTINATION SERIES     for example build/libwebrtc webrtc_patch/libwebrtc-2023-01
#
# The source comes by `apt-get source` from the mirror that this machine's apt already uses, through a private sources file. Does
# nothing, and needs no network, when everything is in place; does it anew when the series or the installed package has changed.
# Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

readonly package=libtgowt

fail() { # CODE MESSAGE
  echo "fetch_source.sh: $2" >&2
  exit "$1"
}

[[ $# -eq 2 ]] || fail 2 "usage: fetch_source.sh DESTINATION SERIES"
readonly destination=$1
series=$(cd "$2" 2>/dev/null && pwd) || fail 2 "no folder '$2'"
readonly series
[[ -r $series/series ]] || fail 2 "'$2' has no file 'series'"
mapfile -t patches < <(grep -v '^#' "$series/series" | grep .)
[[ ${#patches[@]} -gt 0 ]] || fail 2 "'$2/series' names no patch"
for patch in "${patches[@]}"; do
  [[ -r $series/$patch ]] || fail 2 "'$2' has no patch '$patch'"
done

[[ ! -d $(dirname "$0")/../build/libtgowt ]] ||
  fail 3 "nothing links with this release's libwebrtc, see docker/libtgowt.sh; build weir-peer on Debian 12, or use the image weir-call"
# Headers and source must be of the same version: the compiled objects take the place of the archive's own.
version=$(dpkg-query --show --showformat='${source:Version}' "$package-dev" 2>/dev/null) && [[ -n $version ]] ||
  fail 3 "$package-dev is not installed; run: apt-get install $package-dev"
readonly version
wanted=$(echo "$version" && cd "$series" && sha256sum series "${patches[@]}")
readonly wanted
if [[ -r $destination/.weir && $(<"$destination/.weir") == "$wanted" ]]; then
  echo "libwebrtc: $package $version, patched, in $destination"
  exit 0
fi

for command in apt-get dpkg-source patch; do
  command -v "$command" >/dev/null || fail 3 "'$command' is missing; run: apt-get install apt dpkg-dev patch"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -r $keyring ]] || fail 3 "the Debian archive keys are missing; run: apt-get install debian-archive-keyring"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source"

# The suites that this machine has packages of, as sources, in their order: apt prefers the first.
apt-get indextargets --format "deb-src [signed-by=$keyring] \$(REPO_URI) \$(RELEASE) main" 'Created-By: Packages' 'Component: main' |
  awk '!seen[$0]++' >"$work/sources.list" || fail 1 "apt-get cannot say where this machine's packages come from (see above)"
[[ -s $work/sources.list ]] || fail 3 "this machine's apt has no Debian mirror"
options=(-qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
  -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3)
apt-get "${options[@]}" update || fail 1 "could not read the index of Debian's sources (see above)"
(cd "$work/source" && apt-get "${options[@]}" source "$package=$version") >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  fail 1 "could not fetch and unpack the source of $package $version (see above)"
}
source=$(find "$work/source" -mindepth 1 -maxdepth 1 -type d -print -quit)
[[ -n $source ]] || fail 1 "the source package of $package has no folder"
for patch in "${patches[@]}"; do
  patch --directory="$source" --strip=1 --fuzz=0 --forward --batch --quiet --no-backup-if-mismatch <"$series/$patch" ||
    fail 1 "$patch does not apply to $package $version"
done

echo "$wanted" >"$source/.weir"
mkdir -p "$(dirname "$destination")"
rm -rf "$destination"
mv "$source" "$destination"
echo "libwebrtc: $package $version, patched, in $destination"
