#!/usr/bin/env bash
# Installs a wheel of Weir and each of its extras into new environments, prints what they bring, and uses them from an
# empty folder, without a clone. Checks replays too when weir-sim is in the wheel, else that they report that it is
# missing.
#
#   tests/install/wheel.sh WHEEL EXAMPLES     for example build/dist/weir_bwe-*.whl, which `make wheel` builds, and examples
#
# PYTHON names the interpreter (python3), EXTRAS the extras beside the base ("bench call train"; torch without CUDA). Exit codes: 0 all held, 1 something did not, 2 wrong use.
set -euo pipefail

[[ $# -eq 2 && -f $1 && -d $2 ]] || { echo "usage: $0 WHEEL EXAMPLES" >&2; exit 2; }
wheel=$(readlink -f "$1") examples=$(readlink -f "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset PYTHONPATH WEIR_SIM WEIR_PEER VIRTUAL_ENV

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

# A new environment with the wheel and an extra, first on PATH; prints the packages that it brings, and their size.
install() { # [EXTRA]
  local site bare
  rm -rf environment
  "${PYTHON:-python3}" -m venv environment
  export PATH=$folder/environment/bin:/usr/bin:/bin
  site=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  pip install --quiet --disable-pip-version-check uv
  mv environment/bin/uv uv
  pip uninstall --quiet --yes uv
  bare=$(du -sm "$site" | cut -f1)
  # Torch with CUDA, 6 GB, where that without cannot be reached.
  ./uv pip install --quiet --torch-backend=cpu --python environment "$wheel${1:+[$1]}" 2>/dev/null ||
    check "installs${1:+ the extra $1}" ./uv pip install --quiet --python environment "$wheel${1:+[$1]}"
  printf 'weir-bwe%s: %d packages, %d MB\n' "${1:+[$1]}" "$(find "$site" -maxdepth 1 -name '*.dist-info' \
    ! -name 'pip-*' ! -name 'setuptools-*' | wc -l)" $(($(du -sm "$site" | cut -f1) - bare))
}

install
check "import weir" python -c 'import weir; assert not weir.onnxruntime_version()'
check "is weir-bwe, with its licence" python -c '
from importlib.metadata import distribution
names = [path.name for path in distribution("weir-bwe").files]
assert "LICENSE" in names, names'
check "two packages" test "$(python -c '
from importlib.metadata import distributions
print(*sorted({one.name for one in distributions()} - {"pip", "setuptools"}))')" = "numpy weir-bwe"
cp "$(python -c 'from weir_sim.installed import shipped_model; print(shipped_model())')" weir.onnx
check "the example in Python" says 0 "^[0-9]+ us: [0-9]+ bit/s, [a-z]+$" python "$examples/python/example.py" weir.onnx
check "weir names the extra bench" says 3 "^weir: .*extra .bench.*typer" weir --help

for extra in ${EXTRAS-call train bench}; do
  install "$extra"
  check "weir traces list" says 0 "tcp-competitor" weir traces list
done
check "import weir finds the ONNX Runtime" python -c 'import weir; assert weir.onnxruntime_version()'
check "the model is readable" says 0 "interval" weir model weir.onnx

replay=(weir replay catalogue/steady-1m --controller weir --controller rule --seeds 1 --duration 5 --objectives 0 --out results)
if [[ -x environment/bin/weir-sim ]]; then
  check "weir doctor" weir doctor
  check "weir replay" "${replay[@]}"
  check "its report" grep -q steady-1m results/report.html
  for custom in ten_line_rule.py:Controller ten_line_program; do
    check "a custom controller: $custom" "${replay[@]}" --controller "$examples/controllers/$custom"
    check "its results" grep -q "${custom%%[.:]*}" results/report.html
  done
  check "the environment" python -c '
import gymnasium
environment = gymnasium.make("weir_train.gym:weir/Bottleneck-v0")
environment.reset(seed=1)
environment.close()'
else
  check "weir doctor names weir-sim" says 3 "weir-sim .*missing" weir doctor
  check "weir replay reports that weir-sim is missing" says 3 "weir-sim was found neither" "${replay[@]}"
fi

check "no onnxruntime" pip uninstall --quiet --yes onnxruntime
check "weir doctor without onnxruntime" says 3 "onnxruntime +missing" weir doctor
