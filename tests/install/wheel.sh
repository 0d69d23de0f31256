#!/usr/bin/env bash
# Installs distributions of Weir from their wheels into new environments, prints what they bring, and uses them from an
# empty folder, without a clone.
#
#   tests/install/wheel.sh WHEELS EXAMPLES     for example build/dist, which `make wheels` fills, and examples
#
# PYTHON names the interpreter (python3), DISTRIBUTIONS those beside the library ("weir-calls weir-train[learning]
# weir-eval"; torch without CUDA). Exit codes: 0 all held, 1 something did not, 2 wrong use.
set -euo pipefail

[[ $# -eq 2 && -d $1 && -d $2 ]] || { echo "usage: $0 WHEELS EXAMPLES" >&2; exit 2; }
wheels=$(readlink -f "$1") examples=$(readlink -f "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset PYTHONPATH WEIR_SIM WEIR_PEER VIRTUAL_ENV

# Weir's own by their files alone: an index may have others of these names.
for wheel in "$wheels"/*.whl; do
  name=$(basename "$wheel")
  name=${name%%-*}
  echo "${name//_/-} @ file://$wheel"
done >own.txt

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

# A new environment with a distribution, first on PATH; prints the packages that it brings, and their size.
install() { # DISTRIBUTION
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
  ./uv pip install --quiet --torch-backend=cpu --python environment --constraints own.txt "$1" 2>/dev/null ||
    check "installs $1" ./uv pip install --quiet --python environment --constraints own.txt "$1"
  printf '%s: %d packages, %d MB\n' "$1" "$(find "$site" -maxdepth 1 -name '*.dist-info' \
    ! -name 'pip-*' ! -name 'setuptools-*' | wc -l)" $(($(du -sm "$site" | cut -f1) - bare))
}

install weir-bwe
check "import weir" python -c 'import weir; assert not weir.onnxruntime_version()'
check "is weir-bwe, with its licence" python -c '
from importlib.metadata import distribution
names = [path.name for path in distribution("weir-bwe").files]
assert "LICENSE" in names, names'
check "two packages" test "$(python -c '
from importlib.metadata import distributions
print(*sorted({one.name for one in distributions()} - {"pip", "setuptools"}))')" = "numpy weir-bwe"
check "the example in Python" says 0 "^[0-9]+ us: [0-9]+ bit/s, [a-z]+$" python "$examples/python/example.py"

install weir-traces
check "weir traces list" says 0 "tcp-competitor" weir traces list
check "no other command" says 2 "replay" weir replay catalogue

for distribution in ${DISTRIBUTIONS-weir-calls weir-train[learning] weir-eval}; do
  install "$distribution"
  check "weir traces list" says 0 "tcp-competitor" weir traces list
done
check "import weir finds the ONNX Runtime" python -c 'import weir; assert weir.onnxruntime_version()'

replay=(weir replay catalogue/steady-1m --controller weir --controller rule --seeds 1 --duration 5 --objectives 0 --out results)
check "weir doctor" weir doctor
check "weir replay" "${replay[@]}"
check "its report" grep -q steady-1m results/report.html
for custom in ten_line_rule.py:Controller ten_line_program; do
  check "a custom controller: $custom" "${replay[@]}" --controller "$examples/controllers/$custom"
  check "its results" grep -q "${custom%%[.:]*}" results/report.html
done

check "no onnxruntime" pip uninstall --quiet --yes onnxruntime
check "weir doctor without onnxruntime" says 3 "onnxruntime +missing" weir doctor
