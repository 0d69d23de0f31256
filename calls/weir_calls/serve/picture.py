"""The pictures of a running call, received and sent, small enough to be updated a few times per second."""

# Own code instead of Pillow 13 (20 MB): it would replace the six lines of `_bmp`, and its YCbCr has another range than
# video, where red becomes (238, 14, 13) instead of (254, 0, 0).
from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weir_calls.call.media.received_frames import last_capture
from weir_calls.call.media.source_video import FRAMES_PER_SECOND, source_video_path
from weir_calls.call.media.y4m import Y4m
from weir_calls.link.child_process import monotonic_us
from weir_cli.errors import InputError

WIDTH = 320
"""Nominal width in pixels; the actual one is half to one and a half times as large."""
_BMP_HEADER = 54


@dataclass(frozen=True)
class Picture:
    """A BMP file, which needs no compression, and the time since the picture was received."""

    bmp: bytes
    age_ms: int


def latest_picture(video: Path) -> Picture | None:
    """The last complete frame of a growing y4m file; None if there is none."""
    try:
        with Y4m(video) as frames:
            if not len(frames):
                return None
            bmp = _bmp_of(frames, len(frames) - 1)
        age_s = time.time() - video.stat().st_mtime
    except (InputError, OSError, ValueError):
        return None
    return Picture(bmp, max(0, round(1000 * age_s)))


def source_picture(video: Path, index: Path) -> Picture | None:
    """The source's current picture, computed from the number and the capture time of a frame in the index of the
    received y4m file. None while no frame has both.
    """
    try:
        found = last_capture(index)
        if found is None:
            return None
        number, capture_time_us = found
        with Y4m(video) as received:
            source = source_video_path(received.width, received.height)
        since_s = (monotonic_us() - capture_time_us) / 1e6
        with Y4m(source) as frames:
            return Picture(_bmp_of(frames, (number + int(since_s * FRAMES_PER_SECOND)) % len(frames)), 0)
    except (InputError, OSError, ValueError):
        return None


def _bmp_of(frames: Y4m, index: int) -> bytes:
    return _bmp(_bgr(np.frombuffer(frames.frame(index), np.uint8), frames.width, frames.height))


def _bgr(planes: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Converts 4:2:0 planes (BT.601, 16 to 235) to uint8 of shape (rows, columns, 3), using every (2 nth)th pixel."""
    half = width // 2, height // 2
    nth = max(1, round(half[0] / WIDTH))
    luma, chroma = (
        planes[: width * height].reshape(height, width),
        planes[width * height :].reshape(2, half[1], half[0]),
    )
    y = 1.164 * (luma[: 2 * half[1] : 2 * nth, : 2 * half[0] : 2 * nth].astype(np.float32) - 16)
    u, v = chroma[:, ::nth, ::nth].astype(np.float32) - 128
    pixels = np.stack([y + 2.018 * u, y - 0.391 * u - 0.813 * v, y + 1.596 * v], axis=2)
    return np.clip(np.round(pixels), 0, 255).astype(np.uint8)


def _bmp(pixels: NDArray[np.uint8]) -> bytes:
    """A BMP file with 24 bits per pixel, from the top down."""
    height, width, _ = pixels.shape
    # Rows have a multiple of four bytes.
    rows = np.pad(pixels.reshape(height, 3 * width), ((0, 0), (0, -3 * width % 4))).tobytes()
    file_header = struct.pack("<2sIHHI", b"BM", _BMP_HEADER + len(rows), 0, 0, _BMP_HEADER)
    return file_header + struct.pack("<IiiHHIIiiII", 40, width, -height, 1, 24, 0, len(rows), 2835, 2835, 0, 0) + rows
