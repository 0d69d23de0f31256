#!/usr/bin/env bash
# Writes a receiving program for the calls of this folder: peer.sh PROGRAM COMMAND FILE...
#
# PROGRAM runs COMMAND with the arguments that it is given. FILEs are what it is made of: their digest stands in it, so
# that `weir call`, which makes no call twice with the same program, makes it again when one of them has changed.
set -euo pipefail
program=$1 command=$2
shift 2
mkdir -p "$(dirname "$program")"
printf '#!/bin/sh\n# %s\nexec %s "$@"\n' "$(cat -- "$@" | sha256sum | cut -c -64)" "$command" >"$program"
chmod +x "$program"
