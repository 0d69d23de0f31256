#!/usr/bin/env bash
# Unpacks packages of a Debian release into a folder without installing them; from the mirror that this machine's apt
# already uses, through a private sources file.
#
#   docker/debian_packages.sh RELEASE DESTINATION PACKAGE...
#
# DEBIAN_ARCHITECTURE names another architecture than this machine's. Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

fail() { # CODE MESSAGE
  echo "debian_packages.sh: $2" >&2
  exit "$1"
}

[[ $# -ge 3 ]] || fail 2 "usage: debian_packages.sh RELEASE DESTINATION PACKAGE..."
readonly release=$1 destination=$2
for command in apt-get dpkg-deb; do
  command -v "$command" >/dev/null || fail 3 "'$command' is missing: this is not a Debian system"
done
mirror=$("$(dirname "$0")/debian_mirror.sh")
[[ -n $mirror ]] || fail 3 "this machine's apt has no Debian mirror"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -r $keyring ]] || fail 3 "the Debian archive keys are missing; run: apt-get install debian-archive-keyring"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$destination"
echo "deb [signed-by=$keyring] $mirror $release main" >"$work/sources.list"
architecture=${DEBIAN_ARCHITECTURE:-$(dpkg --print-architecture)}
# Without a status file: the release's own versions, whatever is installed here.
options=(-qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
  -o Dir::State::status=/dev/null -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root
  -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o Acquire::Languages=none -o Acquire::Retries=3)
apt-get "${options[@]}" update || fail 1 "could not read the package index of Debian $release (see above)"
(cd "$work" && apt-get "${options[@]}" download "${@:3}") || fail 1 "could not download ${*:3} (see above)"
for file in "$work"/*.deb; do
  dpkg-deb -x "$file" "$destination" || fail 1 "could not unpack $(basename "$file")"
done
