#!/usr/bin/env bash
# Runs a build with ninja in it, and shows how far it is: `progress.sh LOG COMMAND...`. In a terminal a line that moves,
# elsewhere a line every 30 s. The output goes to LOG; of a build that fails it is shown.
set -euo pipefail
readonly log=$1
shift
export NINJA_STATUS='[%f %t] '
every=30 before='' after='\n'
if [ -t 1 ]; then every=1 before='\r\033[K' after=''; fi
mkdir -p "$(dirname "$log")"
"$@" 2>&1 | tee "$log" | {
  began=$SECONDS shown=$SECONDS
  while IFS= read -r line; do
    if ((SECONDS >= shown + every)) && [[ $line =~ \[([0-9]+)\ ([0-9]+)\] ]]; then
      shown=$SECONDS ready=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      left=$(((all - ready) * (SECONDS - began) / (ready + 1) / 60 + 1))
      printf "${before}building: %s of %s, about %s min left${after}" "$ready" "$all" "$left"
    fi
  done
  printf '%b' "$before"
} || { { grep -E -A 8 'FAILED:|error:' "$log" || cat "$log"; } | tail -n 60 >&2; echo "weir: the build failed (see above and $log)" >&2; exit 1; }
