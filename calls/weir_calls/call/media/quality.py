"""The quality of rendered video and played audio: VMAF and ViSQOL, relative to the source, and PLCMOS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir_calls.call.media.ffmpeg import measure_vmaf
from weir_calls.call.media.plcmos import measure_concealment
from weir_calls.call.media.progress import OnShare, ignore_share
from weir_calls.call.media.received_frames import ReceivedFrame
from weir_calls.call.media.source_speech import source_speech_path
from weir_calls.call.media.visqol import measure_speech
from weir_calls.call.media.y4m import Y4m


@dataclass(frozen=True)
class PictureQuality:
    """`metrics`: VMAF's measures. `frames`: the compared frames, each as rendering time in us and VMAF, 0 to 100."""

    metrics: dict[str, float]
    frames: list[tuple[int, float]]


def picture_quality(
    received: Y4m, source: Path, frames: Sequence[ReceivedFrame], on_share: OnShare = ignore_share
) -> PictureQuality | None:
    """VMAF of the rendered frames that are in `received` and have a number; None if there are none.

    Args:
        received: the rendered frames.
        source: the y4m that was sent.
        frames: the index of `received`.
        on_share: receives the progress.

    Raises:
        InputError: the source cannot be read.
        ComponentFailed: ffmpeg failed.
        MissingComponent: ffmpeg is not installed.
    """
    with Y4m(source) as sent:
        compared = [
            (frame.render_time_us, (frame.position, frame.frame_number))
            for frame in frames
            if frame.position is not None
            and frame.position < len(received)
            and frame.frame_number is not None
            and frame.frame_number < len(sent)
        ]
        vmaf = measure_vmaf(received, sent, [numbers for _, numbers in compared], on_share)
    if vmaf is None:
        return None
    by_frame = [(compared[index][0], value) for index, value in vmaf.frames]
    return PictureQuality({"vmaf_mean": vmaf.mean, "vmaf_p5": vmaf.p5}, by_frame)


def speech_quality(received: Path, on_share: OnShare = ignore_share) -> dict[str, float]:
    """ViSQOL's measures of a WAV file of the played audio; empty if it is shorter than the speech. `on_share` receives
    the progress.

    Raises:
        InputError: a WAV file cannot be read.
        MissingComponent: ViSQOL or the speech synthesizer is not installed.
        ComponentFailed: ViSQOL failed.
    """
    scores = measure_speech(received, source_speech_path(), on_share)
    return {"visqol_mean": float(np.mean(scores)), "visqol_min": min(scores)} if scores else {}


def concealment_quality(received: Path) -> dict[str, float]:
    """PLCMOS's measures of a WAV file of the played audio; empty if it is shorter than a window.

    Raises:
        InputError: the WAV file cannot be read.
        MissingComponent: PLCMOS is not installed.
        ComponentFailed: PLCMOS failed.
    """
    scores = measure_concealment(received)
    return {"plcmos_mean": float(np.mean(scores)), "plcmos_min": min(scores)} if scores else {}
