import json

import pytest

from weir_calls.call.media.received_frames import (
    BrowserFrames,
    ReceivedFrame,
    capture_times_us,
    read_index,
    unwrap_numbers,
)
from weir_calls.call.media.y4m import Y4m
from weir_cli.errors import InputError
from weir_eval.json_lines import JsonLinesWriter


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


OFFSET_US = -1_700_000_000_000_000


def browser_frame(time_ms, rtp_timestamp, **changes):
    return {"time_ms": time_ms, "rtp_timestamp": rtp_timestamp, "width": 640, "height": 360} | changes


def test_frames_have_the_capture_times_of_the_sender(tmp_path):
    frames = BrowserFrames()
    lines = frames.lines({"frames": [browser_frame(1.7e12 + 100.0, 4294967000)]}, OFFSET_US)
    assert lines[0]["capture_time_us"] is None
    # The report's RTP timestamp is after the wrap, the next frame's before it.
    frames.on_sender_report({"rtp_timestamp": 604, "capture_time_us": 70_000})
    lines += frames.lines(
        {"frames": [browser_frame(1.7e12 + 133.5, 4294967200), browser_frame(1.7e12 + 166, 3604)]}, OFFSET_US
    )
    log = JsonLinesWriter(tmp_path / "frames.jsonl")
    for line in lines:
        log.write(line)
    log.close()
    read = read_index(tmp_path / "frames.jsonl")
    assert [one.render_time_us for one in read] == pytest.approx([100_000, 133_500, 166_000], abs=1)
    assert [one.capture_time_us for one in read] == [None, 62_222, 103_333]
    assert {(one.width, one.height, one.position, one.frame_number) for one in read} == {(640, 360, None, None)}
    # The frame before the first report is placed by its RTP timestamp.
    assert capture_times_us(read)[0] == pytest.approx(60_000, abs=2)


def test_reports_of_audio_date_no_frame():
    frames = BrowserFrames()
    frames.on_sender_report({"ssrc": 7, "rtp_timestamp": 90, "capture_time_us": 7_000})
    frames.on_sender_report({"ssrc": 8, "rtp_timestamp": 48, "capture_time_us": 9_000_000})
    message = {"frames": [browser_frame(1.0, 180)]}
    assert frames.lines(message | {"ssrc": 7}, 0)[0]["capture_time_us"] == 8_000
    assert frames.lines(message | {"ssrc": 9}, 0)[0]["capture_time_us"] is None


@pytest.mark.parametrize(
    "frames", [None, {}, [None, 3], [{"rtp_timestamp": 3}], [browser_frame("soon", 3)], [browser_frame(1e400, 3)]]
)
def test_what_is_no_frame_is_passed_over(frames):
    assert BrowserFrames().lines({"frames": frames}, 0) == []


@pytest.mark.parametrize("report", [{}, {"rtp_timestamp": -1, "capture_time_us": 5}, {"rtp_timestamp": 5}])
def test_a_report_that_says_nothing_changes_nothing(report):
    frames = BrowserFrames()
    frames.on_sender_report({"rtp_timestamp": 90, "capture_time_us": 7_000})
    frames.on_sender_report(report)
    assert frames.lines({"frames": [browser_frame(1.0, 180)]}, 0)[0]["capture_time_us"] == 8_000
