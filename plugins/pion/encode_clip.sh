#!/usr/bin/env bash
# Encodes a video for pion-peer: VIDEO.y4m to VIDEO.y4m.vp8/*.ivf, VP8 at seven bitrates with key frames at the same places.
# Needs ffmpeg with libvpx; FFMPEG names another than that of the PATH.
set -euo pipefail
[[ $# = 1 && -f $1 ]] || { echo "usage: $0 VIDEO.y4m" >&2; exit 2; }
readonly FFMPEG=${FFMPEG:-ffmpeg} OUT=$1.vp8
command -v "$FFMPEG" >/dev/null || { echo "$0: no ffmpeg: apt-get install ffmpeg, or name it with FFMPEG" >&2; exit 3; }
[[ $OUT -nt $1 ]] && exit 0
partial=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$partial"' EXIT
for kbps in 75 150 300 600 1200 2400 4800; do
  "$FFMPEG" -nostdin -v error -i "$1" -c:v libvpx -deadline realtime -cpu-used 8 -auto-alt-ref 0 -lag-in-frames 0 \
    -g 15 -keyint_min 15 -b:v ${kbps}k -minrate ${kbps}k -maxrate ${kbps}k -bufsize $((kbps / 2))k -f ivf "$partial/$kbps.ivf"
done
rm -rf "$OUT"
mv "$partial" "$OUT"
