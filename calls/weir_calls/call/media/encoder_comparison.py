"""Compares the fake encoder of virtual calls with libvpx's VP8 on the source video of calls, as a table in Markdown.

    python -m weir_calls.call.media.encoder_comparison PROGRAM [WIDTHxHEIGHT...]

PROGRAM: build/release/calls/virtual_call/weir-encode. A cell has VP8's value and the fake encoder's. VP8 starts at
two pictures of the video, the fake encoder with four seeds. Takes minutes of CPU time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weir_calls.call.media.source_video import FRAMES_PER_SECOND, source_video_path

_SIZES: Final = ("640x360", "1280x720")
_STARTS: Final[Mapping[str, Sequence[dict[str, int]]]] = {
    "VP8": [{"first_picture": 37}, {"first_picture": 190}],
    "fake": [{"seed": seed} for seed in range(1, 5)],
}
_RATES_KBPS: Final = (100, 150, 250, 400, 600, 1000, 1500, 2500, 4000, 6000)
_STEPS_KBPS: Final = ((500, 700), (500, 1000), (500, 2500), (1000, 700), (1000, 500), (2500, 500))
_SECONDS: Final = 14
_SETTLED: Final = slice(2 * FRAMES_PER_SECOND, 10 * FRAMES_PER_SECOND)
_KEY_FRAME: Final = 12 * FRAMES_PER_SECOND
_STEP: Final = 8 * FRAMES_PER_SECOND

Column = NDArray[np.float64]


@dataclass(frozen=True)
class _Frames:
    """Sizes in average frames of the target rate (0: dropped), and quantizer indices (-1: none)."""

    sizes: Column
    qp: Column


def _encode(program: Path, encoder: str, video: Path, rates_kbps: Sequence[int]) -> list[_Frames]:
    """The frames of each start."""
    jobs = [
        {
            "encoder": encoder,
            "video": str(video),
            "rates_bps": [1000 * rate for rate in rates_kbps],
            "key_frames": [_KEY_FRAME],
            **start,
        }
        for start in _STARTS[encoder]
    ]
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    answer = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    average_bytes = np.array(rates_kbps) * 1000 / 8 / FRAMES_PER_SECOND
    found = map(json.loads, answer.splitlines())
    return [_Frames(np.array(one["bytes"]) / average_bytes, np.array(one["qp"], dtype=np.float64)) for one in found]


def _steady(frames: Sequence[_Frames]) -> list[float]:
    """Mean rate over target, first and later key frame, coefficient of variation, share dropped, quantizer."""
    rows = []
    for one in frames:
        sizes, qp = one.sizes[_SETTLED], one.qp[_SETTLED]
        kept = sizes[sizes > 0]
        rows.append([
            sizes.mean(), one.sizes[0], one.sizes[_KEY_FRAME], kept.std() / kept.mean(), (sizes == 0).mean(),
            qp[qp >= 0].mean(),
        ])  # fmt: skip
    return [float(value) for value in np.mean(rows, axis=0)]


def _after_step(frames: Sequence[_Frames]) -> list[float]:
    """Rate over target in the first and the next second after a step, and the time until the mean of ten frames is
    within 10 % of the target, in s; 4 s if it takes longer.
    """
    rows = []
    for one in frames:
        sizes = one.sizes[_STEP : _STEP + 4 * FRAMES_PER_SECOND]
        smooth = np.convolve(sizes, np.ones(10) / 10, "valid")
        near = np.flatnonzero(np.abs(smooth - 1) < 0.1)
        followed_s = (near[0] if len(near) else len(sizes)) / FRAMES_PER_SECOND
        rows.append(
            [sizes[:FRAMES_PER_SECOND].mean(), sizes[FRAMES_PER_SECOND : 2 * FRAMES_PER_SECOND].mean(), followed_s]
        )
    return [float(value) for value in np.mean(rows, axis=0)]


def _row(name: str, digits: Sequence[int], vp8: Sequence[float], fake: Sequence[float]) -> str:
    cells = [f"{one:.{digit}f} / {other:.{digit}f}" for digit, one, other in zip(digits, vp8, fake, strict=True)]
    return f"| {' | '.join([name, *cells])} |"


def _print_tables(program: Path, size: str) -> None:
    width, height = map(int, size.split("x"))
    video = source_video_path(width, height)

    def encoded(rates_kbps: Sequence[int]) -> list[list[_Frames]]:
        return [_encode(program, encoder, video, rates_kbps) for encoder in _STARTS]

    print(f"\n| {size}, kbps | rate over target | first key frame | later one | variation | dropped | qp |")
    print("|---|---|---|---|---|---|---|")
    for rate in _RATES_KBPS:
        rows = map(_steady, encoded([rate] * (_SECONDS * FRAMES_PER_SECOND)))
        print(_row(str(rate), (3, 2, 2, 2, 2, 0), *rows), flush=True)
    print(f"\n| {size}, step | rate over target, first second | second one | followed after, s |")
    print("|---|---|---|---|")
    for before, after in _STEPS_KBPS:
        rows = map(_after_step, encoded([before] * _STEP + [after] * (4 * FRAMES_PER_SECOND)))
        print(_row(f"{before} to {after}", (2, 2, 1), *rows), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    for chosen in sys.argv[2:] or _SIZES:
        _print_tables(Path(sys.argv[1]), chosen)
