"""Frames of a browser that receives, in the index that a weir-peer would write."""

import pytest

from weir.qoe_eval.call.media.received_frames import BrowserFrames, capture_times_us, read_index
from weir.qoe_eval.json_lines import JsonLinesWriter

OFFSET_US = -1_700_000_000_000_000


def frame(time_ms, rtp_timestamp, **changes):
    return {"time_ms": time_ms, "rtp_timestamp": rtp_timestamp, "width": 640, "height": 360} | changes


def test_frames_have_the_capture_times_of_the_sender(tmp_path):
    frames = BrowserFrames()
    lines = frames.lines({"frames": [frame(1.7e12 + 100.0, 4294967000)]}, OFFSET_US)
    assert lines[0]["capture_time_us"] is None
    # The report's RTP timestamp is after the wrap, the next frame's before it.
    frames.on_sender_report({"rtp_timestamp": 604, "capture_time_us": 70_000})
    lines += frames.lines({"frames": [frame(1.7e12 + 133.5, 4294967200), frame(1.7e12 + 166, 3604)]}, OFFSET_US)
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


@pytest.mark.parametrize("frames", [None, {}, [None, 3], [{"rtp_timestamp": 3}], [frame("soon", 3)], [frame(1e400, 3)]])
def test_what_is_no_frame_is_passed_over(frames):
    assert BrowserFrames().lines({"frames": frames}, 0) == []


@pytest.mark.parametrize("report", [{}, {"rtp_timestamp": -1, "capture_time_us": 5}, {"rtp_timestamp": 5}])
def test_a_report_that_says_nothing_changes_nothing(report):
    frames = BrowserFrames()
    frames.on_sender_report({"rtp_timestamp": 90, "capture_time_us": 7_000})
    frames.on_sender_report(report)
    assert frames.lines({"frames": [frame(1.0, 180)]}, 0)[0]["capture_time_us"] == 8_000
