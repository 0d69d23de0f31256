#!/usr/bin/env bash
# Sees to the Debian packages named in the given lists: installs what is missing when run by root, else prints the one command that does.
# usage: docker/packages.sh LIST...
set -euo pipefail

if [ $# -eq 0 ]; then
  echo "usage: $0 LIST..." >&2
  exit 2
fi
if ! command -v dpkg-query >/dev/null; then
  echo "weir: this is not a Debian system; install the equivalents of these packages yourself:" >&2
  cat "$@" | grep -v '^#' | tr '\n' ' ' >&2
  echo >&2
  exit 0
fi

missing=()
while read -r package; do
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done < <(cat "$@" | grep -v '^#')

if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "weir: Debian packages are missing. Install them with:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 3
fi
echo "weir: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" >/dev/null
