"""The pictures of a video that is being received, and of its source."""

import json
import os
import struct

import numpy as np

from weir_calls.serve import picture
from weir_calls.serve.picture import latest_picture, source_picture

# Y, U, V of BT.601, and the pixel in blue, green, red.
RED = ((81, 90, 240), (0, 0, 254))
GREY = ((126, 128, 128), (128, 128, 128))


def y4m(size, *colours):
    """Frames of one colour each."""
    width, height = size
    frames = [
        b"FRAME\n"
        + bytes([y]) * (width * height)
        + bytes([u]) * (width * height // 4)
        + bytes([v]) * (width * height // 4)
        for y, u, v in colours
    ]
    return f"YUV4MPEG2 W{width} H{height} F30:1 Ip A1:1 C420jpeg\n".encode() + b"".join(frames)


def read(bmp):
    """Pixels of shape (rows, columns, 3)."""
    kind, size, offset = struct.unpack_from("<2sI4xI", bmp)
    width, height = struct.unpack_from("<ii", bmp, 18)
    assert (kind, size) == (b"BM", len(bmp))
    stride = (3 * width + 3) // 4 * 4
    rows = np.frombuffer(bmp, np.uint8, offset=offset).reshape(-height, stride)
    return rows[:, : 3 * width].reshape(-height, width, 3)


def test_it_is_the_last_whole_frame_made_smaller(tmp_path):
    path = tmp_path / "frames.y4m"
    for size, shape in (((640, 360), (180, 320, 3)), ((1280, 720), (180, 320, 3)), ((20, 10), (5, 10, 3))):
        whole = y4m(size, GREY[0], RED[0])
        path.write_bytes(whole + b"FRAME\n" + bytes(17))
        pixels = read(latest_picture(path).bmp)
        assert pixels.shape == shape
        assert np.abs(pixels.astype(int) - RED[1]).max() <= 2


def test_its_age_is_that_of_the_frame(tmp_path):
    path = tmp_path / "frames.y4m"
    path.write_bytes(y4m((20, 10), GREY[0]))
    assert latest_picture(path).age_ms < 5000
    os.utime(path, (1, 1))
    assert latest_picture(path).age_ms > 1e9


def test_no_picture_yet(tmp_path):
    path = tmp_path / "frames.y4m"
    assert latest_picture(path) is None
    for text in (b"", b"YUV4MPEG2", y4m((20, 10)), b"no video at all\n"):
        path.write_bytes(text)
        assert latest_picture(path) is None


def test_the_source_is_at_the_frame_that_its_camera_shows_now(tmp_path, monkeypatch):
    received, source = tmp_path / "frames.y4m", tmp_path / "source.y4m"
    received.write_bytes(y4m((20, 10), GREY[0]))
    source.write_bytes(y4m((20, 10), GREY[0], GREY[0], RED[0]))
    monkeypatch.setattr(picture, "source_video_path", lambda width, height: source)
    monkeypatch.setattr(picture, "monotonic_us", lambda: 1_000_000)
    index = tmp_path / "frames.y4m.jsonl"
    assert source_picture(received, index) is None
    # 100 ms after the capture of frame 1, of 3 in a loop, frame 4 is shown; the other lines lack a time or a number.
    lines = [
        {"frame_number": 0, "capture_time_us": 990_000, "render_time_us": 1},
        {"frame_number": 1, "capture_time_us": 900_000, "render_time_us": 2},
        {"frame_number": None, "capture_time_us": 933_000, "render_time_us": 3},
        {"frame_number": 2, "capture_time_us": None, "render_time_us": 4},
        {"capture_time_us": 10, "frame_number": 7},
    ]
    index.write_text("".join(json.dumps(line) + "\n" for line in lines) + '[]\n{"frame_numb')
    grey = read(source_picture(received, index).bmp)
    assert np.abs(grey.astype(int) - GREY[1]).max() <= 2
    monkeypatch.setattr(picture, "monotonic_us", lambda: 940_000)
    assert np.abs(read(source_picture(received, index).bmp).astype(int) - RED[1]).max() <= 2
    index.write_text(json.dumps(lines[3]) + "\n")
    assert source_picture(received, index) is None
