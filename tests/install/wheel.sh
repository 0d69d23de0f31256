#!/usr/bin/env bash
# Installs a wheel of Weir with its dependencies into a new environment and uses it from an empty folder, as somebody does who has no clone.
# What the README shows is taken from the wheel's own metadata. Checks replays too when weir-sim is in the wheel, else that they say so.
#
#   tests/install/wheel.sh WHEEL EXAMPLES     for example build/dist/weir_bwe-*.whl, which `make wheel` builds, and examples
#
# PYTHON names the interpreter (python3). Exit codes: 0 all held, 1 something did not, 2 wrong use.
set -euo pipefail

[[ $# -eq 2 && -f $1 && -d $2 ]] || { echo "usage: $0 WHEEL EXAMPLES" >&2; exit 2; }
wheel=$(readlink -f "$1") examples=$(readlink -f "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset PYTHONPATH WEIR_SIM WEIR_PEER VIRTUAL_ENV
export PATH=$folder/environment/bin:/usr/bin:/bin

check() { # MESSAGE COMMAND...
  local message=$1
  shift
  if ! "$@" >output 2>&1; then
    echo "wheel.sh: $message: not so" >&2
    cat output >&2
    exit 1
  fi
  echo "ok  $message"
}

# Ends with that status, says that, and no traceback.
says() { # STATUS PATTERN COMMAND...
  local expected=$1 pattern=$2 status=0
  shift 2
  "$@" >said 2>&1 || status=$?
  cat said
  [[ $status -eq $expected ]] && grep -qE "$pattern" said && ! grep -q Traceback said
}

"${PYTHON:-python3}" -m venv environment
check "installs with its dependencies" pip install --quiet --disable-pip-version-check "$wheel"
check "import weir" python -c 'import weir; assert weir.ONNXRUNTIME_VERSION, "it has not found the ONNX Runtime"'
check "is weir-bwe, with its licence" python -c '
from importlib.metadata import distribution
names = [path.name for path in distribution("weir-bwe").files]
assert "LICENSE" in names, names'
check "has model and catalogue" says 0 "tcp-competitor" weir traces list
cp "$(python -c 'from weir.qoe_eval.runs.options import shipped_model; print(shipped_model())')" weir.onnx
check "the model is readable" says 0 "interval" weir model weir.onnx
check "the README's Python" says 0 "^[0-9]+ us: [0-9]+ bit/s, pilot$" python - <<'EOF'
import sys
from importlib.metadata import metadata
from pathlib import Path
from types import SimpleNamespace

import weir

readme = metadata("weir-bwe").get_payload()
code = readme.split("```python\n", 1)[1].split("```", 1)[0]
# One second of 1 Mbps.
packets = [
    SimpleNamespace(
        arrival_us=number * 10_000, sequence_number=number,
        abs_send_time=(number * 10_000 + 50_000) * 262_144 // 1_000_000,
    )
    for number in range(100)
]
exec(code, {"sys": sys, "weir": weir, "model": Path("weir.onnx").read_bytes(), "packets": packets})
EOF

replay=(weir replay catalogue/steady-1m --controller weir --controller rule --seeds 1 --duration 5 --objectives 0 --out results)
if [[ -x environment/bin/weir-sim ]]; then
  check "weir doctor" weir doctor
  check "weir replay" "${replay[@]}"
  check "its report" grep -q steady-1m results/report.html
  for own in ten_line_rule.py:Controller ten_line_program; do
    check "a controller of one's own: $own" "${replay[@]}" --controller "$examples/controllers/$own"
    check "its results" grep -q "${own%%[.:]*}" results/report.html
  done
  check "the README's environment" python -c '
from importlib.metadata import metadata
import re
import gymnasium
call = re.search(r"`(gymnasium\.make\([^`]*\))`", metadata("weir-bwe").get_payload()).group(1)
environment = eval(call)
environment.reset(seed=1)
environment.close()'
else
  check "weir doctor names weir-sim" says 3 "weir-sim .*missing" weir doctor
  check "weir replay says that weir-sim is missing" says 3 "weir-sim was found neither" "${replay[@]}"
fi

check "no onnxruntime" pip uninstall --quiet --yes onnxruntime
check "import weir without onnxruntime" python -c 'import weir; weir.BandwidthEstimator("rule")'
check "a model without onnxruntime is refused" says 1 "there is no ONNX Runtime" python -c '
import sys, weir
try:
    weir.BandwidthEstimator(model=open("weir.onnx", "rb").read())
except ValueError as error:
    sys.exit(str(error))'
check "weir doctor without onnxruntime" says 3 "onnxruntime +missing" weir doctor
check "weir replay without onnxruntime" says 3 "onnxruntime" "${replay[@]}"
