#!/usr/bin/env bash
# Installs a wheel of Weir with its dependencies into a new environment and uses it from an empty folder, without a
# clone. Checks replays too when weir-sim is in the wheel, else that they report that it is missing.
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

# The command ends with STATUS and a message like PATTERN, without a traceback.
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
check "the example in Python" says 0 "^[0-9]+ us: [0-9]+ bit/s, controller$" python "$examples/python/example.py" weir.onnx

replay=(weir replay catalogue/steady-1m --controller weir --controller rule --seeds 1 --duration 5 --objectives 0 --out results)
if [[ -x environment/bin/weir-sim ]]; then
  check "weir doctor" weir doctor
  check "weir replay" "${replay[@]}"
  check "its report" grep -q steady-1m results/report.html
  for own in ten_line_rule.py:Controller ten_line_program; do
    check "a custom controller: $own" "${replay[@]}" --controller "$examples/controllers/$own"
    check "its results" grep -q "${own%%[.:]*}" results/report.html
  done
  check "the environment" python -c '
import gymnasium
environment = gymnasium.make("weir.trainer.gym:weir/Bottleneck-v0")
environment.reset(seed=1)
environment.close()'
else
  check "weir doctor names weir-sim" says 3 "weir-sim .*missing" weir doctor
  check "weir replay reports that weir-sim is missing" says 3 "weir-sim was found neither" "${replay[@]}"
fi

check "no onnxruntime" pip uninstall --quiet --yes onnxruntime
check "import weir without onnxruntime" python -c 'import weir; weir.BandwidthEstimator("rule")'
check "the shipped model without onnxruntime" says 0 ", controller$" python "$examples/python/example.py" weir.onnx
check "weir doctor without onnxruntime" says 3 "onnxruntime +missing" weir doctor
