#!/usr/bin/env bash
# The whole way of a newcomer, in a bare Debian root: the README's first command in a clone of what is committed; then,
# with the clone gone, the installed library and the three examples, the wheel in an environment of its own, and the
# container image.
#
#   tests/install/run.sh [--test]      --test: `make test` too, which takes long
#
# In the environment: SEEDS=1 makes the report quicker; RELEASE is bookworm (Debian 12) or trixie (13).
# Needs root, mmdebstrap and buildah, and the network. Keeps downloads and compiled objects in build/install; the rest
# is made anew. Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
release=${RELEASE:-bookworm}
work=$source/build/install root=$source/build/install/$release

[[ $# -eq 0 || ($# -eq 1 && $1 == --test) ]] || { echo "usage: $0 [--test]" >&2; exit 2; }
[[ $(id -u) -eq 0 ]] || { echo "run.sh: this needs root: sudo make test-install" >&2; exit 3; }
for command in mmdebstrap buildah; do
  command -v "$command" >/dev/null || { echo "run.sh: '$command' is missing; apt-get install $command" >&2; exit 3; }
done
# Mounts that end with this process.
[[ -n ${WEIR_INSTALL_NAMESPACE:-} ]] || WEIR_INSTALL_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
# shellcheck source=tests/install/bare_root.sh
. "$source/tests/install/bare_root.sh"

step() { echo "== $(date +%T) $*"; }
fail() {
  echo "run.sh: $*" >&2
  exit 1
}

step "a bare Debian ($release) with git, make and ca-certificates"
mkdir -p "$work"
base_archive "$release" "$root.tar"
bare_root "$root.tar" "$root" "$work/cache-$release"
inside "$root" apt-get -qq update
inside "$root" apt-get -qq install -y --no-install-recommends git make ca-certificates >/dev/null
git clone --quiet "$source" "$root/root/weir"
[[ -z $(git -C "$source" status --porcelain) ]] || echo "what is not committed is not tested"

step "make report"
inside "$root" make --silent -C /root/weir report "SEEDS=${SEEDS:-5}"
[[ -s $root/root/weir/build/report/report.html ]] || fail "make report left no page"
if [[ ${1:-} == --test ]]; then
  step "make test"
  inside "$root" make --silent -C /root/weir test
fi

step "cmake --install"
inside "$root" cmake --install /root/weir/build/release --prefix /opt/weir >"$work/install.log"
cp -r "$source/examples" "$source/tests/install/examples.sh" "$root/root/"
step "make wheels"
inside "$root" make --silent -C /root/weir wheels
cp -r "$source/tests/install/wheel.sh" "$root/root/weir/build/dist" "$root/root/"
rm -rf "$root/root/weir"

step "the examples against the prefix, the clone gone"
inside "$root" apt-get -qq install -y --no-install-recommends pkg-config >/dev/null
inside "$root" /root/examples.sh /root/examples /opt/weir /tmp/examples
inside "$root" /opt/weir/bin/weir-sim --version
step "the wheel in a new environment, the clone gone"
inside "$root" sh -c '/root/wheel.sh /root/dist /root/examples'

step "the image"
"$source/tests/install/images.sh" weir
step "done"
