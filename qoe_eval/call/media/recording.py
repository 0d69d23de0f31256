"""`recording.mp4`: what the receiver saw, small enough to keep. A freeze looks like one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from weir.qoe_eval.call.media.ffmpeg import run
from weir.qoe_eval.call.media.received_frames import ReceivedFrame
from weir.qoe_eval.call.media.source_video import FRAMES_PER_SECOND
from weir.qoe_eval.call.media.y4m import Y4m

_QUALITY = "26"


def make_recording(
    received: Y4m, frames: Sequence[ReceivedFrame], start_us: int, end_us: int, path: Path
) -> Path | None:
    """H.264 at 30/s, each instant showing the frame that was rendered last; nothing when none was written to the file.

    Raises:
        FfmpegFailed: it could not be made.
        MissingComponent: ffmpeg is not installed.
    """
    shown = [frame for frame in frames if frame.position is not None and frame.position < len(received)]
    if not shown or end_us <= start_us:
        return None
    ticks = max(1, round((end_us - start_us) * FRAMES_PER_SECOND / 1e6))

    def instants() -> Iterator[bytes]:
        index = 0
        for tick in range(ticks):
            now_us = start_us + (tick + 0.5) * 1e6 / FRAMES_PER_SECOND
            while index + 1 < len(shown) and shown[index + 1].render_time_us <= now_us:
                index += 1
            position = shown[index].position
            assert position is not None
            yield received.frame(position)

    options = ["-c:v", "libx264", "-preset", "superfast", "-crf", _QUALITY, "-threads", "2", "-pix_fmt", "yuv420p"]
    part = path.with_name(path.name + ".part")
    try:
        inputs = [(received.width, received.height, FRAMES_PER_SECOND, instants())]
        run(inputs, [*options, "-movflags", "+faststart", "-f", "mp4", str(part.absolute())], path.parent)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
