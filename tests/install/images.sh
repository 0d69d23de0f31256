#!/usr/bin/env bash
# Builds the images of docker/Dockerfile, from what is committed, with buildah, which needs no daemon, and runs each;
# prints sizes and times.
#
#   tests/install/images.sh [weir] [weir-train] [weir-distributed] [weir-call]      default: weir
#
# Needs root, mmdebstrap, buildah and the network. The base image debian:bookworm-slim is made here, from the mirror
# that this machine uses, with its certificates and settings. Exit codes: 0 done, 1 failed, 2 wrong use, 3 missing component.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
work=$source/build/install
context=$work/images-context
targets=("${@:-weir}")

for target in "${targets[@]}"; do
  [[ $target =~ ^weir(-train|-distributed|-call)?$ ]] || { echo "usage: $0 [weir] [weir-train] [weir-distributed] [weir-call]" >&2; exit 2; }
done
[[ $(id -u) -eq 0 ]] || { echo "images.sh: run it as root: sudo make test-docker" >&2; exit 3; }
for command in mmdebstrap buildah; do
  command -v "$command" >/dev/null || { echo "images.sh: '$command' is missing; apt-get install $command" >&2; exit 3; }
done
# Mounts that end with this process; what a killed one noted of its own is void.
[[ -n ${WEIR_IMAGES_NAMESPACE:-} ]] || WEIR_IMAGES_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
rm -rf "$work/images-run"
# shellcheck source=tests/install/bare_root.sh
. "$source/tests/install/bare_root.sh"
mkdir -p "$work"
export BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/images" --runroot "$work/images-run" "$@"; }

fail() {
  echo "images.sh: $*" >&2
  exit 1
}

base_image() {
  local container folder settings
  [[ -z $(buildah images --quiet debian:bookworm-slim 2>/dev/null) ]] || return 0
  base_archive bookworm "$work/bookworm.tar"
  container=$(buildah from scratch)
  folder=$(buildah mount "$container")
  tar -C "$folder" --exclude='./dev/*' -xf "$work/bookworm.tar"
  as_this_machine "$folder"
  settings=()
  while read -r setting; do settings+=(--env "$setting"); done < <(package_settings)
  buildah config "${settings[@]}" --cmd bash "$container"
  buildah commit --quiet --rm "$container" docker.io/library/debian:bookworm-slim >/dev/null
}

# As `docker run --rm --user 12345 --volume FOLDER:/work IMAGE ARGUMENT...`: a user that the image does not know.
run_image() { # IMAGE FOLDER ARGUMENT...
  local container status=0
  container=$(buildah from --pull-never "$1")
  if [[ $1 == weir-call ]]; then
    run_in_root "$(buildah mount "$container")" "$2" "${@:3}" || status=$?
  else
    buildah run --user 12345:12345 --volume "$2:/work" "$container" -- weir "${@:3}" || status=$?
  fi
  buildah rm "$container" >/dev/null
  return $status
}

# The same with a root of its own: calls make user namespaces, and the kernel makes none for processes in a chroot.
run_in_root() { # ROOT FOLDER ARGUMENT...
  # shellcheck disable=SC2016
  unshare --mount --propagation private sh -ec '
    mount --bind "$1" "$1" && cd "$1"
    mount -t proc proc proc
    mount --rbind /dev dev
    mount --bind "$2" work
    shift 2
    pivot_root . mnt
    umount -l /mnt
    cd /work
    exec setpriv --reuid=12345 --regid=12345 --clear-groups \
      env -i HOME=/tmp PATH=/opt/weir/bin:/usr/bin:/bin LC_ALL=C.UTF-8 weir "$@"' sh "$@"
}

# Trains briefly, and replays with the result.
use_train() { # FOLDER
  cp "$context/trainer/configs/smoke.toml" "$1"
  SECONDS=0
  run_image weir-train "$1" train smoke.toml --out run || fail "weir train fails in weir-train"
  run_image weir-train "$1" export run --out trained.onnx || fail "weir export fails in weir-train"
  run_image weir-train "$1" replay catalogue/steady-2m5 --seeds 1 --model trained.onnx --out trained ||
    fail "weir replay fails with the model that weir-train exported"
  echo "weir-train: trained, exported and replayed in $SECONDS s"
}

# Trains for an update on a local cluster.
use_distributed() { # FOLDER
  cp "$context/papers/weir_papers/mvfst/impala/impala.toml" "$1"
  SECONDS=0
  run_image weir-distributed "$1" train impala.toml --steps 500 --out run || fail "weir train fails in weir-distributed"
  echo "weir-distributed: trained in $SECONDS s"
}

# A call with Chromium.
use_call() { # FOLDER
  SECONDS=0
  run_image weir-call "$1" call catalogue/cellular-3m --duration 10 --size 640x360 --out call ||
    fail "weir call fails in weir-call"
  [[ -s $1/call/report.html ]] || fail "weir call left no page in weir-call"
  echo "weir-call: a call in $SECONDS s"
}

[[ -z $(git -C "$source" status --porcelain) ]] || echo "what is not committed is not tested"
rm -rf "$context" && mkdir -p "$context"
git -C "$source" archive HEAD | tar -x -C "$context"
base_image
for target in "${targets[@]}"; do
  SECONDS=0
  buildah bud --quiet --pull-never --build-arg CUDA=1 --layers --target "$target" -t "$target" -f "$context/docker/Dockerfile" "$context" \
    >"$work/$target.log" 2>&1 ||
    fail "$target does not build: $(tail -n 30 "$work/$target.log")"
  echo "$target: built in $SECONDS s, $(buildah images --format '{{.Size}}' "$target")"
  results=$work/$target-results
  rm -rf "$results" && mkdir -p "$results" && chmod 777 "$results"
  run_image "$target" "$results" doctor || fail "weir doctor fails in $target"
  SECONDS=0
  run_image "$target" "$results" replay catalogue/steady-2m5 --seeds 1 --out report
  [[ -s $results/report/report.html ]] || fail "weir replay left no page in $target"
  echo "$target: replayed a scenario in $SECONDS s"
  [[ $target == weir ]] || "use_${target#weir-}" "$results"
done
