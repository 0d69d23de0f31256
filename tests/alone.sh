#!/usr/bin/env bash
# Tests one distribution alone: in a folder that has its own files and tests, and in an environment that has its wheel,
# the wheels of the distributions that it needs, and their packages. Nothing else of the repository can be imported.
#
#   tests/alone.sh FOLDER [PYTEST_OPTION...]      for example tests/alone.sh traces -k mahimahi
#
# The environment is in build/alone/FOLDER; wheels are in build/dist, as `make wheels` writes them. Exit codes: those of
# pytest, 2 wrong use.
set -euo pipefail
cd "$(dirname "$0")/.."
UV=${UV:-$(command -v uv || echo build/tools/bin/uv)}
[[ $# -ge 1 && -f $1/pyproject.toml ]] || { echo "usage: $0 FOLDER [PYTEST_OPTION...]" >&2; exit 2; }
name=$1 home=build/alone/$1
shift
distribution=$(sed -n 's/^name = "\(.*\)"/\1/p' "$name/pyproject.toml")
# Tests of the trainer train, those of suites also make calls; those of the simulator write scenarios.
[[ $name != trainer ]] || distribution+='[learning]'
[[ $name != suites ]] || distribution+='[all]'
more=()
[[ $name != simulator ]] || more=(weir-traces)

# Other files that the tests read: the patches put the library's sources into libwebrtc, custom controllers are compiled
# against the header of the C interface, examples are tried as they are.
folders=("$name")
[[ $name != webrtc_patch ]] || folders+=(LICENSE docker estimator)
[[ $name != trainer ]] || folders+=(estimator/models examples)
[[ $name != papers ]] || folders+=(tests/trainer/conftest.py tests/trainer/fake_simulator.py)
[[ $name != calls ]] || folders+=(estimator/models examples)
[[ $name != qoe_eval ]] || folders+=(estimator/c estimator/models examples/controllers)

tree=$home/tree
rm -rf "$tree"
mkdir -p "$tree/tests"
git ls-files -z --cached --others --exclude-standard "${folders[@]}" "tests/$name" tests/support tests/data tests/fuzz/corpus/scenario tests/conftest.py |
  while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
  xargs -0 cp --parents --no-dereference -t "$tree"
# Programs and libwebrtc, which have no wheel.
[[ $name != calls && $name != webrtc_patch ]] || ln -s "$PWD/build" "$tree/build"
# Its package comes from the wheel.
rm -rf "$tree/$name"/weir_*
sed -n '/^\[tool.pytest/,$p' pyproject.toml >"$tree/pyproject.toml"

export VIRTUAL_ENV=$PWD/$home/venv
rm -rf "$VIRTUAL_ENV"
"$UV" venv --quiet --python "${PYTHON:-python3}" "$VIRTUAL_ENV"
# The versions of the lock, of which only what is needed is installed.
grep -hoE '^[a-z0-9][^ ;]*==[^ ;]+' requirements/{run,call,train,cuda,test}.txt papers/requirements.txt | sort -u >"$home/constraints.txt"
# Weir's own by their files alone: an index may have others of these names.
for wheel in build/dist/*.whl; do
  own=$(basename "$wheel")
  own=${own%%-*}
  echo "${own//_/-} @ file://$PWD/$wheel" >>"$home/constraints.txt"
done
"$UV" pip install --quiet --constraints "$home/constraints.txt" "$distribution" "${more[@]}" hypothesis playwright pytest pytest-asyncio pytest-xdist pyyaml
for program in .venv/bin/weir-{peer,virtual-call,event-log}; do
  [[ ! -x $program ]] || ln -sf "$PWD/$program" "$VIRTUAL_ENV/bin/"
done
"$UV" pip list --quiet --format freeze | grep '^weir' | tr '\n' ' '
echo "and $("$UV" pip list --quiet --format freeze | grep -vc '^weir') packages"
tests=tests/$name
[[ $name != papers ]] || tests=papers/tests
cd "$tree"
exec "$VIRTUAL_ENV/bin/pytest" -q -n "$(nproc)" --dist worksteal --durations=5 --durations-min=5 "$tests" "$@"
