import json

import pytest

from weir.errors import InputError
from weir.qoe_eval.call.media.received_frames import ReceivedFrame, capture_times_us, read_index, unwrap_numbers
from weir.qoe_eval.call.media.y4m import Y4m


def line(number, render_time_us, **more):
    return json.dumps({"frame_number": number, "render_time_us": render_time_us, "rtp_timestamp": None} | more)


def frame(number, time_s, rtp=True, capture_us=None):
    ticks = round(90_000 * time_s) + 0xFFFFFF00  # wraps at once
    return ReceivedFrame(number, capture_us, round(1e6 * time_s), ticks % 2**32 if rtp else None, 640, 360, None)


def test_a_torn_index_and_frames_that_were_not_written(tmp_path):
    path = tmp_path / "index.jsonl"
    lines = [
        line(0, 1000, width=640, height=360, capture_time_us=900),
        line(1, 2000, written=False),
        "no json",
        line(2, 3000),
        line(None, 4000),
        line(3, "soon"),
        line(4, 5000),
        line(5, 4500),  # earlier than the one before
        line(6, 6000, frame_number=True, width=-3, height=1e9),
        line(7, 7000)[:20],
    ]
    path.write_text("\n".join(lines))
    frames = read_index(path)
    assert [f.frame_number for f in frames] == [0, 1, 2, None, 4, None]
    # Positions count what is in the file, whether or not its line is of use.
    assert [f.position for f in frames] == [0, None, 1, 2, 4, 6]
    assert (frames[0].width, frames[0].height, frames[0].capture_time_us) == (640, 360, 900)
    assert (frames[-1].width, frames[-1].height) == (0, 0)
    assert read_index(tmp_path / "missing") == []


def test_a_line_that_never_ends_is_refused(tmp_path):
    path = tmp_path / "index.jsonl"
    path.write_bytes(b"[" * (5 << 20))
    with pytest.raises(InputError, match="line 1 is over the limit"):
        read_index(path)


@pytest.mark.parametrize("rtp", [True, False])
def test_numbers_go_on_where_the_source_begins_again(rtp):
    indices = [*range(0, 700), *range(990, 1000), *range(2000, 2003)]  # with gaps of 10 and 33 s
    frames = [frame(index % 300, index / 30, rtp) for index in indices]
    assert unwrap_numbers(frames) == indices


def test_unwrapping_survives_a_slow_source_and_unreadable_frames():
    # The source gives 27 frames a second: it drifts away from the clock by 30 loops in the end.
    indices = list(range(3000))
    frames = [frame(None if index % 7 == 3 else index % 300, index / 27) for index in indices]
    assert unwrap_numbers(frames) == [None if index % 7 == 3 else index for index in indices]
    assert unwrap_numbers([frame(300, 0.0), frame(5, 1.0)]) == [None, 5]


def test_capture_times_from_before_the_first_sender_report():
    frames = [
        frame(index, index / 30, capture_us=round(1e6 * index / 30) - 70_000 if index > 30 else None)
        for index in range(60)
    ]
    times = capture_times_us(frames)
    assert all(time == pytest.approx(1e6 * index / 30 - 70_000, abs=20) for index, time in enumerate(times))
    assert capture_times_us([frame(0, 0.0), frame(1, 0.1)]) == [None, None]


def test_a_y4m_that_was_cut(tmp_path):
    path = tmp_path / "cut.y4m"
    planes = bytes(range(24))
    content = b"YUV4MPEG2 W4 H4 F30:1 C420\n" + 3 * (b"FRAME\n" + planes)
    path.write_bytes(content[:-5])
    with Y4m(path) as video:
        assert len(video) == 2
        assert video.frame(1) == planes
        assert video.luma(0).shape == (4, 4)
        with pytest.raises(IndexError):
            video.frame(2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a y4m"),
        (b"RIFF", "not a y4m"),
        (b"YUV4MPEG2 W4\n", "no size"),
        (b"YUV4MPEG2 W5 H4\n", "5x4"),
        (b"YUV4MPEG2 W99999 H4\n", "99999x4"),
        (b"YUV4MPEG2 W4 H4 C444\n", "444"),
        (b"YUV4MPEG2 W4 H4 C420p10\n", "420p10"),
        (b"YUV4MPEG2 " + b"X" * 5000, "not a y4m"),
    ],
)
def test_what_is_no_y4m_is_refused(tmp_path, content, message):
    path = tmp_path / "file.y4m"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Y4m(path)


def test_frames_with_parameters_are_refused(tmp_path):
    path = tmp_path / "file.y4m"
    path.write_bytes(b"YUV4MPEG2 W4 H4\n" + b"FRAME Ip\n" + bytes(40))
    with Y4m(path) as video, pytest.raises(InputError, match="does not begin with FRAME"):
        video.frame(0)
