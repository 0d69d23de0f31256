"""Measures of a call without a log of its frames, from the receiver's reports of getStats."""

import pytest

from weir_calls.call.stats_measures import frame_metrics_of_stats, stats_metrics
from weir_eval.measures.call_quality import mean_delay_factor
from weir_eval.measures.viewer import estimate_vmaf
from weir_eval.webrtc_stats import StatsReports

# Reports come from two seconds before the call, which has 30 s.
START_S, END_S, BEFORE_S, INTERVAL_S = 100.0, 130.0, 2.0, 0.5


def reports(*streams, until_s=END_S):
    """Each stream: bit/s, frames/s, freezes as (from, to) in which nothing arrives, and heights from their times on."""
    found = StatsReports()
    steps = int((until_s - START_S + BEFORE_S) / INTERVAL_S)
    for index in range(steps + 1):
        now_s = START_S - BEFORE_S + index * INTERVAL_S
        for number, stream in enumerate(streams):
            moving_s = now_s - START_S + BEFORE_S
            moving_s -= sum(min(max(now_s - begin, 0.0), end - begin) for begin, end in stream.get("freezes", ()))
            over = [end - begin for begin, end in stream.get("freezes", ()) if end <= now_s]
            heights = [height for since_s, height in stream.get("heights", [(0, 540)]) if now_s >= since_s]
            members = {
                "type": "inbound-rtp", "kind": "video", "bytesReceived": stream.get("bps", 1e6) * moving_s / 8,
                "framesDecoded": int(stream.get("fps", 30) * moving_s), "frameHeight": heights[-1],
                "freezeCount": len(over), "totalFreezesDuration": sum(over),
            }  # fmt: skip
            found.add_object(
                now_s, f"stream {number}", {k: v for k, v in members.items() if k not in stream.get("without", ())}
            )
    return found


def measured(*streams, until_s=END_S):
    receiver = reports(*streams, until_s=until_s)
    metrics = stats_metrics(receiver, StatsReports(), START_S, START_S, END_S)
    return metrics | frame_metrics_of_stats(receiver, metrics, START_S, END_S)


def test_a_steady_video_has_the_quality_of_its_bitrate():
    found = measured({})
    assert found["viewer_quality"] == found["video_quality"] == pytest.approx(float(estimate_vmaf(1e6)))
    assert (found["frozen_share"], found["quality_switch_count"], found["frame_height_mean"]) == (0, 0, 540)


def test_frozen_time_counts_once():
    found = measured({"freezes": [(110.5, 111.5), (115.5, 118.5)]})
    steady = float(estimate_vmaf(1e6))
    assert found["frozen_share"] == pytest.approx(4 / 30)
    # The parts of a second beside a freeze have fewer bytes.
    assert found["video_quality"] == pytest.approx(steady, abs=1)
    assert found["viewer_quality"] == pytest.approx(found["video_quality"] * 26 / 30)


def test_a_call_that_shows_nothing_has_no_quality():
    found = measured({"bps": 0, "fps": 0})
    assert (found["viewer_quality"], found["frozen_share"]) == (0, 1)


def test_a_receiver_that_hangs_is_measured_until_its_last_report():
    found = measured({"freezes": [(102, 107)]}, until_s=110)
    assert found["frozen_share"] == pytest.approx(0.5)


def test_two_videos_do_not_count_as_a_better_one():
    found = measured({"bps": 5e5, "heights": [(0, 540)]}, {"bps": 5e5, "heights": [(0, 270)]})
    assert found["video_quality"] == pytest.approx(float(estimate_vmaf(5e5)))
    assert (found["quality_switch_count"], found["frame_height_mean"]) == (0, 405)


def test_heights_of_before_the_call_are_no_switches():
    found = measured({"heights": [(0, 136), (99, 540), (110, 270), (120, 540)]})
    assert found["quality_switch_count"] == 2


@pytest.mark.parametrize("name", ["bytesReceived", "framesDecoded", "freezeCount", "totalFreezesDuration"])
def test_a_stack_that_does_not_report_it_has_no_viewer_s_quality(name):
    without = ("freezeCount", "totalFreezesDuration") if "reeze" in name else (name,)
    assert measured({"without": without})["viewer_quality"] is None


def test_counters_that_fall_and_end_early_are_no_error():
    receiver = StatsReports()
    for now_s, count in ((100.0, 5e12), (100.5, 0.0), (101.7, 1e3), (101.8, 0.0)):
        members = {"type": "inbound-rtp", "kind": "video", "totalFreezesDuration": count, "freezeCount": count}
        receiver.add_object(now_s, "a", members | {"bytesReceived": count, "framesDecoded": count})
    metrics = stats_metrics(receiver, StatsReports(), 100, 100, 130)
    found = frame_metrics_of_stats(receiver, metrics, 100, 130)
    assert 0 <= found["viewer_quality"] <= 100


def test_a_page_that_reports_when_frames_were_drawn_has_end_to_end_delay():
    receiver = reports({})
    # Two seconds of half a second each, among frames of before the call and after it.
    for time_s, delay_s in [(99.5, 9.0), (100.0, 0.1), (101.0, 0.5), (102.0, 0.5), (131.0, 9.0)]:
        receiver.add_object(time_s, "frame", {"type": "rendered-frame", "endToEndDelay": delay_s})
    found = frame_metrics_of_stats(
        receiver, stats_metrics(receiver, StatsReports(), START_S, START_S, END_S), START_S, END_S
    )
    assert (found["end_to_end_delay_ms_p50"], found["end_to_end_delay_ms_p95"]) == pytest.approx((500, 500))
    assert found["delay_factor"] == pytest.approx(mean_delay_factor([0, 1_000_000, 2_000_000], [100, 500, 500]))
    assert "delay_factor" not in measured({})


def test_delays_that_no_page_can_have_are_ignored():
    receiver = reports({})
    for delay_s in (float("nan"), float("inf"), "0.1", None, [0.1]):
        receiver.add_object(101.0, "frame", {"type": "rendered-frame", "endToEndDelay": delay_s})
    assert "delay_factor" not in frame_metrics_of_stats(receiver, measured({}), START_S, END_S)
