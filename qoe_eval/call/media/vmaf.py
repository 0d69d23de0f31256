"""VMAF of the received frames against the frames of the source that they show.

Frames are aligned by their number: every rendered frame is compared with the source's frame of that number, whenever
it came. Frames that never came are not compared: they are freezes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.qoe_eval.call.media.ffmpeg import FfmpegFailed, run
from weir.qoe_eval.call.media.source_video import FRAMES_PER_SECOND
from weir.qoe_eval.call.media.y4m import Y4m
from weir.qoe_eval.call.processes.scratch_folder import ScratchFolder

THREADS = 2
MODEL = "vmaf_v0.6.1"
_LOG = "vmaf.json"


@dataclass(frozen=True)
class Vmaf:
    """0 to 100, by the model MODEL: mean and 5th percentile over the compared frames, and each of them as (index in
    the pairs, value).
    """

    mean: float
    p5: float
    frames: list[tuple[int, float]]


def measure_vmaf(received: Y4m, source: Y4m, pairs: Sequence[tuple[int, int]], every: int = 1) -> Vmaf | None:
    """VMAF over pairs (index of a frame in `received`, in `source`), in the order of rendering; nothing without pairs.

    Args:
        received: frames of another size than the source's are scaled to it (bicubic).
        source: what was sent.
        pairs: frames that exist in both files.
        every: compare every n-th pair only; motion is still seen by all.

    Raises:
        FfmpegFailed: it could not be computed.
        MissingComponent: ffmpeg is not installed.
    """
    if not pairs:
        return None
    scale = f"[0:v]scale={source.width}:{source.height}:flags=bicubic[received]"
    compare = f"[received][1:v]libvmaf=log_fmt=json:log_path={_LOG}:n_threads={THREADS}:n_subsample={every}"
    with ScratchFolder() as folder:
        inputs = [
            (received.width, received.height, FRAMES_PER_SECOND, (received.frame(index) for index, _ in pairs)),
            (source.width, source.height, FRAMES_PER_SECOND, (source.frame(index) for _, index in pairs)),
        ]
        run(inputs, ["-lavfi", f"{scale};{compare}", "-f", "null", "-"], folder)
        try:
            log = json.loads((folder / _LOG).read_text(encoding="utf-8"))
            frames = [(int(frame["frameNum"]), float(frame["metrics"]["vmaf"])) for frame in log["frames"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FfmpegFailed(f"ffmpeg left no VMAF ({error!r})") from None
    values = [value for _, value in frames]
    if not values:
        return None
    return Vmaf(float(np.mean(values)), float(np.percentile(values, 5)), frames)
