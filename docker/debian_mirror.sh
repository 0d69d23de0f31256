#!/usr/bin/env bash
# Prints the Debian mirror that this machine's apt uses; nothing when there is none.
set -euo pipefail
format='$(REPO_URI)'
origin=('Origin: Debian' 'Label: Debian' 'Component: main')
uri=$(apt-get indextargets --format "$format" 'Created-By: Packages' "${origin[@]}" | head -n 1)
# Before the first `apt-get update` the lists carry no origin yet; the path of the archive tells it from the security
# one.
[[ -n $uri ]] ||
  uri=$(apt-get indextargets --format "$format" 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1 || true)
echo "$uri"
