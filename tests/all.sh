#!/usr/bin/env bash
# Runs checks, targets of the Makefile in the current folder, one after another, goes on after one that fails, and ends
# with a table of results and minutes, and with what was not tested and why.
#
#   tests/all.sh CHECK...
#
# A check is "not here" when all that stopped it is a command that ended with status 3, missing component. The output of
# each is in build/all. Ctrl-C stops the check and prints the table; a second one kills it. Exit codes: 0 none failed, 1
# one failed, 2 wrong use, 130 stopped.
set -uo pipefail
[[ $# -gt 0 ]] || { echo "usage: $0 CHECK..." >&2; exit 2; }
folder=build/all rows=() logs=() passed=0 failed=0 stopped='' pid=''
mkdir -p "$folder"

stop() {
  [[ -z $pid ]] || kill "-${stopped:-INT}" -- "-$pid" 2>/dev/null
  stopped=KILL
}
trap stop INT TERM

# Prints the line before the first `make: *** [...] Error 3`, if no command ended with another status. Status 2 is that
# of a make within make.
missing_component() { # LOG
  local error='^make(\[[0-9]+\])?: \*\*\* .* Error'
  ! grep -E "$error [0-9]+\$" "$1" | grep -qvE ' Error [23]$' &&
    grep -B 1 -m 1 -E "$error 3\$" "$1" | head -n 1 | sed -E 's/^[ -]+//'
}

run() { # CHECK
  local log=$folder/$1.log result=passed status=0
  logs+=("$log")
  SECONDS=0
  echo "$1: $log"
  # A process group of its own, so that all of it can be stopped.
  set -m
  "${MAKE:-make}" "$1" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  # Ctrl-C may have come before `pid` was known.
  [[ -z $stopped ]] || kill -INT -- "-$pid"
  # A trapped signal ends `wait`, not the check.
  while wait "$pid"; status=$?; kill -0 "$pid" 2>/dev/null; do :; done
  pid=''
  if [[ -n $stopped ]]; then
    result=stopped
  elif [[ $status -ne 0 ]]; then
    if reason=$(missing_component "$log") && [[ -n $reason ]]; then
      result="not here: $reason"
    else
      result="failed: $log" failed=$((failed + 1))
      tail -n 100 "$log"
    fi
  else
    passed=$((passed + 1))
  fi
  rows+=("$(printf '%-22s %7d.%d   %s' "$1" $((SECONDS / 60)) $((SECONDS % 60 / 6)) "$result")")
  echo "${rows[-1]}"
}

for check; do
  if [[ -n $stopped ]]; then
    rows+=("$(printf '%-22s %9s   %s' "$check" - "not begun")")
  else
    run "$check"
  fi
done

printf '\n%-22s %9s   %s\n' check minutes result
printf '%s\n' "${rows[@]}"
# As `pytest -ra` and ctest list them.
skipped=$(sed -nE -e 's/^SKIPPED \[[0-9]+\] ([^:]*)(:[0-9]+)?: (.*)/  \1: \3/p' \
  -e 's/^\t *[0-9]+ - (.*) \((Skipped|Not Run)\)$/  \1: \2/p' "${logs[@]}" | sort -u)
[[ -z $skipped ]] || printf '\nnot tested:\n%s\n' "$skipped"
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[[ -z $stopped ]] || exit 130
exit $((failed > 0))
