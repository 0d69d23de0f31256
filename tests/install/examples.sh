#!/usr/bin/env bash
# Builds the examples in C++ and C against an installed Weir, as the documents describe, and runs them: they must print the
# same estimates; those that read a model answer a file that is none with a message.
#
#   tests/install/examples.sh EXAMPLES PREFIX WORK_FOLDER
set -euo pipefail
[[ $# -eq 3 ]] || { echo "usage: $0 EXAMPLES PREFIX WORK_FOLDER" >&2; exit 2; }
examples=$(realpath "$1") prefix=$(realpath "$2")
mkdir -p "$3" && cd "$3"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weir.pc)")
export PKG_CONFIG_PATH

fail() {
  echo "examples.sh: $*" >&2
  exit 1
}

cmake -S "$examples/cpp" -B cpp "-DCMAKE_PREFIX_PATH=$prefix" >cmake.log || { cat cmake.log >&2; fail "cmake failed"; }
cmake --build cpp >>cmake.log || { cat cmake.log >&2; fail "the example in C++ does not build"; }
read -ra flags < <(pkg-config --cflags --libs weir)
"${CC:-cc}" -std=c11 "$examples/c/example.c" -o c_shared "${flags[@]}" "-Wl,-rpath,$(pkg-config --variable=libdir weir)"
read -ra flags < <(pkg-config --static --cflags --libs weir-cpp)
"${CXX:-c++}" -std=c++20 "$examples/cpp/example.cc" -o cpp_pkg_config "${flags[@]}"

# `pkg-config --static` is for a tree that has only the archive.
cp -r "$prefix" archive_only
find archive_only -name 'libweir.so*' -delete
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/archive_only" -name weir.pc)")
read -ra flags < <(pkg-config --static --cflags --libs weir)
"${CC:-cc}" -std=c11 "$examples/c/example.c" -o c_static "${flags[@]}"

model=$(pkg-config --variable=model weir)
cpp/example "$model" >expected
[[ $(wc -l <expected) -ge 10 ]] || fail "the example in C++ printed $(wc -l <expected) estimates"
for program in ./cpp_pkg_config ./c_shared ./c_static; do
  "$program" "$model" >printed # the C program has the shipped model and no arguments
  cmp expected printed || fail "$program prints other estimates than cpp/example"
done
if "${PYTHON:-python3}" -c 'import weir' 2>/dev/null; then
  "${PYTHON:-python3}" "$examples/python/example.py" >printed
  cmp expected printed || fail "the example in Python prints other estimates than that in C++"
fi
echo "not a model" >no_model
for program in cpp/example cpp/sender; do
  status=0
  "$program" no_model >printed 2>&1 || status=$?
  [[ $status -eq 1 ]] || fail "$program ended with $status when its model is none"
  grep -q "not an ONNX model" printed || fail "$program does not say what is wrong with its model: $(cat printed)"
done
cpp/sender "$model" | grep -q 'window [1-9][0-9]* bytes' || fail "cpp/sender printed no rates"
tail -n 1 expected
