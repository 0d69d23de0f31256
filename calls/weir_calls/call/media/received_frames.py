"""The frames that the receiver rendered: index, capture times, numbers in the source, and raw pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weir_calls.call.media.frame_number import HIGHEST_NUMBER
from weir_calls.call.media.source_video import FRAMES, FRAMES_PER_SECOND
from weir_calls.call.media.y4m import LARGEST_SIDE
from weir_calls.link.child_process import Message
from weir_eval.json_lines import integer, number, parse_object, read_objects

VIDEO_CLOCK_HZ = 90_000
_HIGHEST_RTP_TIMESTAMP = 0xFFFFFFFF
# About ten seconds of frames.
_TAIL_BYTES = 1 << 16


@dataclass(frozen=True)
class ReceivedFrame:
    """One rendered frame.

    `frame_number`: index in the source, modulo its length; None if the bar code could not be read. `capture_time_us`,
    `render_time_us`: CLOCK_MONOTONIC of this machine. `position`: index in the y4m file; None if the writer dropped
    the frame. `width`, `height`: as received, before scaling; 0 if unknown. `arrival_time_us`: when the last packet
    that completed it arrived; None in old logs and for a browser.
    """

    frame_number: int | None
    capture_time_us: int | None
    render_time_us: int
    rtp_timestamp: int | None
    width: int
    height: int
    position: int | None
    arrival_time_us: int | None = None


def read_index(path: Path) -> list[ReceivedFrame]:
    """Reads an index (`frames.y4m.jsonl`), in the order of rendering; skips lines without a time.

    Raises:
        InputError: the file cannot be read, or is too large for a call.
    """
    frames: list[ReceivedFrame] = []
    position = 0
    for line in read_objects(path):
        written = line.get("written", True) is True
        frame = _frame(line, position if written else None)
        if frame is not None and (not frames or frame.render_time_us >= frames[-1].render_time_us):
            frames.append(frame)
        position += written
    return frames


def last_capture(path: Path) -> tuple[int, int] | None:
    """The number and the capture time of the last frame that has both, in an index that is being written; None if there
    is none in the last seconds.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = file.read().splitlines()
    for text in reversed(lines):
        line = parse_object(text)
        frame = None if line is None else _frame(line, None)
        if frame is not None and frame.frame_number is not None and frame.capture_time_us is not None:
            return frame.frame_number, frame.capture_time_us
    return None


def _frame(line: dict[str, Any], position: int | None) -> ReceivedFrame | None:
    render_time_us = integer(line.get("render_time_us"))
    if render_time_us is None:
        return None
    return ReceivedFrame(
        frame_number=integer(line.get("frame_number"), highest=HIGHEST_NUMBER),
        capture_time_us=integer(line.get("capture_time_us")),
        render_time_us=render_time_us,
        rtp_timestamp=integer(line.get("rtp_timestamp"), highest=_HIGHEST_RTP_TIMESTAMP),
        width=integer(line.get("width"), highest=LARGEST_SIDE) or 0,
        height=integer(line.get("height"), highest=LARGEST_SIDE) or 0,
        position=position,
        arrival_time_us=integer(line.get("arrival_time_us")),
    )


def capture_times_us(frames: Sequence[ReceivedFrame]) -> list[int | None]:
    """The capture time of every frame. Times of frames before the first sender report are derived from RTP timestamps
    and the clock offset of the other frames; None if no frame has a capture time.
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
    """Unwrapped RTP time since the first frame; None for frames without an RTP timestamp."""
    elapsed: list[int | None] = []
    last, ticks = None, 0
    for frame in frames:
        if frame.rtp_timestamp is None:
            elapsed.append(None)
            continue
        if last is not None:
            ticks += _ticks_since(last, frame.rtp_timestamp)
        last = frame.rtp_timestamp
        elapsed.append(round(ticks * 1e6 / VIDEO_CLOCK_HZ))
    return elapsed


def unwrap_numbers(frames: Sequence[ReceivedFrame]) -> list[int | None]:
    """Frame numbers, unwrapped over the loops of the source.

    The RTP time between two frames, or else the rendering time, determines the number of loops between them. Numbers
    that are not in the source become None.
    """
    elapsed = rtp_elapsed_us(frames)
    unwrapped: list[int | None] = []
    last: tuple[int, int | None, int] | None = None  # number, RTP time, rendering time
    for frame, since in zip(frames, elapsed, strict=True):
        number = frame.frame_number
        if number is None or number >= FRAMES:
            unwrapped.append(None)
            continue
        if last is not None:
            before, since_before, rendered_before = last
            if since is not None and since_before is not None:
                passed_us = since - since_before
            else:
                passed_us = frame.render_time_us - rendered_before
            expected = before + passed_us * FRAMES_PER_SECOND / 1e6
            number += FRAMES * round((expected - number) / FRAMES)
        unwrapped.append(number)
        last = (number, since, frame.render_time_us)
    return unwrapped


class RawFrames:
    """The raw frames of a call (gigabytes), kept only while open.

    Unlinks the file, so that its disk space is freed when the last process that has it open ends.
    """

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError if there is no such file."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        path.unlink()

    @property
    def path(self) -> Path:
        """The path with which this process can open the file again."""
        return Path(f"/proc/self/fd/{self._descriptor}")

    def close(self) -> None:
        """Releases the file; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class BrowserFrames:
    """Converts a page's frames to lines of the index that a receiving weir-peer writes.

    Capture times are derived from the sender reports of the stream. Pictures stay in the browser, so there are neither
    frame numbers nor a recording.
    """

    def __init__(self) -> None:
        # RTP timestamp and capture time of the latest report, by SSRC.
        self._reports: dict[int | None, tuple[int, int]] = {}

    def on_sender_report(self, message: Message) -> None:
        """Handles a `sender_report` of a weir-peer, which maps RTP timestamps to this machine's monotonic clock."""
        rtp_timestamp = integer(message.get("rtp_timestamp"), highest=_HIGHEST_RTP_TIMESTAMP)
        capture_time_us = integer(message.get("capture_time_us"))
        if rtp_timestamp is not None and capture_time_us is not None:
            self._reports[integer(message.get("ssrc"))] = rtp_timestamp, capture_time_us

    def lines(self, message: Message, clock_offset_us: int) -> list[dict[str, Any]]:
        """Converts a `frames` message; skips frames without a time.

        Args:
            message: `frames` is a list of objects with `time_ms`, `rtp_timestamp`, `width` and `height`; `ssrc` is
                their stream's.
            clock_offset_us: monotonic time minus the page's time.
        """
        found, report = message.get("frames"), self._reports.get(integer(message.get("ssrc")))
        return [
            {
                "frame_number": None,
                "capture_time_us": _captured_us(frame.get("rtp_timestamp"), report),
                "render_time_us": round(1000 * time_ms) + clock_offset_us,
                "rtp_timestamp": frame.get("rtp_timestamp"),
                "width": frame.get("width"),
                "height": frame.get("height"),
                "written": False,
            }
            for frame in (found if isinstance(found, list) else [])
            if isinstance(frame, dict) and (time_ms := number(frame.get("time_ms"))) is not None
        ]


def _captured_us(value: Any, report: tuple[int, int] | None) -> int | None:
    rtp_timestamp = integer(value, highest=_HIGHEST_RTP_TIMESTAMP)
    if rtp_timestamp is None or report is None:
        return None
    # A frame may be older than the report.
    return report[1] + round(_ticks_since(report[0], rtp_timestamp) * 1e6 / VIDEO_CLOCK_HZ)


def _ticks_since(before: int, now: int) -> int:
    """Signed difference of two RTP timestamps."""
    return (now - before + 0x80000000) % 0x100000000 - 0x80000000
