"""The frames that the receiver rendered: what the peer's index says of each, and which frame of the source it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir.qoe_eval.call.logs.json_lines import integer, read_objects
from weir.qoe_eval.call.media.frame_number import HIGHEST_NUMBER
from weir.qoe_eval.call.media.source_video import FRAMES, FRAMES_PER_SECOND

VIDEO_CLOCK_HZ = 90_000
_LARGEST_SIDE = 16384


@dataclass(frozen=True)
class ReceivedFrame:
    """One rendered frame.

    `frame_number`: index in the source, modulo its length; nothing where the bar code could not be read.
    `capture_time_us`, `render_time_us`: CLOCK_MONOTONIC of this machine. `position`: index in the y4m file; nothing
    for a frame that its writer had to drop. `width`, `height`: as received, before scaling; 0 where unknown.
    """

    frame_number: int | None
    capture_time_us: int | None
    render_time_us: int
    rtp_timestamp: int | None
    width: int
    height: int
    position: int | None


def read_index(path: Path) -> list[ReceivedFrame]:
    """The frames of an index (`frames.y4m.jsonl`), in the order of rendering. Lines without a time are passed over, as
    is a torn last one.

    Raises:
        InputError: the file cannot be read, or is larger than any call's.
    """
    frames: list[ReceivedFrame] = []
    position = 0
    for line in read_objects(path):
        written = line.get("written", True) is True
        render_time_us = integer(line.get("render_time_us"))
        if render_time_us is not None and (not frames or render_time_us >= frames[-1].render_time_us):
            frames.append(
                ReceivedFrame(
                    frame_number=integer(line.get("frame_number"), highest=HIGHEST_NUMBER),
                    capture_time_us=integer(line.get("capture_time_us")),
                    render_time_us=render_time_us,
                    rtp_timestamp=integer(line.get("rtp_timestamp"), highest=0xFFFFFFFF),
                    width=integer(line.get("width"), highest=_LARGEST_SIDE) or 0,
                    height=integer(line.get("height"), highest=_LARGEST_SIDE) or 0,
                    position=position if written else None,
                )
            )
        position += written
    return frames


def capture_times_us(frames: Sequence[ReceivedFrame]) -> list[int | None]:
    """The capture time of every frame. Those from before the first sender report get theirs from the RTP timestamps,
    by the offset between both clocks that the other frames show; nothing where no frame has a capture time.
    """
    elapsed = rtp_elapsed_us(frames)
    offsets = [
        frame.capture_time_us - since
        for frame, since in zip(frames, elapsed, strict=True)
        if frame.capture_time_us is not None and since is not None
    ]
    offset = int(np.median(offsets)) if offsets else None
    times: list[int | None] = []
    for frame, since in zip(frames, elapsed, strict=True):
        derived = offset + since if offset is not None and since is not None else None
        times.append(frame.capture_time_us if frame.capture_time_us is not None else derived)
    return times


def rtp_elapsed_us(frames: Sequence[ReceivedFrame]) -> list[int | None]:
    """Time of the RTP clock since the first frame, unwrapped; nothing for frames without an RTP timestamp."""
    elapsed: list[int | None] = []
    last, ticks = None, 0
    for frame in frames:
        if frame.rtp_timestamp is None:
            elapsed.append(None)
            continue
        if last is not None:
            ticks += (frame.rtp_timestamp - last + 0x80000000) % 0x100000000 - 0x80000000
        last = frame.rtp_timestamp
        elapsed.append(round(ticks * 1e6 / VIDEO_CLOCK_HZ))
    return elapsed


def unwrap_numbers(
    frames: Sequence[ReceivedFrame], source_frames: int = FRAMES, frames_per_second: float = FRAMES_PER_SECOND
) -> list[int | None]:
    """Frame numbers that go on where the source begins again, counted from its first loop.

    How many loops passed between two frames is told by the time between them: RTP time, or rendering time where a
    frame has none. Numbers that no source has are left out.
    """
    elapsed = rtp_elapsed_us(frames)
    unwrapped: list[int | None] = []
    last: tuple[int, int | None, int] | None = None  # number, RTP time, rendering time
    for frame, since in zip(frames, elapsed, strict=True):
        number = frame.frame_number
        if number is None or number >= source_frames:
            unwrapped.append(None)
            continue
        if last is not None:
            before, since_before, rendered_before = last
            if since is not None and since_before is not None:
                passed_us = since - since_before
            else:
                passed_us = frame.render_time_us - rendered_before
            expected = before + passed_us * frames_per_second / 1e6
            number += source_frames * round((expected - number) / source_frames)
        unwrapped.append(number)
        last = (number, since, frame.render_time_us)
    return unwrapped
