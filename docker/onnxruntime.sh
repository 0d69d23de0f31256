#!/usr/bin/env bash
# Puts the ONNX Runtime C API where CMake looks for it (-DONNXRUNTIME_ROOT): the headers from Debian's libonnxruntime-dev, the library
# from the onnxruntime wheel of a Python environment, so that Python and C++ run the very same kernels.
#
#   docker/onnxruntime.sh DESTINATION PYTHON     for example build/onnxruntime .venv/bin/python
#
# Debian 12 has no such package; the one of Debian 13 is fetched from the mirror that this machine's apt already uses, through a private
# sources file, unpacked without being installed. A header's API version is a lower bound for the library, never an exact match.
# Does nothing, and needs no network, when everything is in place. Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail

readonly release=trixie
readonly package=libonnxruntime-dev

fail() { # CODE MESSAGE
  echo "onnxruntime.sh: $2" >&2
  exit "$1"
}

[[ $# -eq 2 ]] || fail 2 "usage: onnxruntime.sh DESTINATION PYTHON"
readonly destination=$1 python=$2
command -v "$python" >/dev/null || fail 2 "no Python interpreter at '$python'"

# Finds the wheel without importing it, which would take seconds.
library=$("$python" - <<'EOF'
import importlib.util, pathlib
specification = importlib.util.find_spec("onnxruntime")
if specification and specification.origin:
    found = sorted((pathlib.Path(specification.origin).parent / "capi").glob("libonnxruntime.so.[0-9]*"))
    print(found[-1] if found else "")
EOF
) || fail 1 "'$python' could not be run"
[[ -n $library ]] || fail 3 "'$python' has no onnxruntime; install it with: uv pip install --python '$python' 'onnxruntime>=1.27'"

# Links, not copies: a process that also imports the wheel then maps one library, not two.
link_library() {
  mkdir -p "$destination/lib"
  rm -f "$destination"/lib/libonnxruntime.so*
  local name
  name=$(basename "$library")
  ln -s "$library" "$destination/lib/$name"
  ln -s "$name" "$destination/lib/libonnxruntime.so.1"
  ln -s "libonnxruntime.so.1" "$destination/lib/libonnxruntime.so"
}

fetch_headers() {
  local work header
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  "$(dirname "$0")/debian_packages.sh" "$release" "$work" "$package" ||
    fail $? "without the headers; put those of ONNX Runtime 1.21 or later into $destination/include"
  header=$(find "$work" -name onnxruntime_c_api.h -print -quit)
  [[ -n $header ]] || fail 1 "$package of Debian $release has no onnxruntime_c_api.h"
  rm -rf "$destination/include"
  mkdir -p "$destination"
  cp -r "$(dirname "$header")" "$destination/include"
}

[[ $(readlink -f "$destination/lib/libonnxruntime.so") == "$(readlink -f "$library")" ]] || link_library
[[ -r $destination/include/onnxruntime_c_api.h ]] || fetch_headers
echo "ONNX Runtime: headers $(sed -n 's/^#define ORT_API_VERSION //p' "$destination/include/onnxruntime_c_api.h"), library $(basename "$(readlink -f "$library")"), in $destination"
