#!/usr/bin/env bash
# Installs a build: nothing may be written outside the prefix (or DESTDIR), and nothing installed may name
# SOURCE_FOLDER, nor a folder below it: ccache with a base folder makes paths relative, and what names the source folder
# on another machine names a relative path here. Then the examples are built against it.
#
#   tests/install/installed_tree.sh SOURCE_FOLDER BUILD_FOLDER WORK_FOLDER
set -euo pipefail
[[ $# -eq 3 ]] || { echo "usage: $0 SOURCE_FOLDER BUILD_FOLDER WORK_FOLDER" >&2; exit 2; }
source=$(realpath "$1") build=$(realpath "$2")
rm -rf "$3" && mkdir -p "$3" && cd "$3"

fail() {
  echo "installed_tree.sh: $*" >&2
  exit 1
}

# Prints the paths that `cmake --install` wrote outside of FOLDER.
outside() { # FOLDER CMAKE_OPTION...
  cmake --install "$build" "${@:2}" >install.log || fail "cmake --install failed: $(cat install.log)"
  sed -nE 's/^-- (Installing|Up-to-date): //p' install.log | grep -v "^$1/" || true
}

export DESTDIR=
stray=$(outside "$PWD/prefix" --prefix "$PWD/prefix")
[[ -z $stray ]] || fail "written outside the prefix: $stray"
export DESTDIR=$PWD/staging
stray=$(outside "$DESTDIR/usr" --prefix /usr)
[[ -z $stray ]] || fail "written outside DESTDIR: $stray"
unset DESTDIR

named=$(grep -rlF -e "$source" -e libwebrtc/src/ -e libwebrtc/checked/src/ -e ../webrtc_patch/ prefix || true)
[[ -z $named ]] || fail "these name the source folder or one below it: $named"
while read -r file; do
  path=$(readelf -d "$file" 2>/dev/null | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/\2/p')
  [[ -z $path || $path == '$ORIGIN'* ]] || fail "$file has the run path $path"
done < <(find prefix -type f \( -perm -u+x -o -name '*.so*' \))
for file in share/weir/weir.onnx share/doc/weir/LICENSE include/weir.h include/weir_mocc.h; do
  [[ -s prefix/$file ]] || fail "$file was not installed"
done
if [[ -x prefix/bin/weir-sim ]]; then
  prefix/bin/weir-sim --version >/dev/null || fail "the installed weir-sim does not start"
  [[ -s prefix/share/doc/weir/weir-sim/GPL-2 ]] || fail "weir-sim comes without its licence"
fi

# Without the component onnxruntime, the program that links names its folder.
cmake --install "$build" --prefix "$PWD/development" --component development >/dev/null
[[ ! -e development/lib/weir && ! -e development/bin ]] || fail "the component development has more than development"
multiarch=$("${CC:-cc}" -dumpmachine)
system="/lib;/lib/$multiarch;/usr/lib;/usr/lib/$multiarch;/usr/local/lib"
own=("-DCMAKE_IGNORE_PATH=$system" "-DCMAKE_PREFIX_PATH=$PWD/development")
cmake -S "$source/examples/cpp" -B without "${own[@]}" >without.log 2>&1 && fail "found an ONNX Runtime where none is"
grep -q "component onnxruntime" without.log || fail "ONNX Runtime is missing and that is not said: $(cat without.log)"
mkdir -p own/lib && ln -s "$(find "$PWD/prefix" -name libonnxruntime.so.1)" own/lib/libonnxruntime.so
cmake -S "$source/examples/cpp" -B with "${own[@]}" "-DONNXRUNTIME_ROOT=$PWD/own" >with.log 2>&1 ||
  fail "ONNXRUNTIME_ROOT: $(cat with.log)"

"$source/tests/install/examples.sh" "$source/examples" prefix examples

# The component webrtc, where there is a libwebrtc to build it with; it has no path of that.
libwebrtc=$(sed -n 's/^WEIR_LIBWEBRTC:PATH=//p' "$build/CMakeCache.txt")
if [[ -e $(find prefix -name weirWebrtc.cmake) ]]; then
  configure=(cmake -S "$source/examples/webrtc" -B webrtc "-DCMAKE_PREFIX_PATH=$PWD/prefix")
  "${configure[@]}" >webrtc.log 2>&1 && fail "found a libwebrtc where none is"
  grep -q WEIR_LIBWEBRTC webrtc.log || fail "libwebrtc is missing and that is not said: $(cat webrtc.log)"
  { "${configure[@]}" "-DWEIR_LIBWEBRTC=$libwebrtc" && cmake --build webrtc; } >webrtc.log 2>&1 ||
    fail "the example of the component webrtc does not build: $(cat webrtc.log)"
  [[ $(webrtc/receiver prefix/share/weir/weir.onnx) == "weir decides" ]] || fail "the example of the component webrtc fails"
fi
