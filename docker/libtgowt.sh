#!/usr/bin/env bash
# Where Debian's libtgowt-dev was built with another Abseil than the machine has, nothing can link it; so it is on
# Debian 13. Then Debian 12's libtgowt-dev and libabsl-dev are unpacked into a folder where CMake looks first; Abseil as
# an archive, since its shared library is not installed. Does nothing where the machine's own fits.
#
#   docker/libtgowt.sh DESTINATION     for example build/libtgowt
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: libtgowt.sh DESTINATION" >&2; exit 2; }
readonly destination=$1

# Debian gives each of its Abseils an inline namespace of its own: absl::debian5, in an archive 4absl7debian5.
options=/usr/include/absl/base/options.h
namespace=$(sed -n 's/^#define ABSL_OPTION_INLINE_NAMESPACE_NAME //p' "$options" 2>/dev/null || true)
archive=$(find /usr/lib -name libtg_owt.a -print -quit)
[[ -n $namespace && -n $archive ]] || exit 0
if grep -qaF "4absl${#namespace}$namespace" "$archive"; then
  rm -rf "$destination"
  exit 0
fi
[[ ! -d $destination ]] || exit 0
echo "weir: libtgowt-dev does not fit this release's Abseil; unpacking that of Debian 12 into $destination"
rm -rf "$destination.part"
"$(dirname "$0")/debian_packages.sh" bookworm "$destination.part" libtgowt-dev libabsl-dev
find "$destination.part" -name 'libabsl_*.so*' -delete
find "$destination.part" -path '*/cmake/absl/*.cmake' \
  -exec sed -i -E 's/ SHARED IMPORTED/ STATIC IMPORTED/; s/\.so\.[0-9.]+"/.a"/; /IMPORTED_SONAME/d' {} +
mv "$destination.part" "$destination"
