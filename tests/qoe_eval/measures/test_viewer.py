"""Measures of the viewer's experience over hand-made frames."""

import numpy as np
import pytest
from hand_made import run_record

from weir_eval.measures.viewer import CALLS, STANDARD_ERROR, estimate_vmaf, viewer_measures

FRAME_US = 100_000


def flow(delays_ms, frame_bytes=5000, capture_us=None, **changes):
    """A flow of ten frames a second with these delays; None for a frame that never came."""
    capture_us = capture_us or [i * FRAME_US for i in range(len(delays_ms))]
    complete = [None if d is None else t + round(1000 * d) for t, d in zip(capture_us, delays_ms, strict=True)]
    frames = {"capture_time_us": capture_us, "complete_time_us": complete, "bytes": [frame_bytes] * len(delays_ms)}
    return {"id": "media", "start_s": 0.0, "stop_s": None, "series": {"frames": frames}} | changes


def measures(flow, duration_s=10.0):
    record = run_record(duration_s=duration_s, flows=[flow])
    return viewer_measures(record, record.flows[0])


def test_a_smooth_call():
    found = measures(flow([50.0] * 100))
    quality = float(estimate_vmaf(400e3))
    assert found["frame_delay_ms_p50"] == found["frame_delay_ms_p95"] == 50.0
    assert found["frames_per_second"] == pytest.approx(100 / 9.95)
    assert (found["freeze_count"], found["total_freezes_duration_s"], found["frozen_share"]) == (0, 0, 0)
    assert found["video_quality"] == pytest.approx(quality)
    assert found["viewer_quality"] == pytest.approx(quality)


def test_an_outage_is_one_freeze_that_counts_as_nothing_seen():
    # Nothing comes from 4 s to 6 s; what was captured then comes all at once.
    delays = [50.0 if i < 40 or i >= 60 else 6050.0 - 100 * i for i in range(100)]
    found = measures(flow(delays))
    assert found["freeze_count"] == 1
    assert found["total_freezes_duration_s"] == pytest.approx(2.1)
    assert found["frozen_share"] == pytest.approx(2.1 / 9.95)
    assert found["viewer_quality"] == pytest.approx(found["video_quality"] * (1 - 2.1 / 9.95))
    assert found["frame_delay_ms_p50"] == 50.0
    assert found["frame_delay_ms_p95"] == pytest.approx(np.percentile(delays, 95))


def test_frames_are_rendered_in_order():
    delays = [50.0] * 100
    delays[50] = 400.0  # three frames after it are there before it
    found = measures(flow(delays))
    in_order = [50.0] * 50 + [400.0, 300.0, 200.0, 100.0] + [50.0] * 46
    assert found["frame_delay_ms_p95"] == pytest.approx(np.percentile(in_order, 95))
    assert found["freeze_count"] == 1


def test_frames_that_a_key_frame_made_needless_are_not_rendered():
    found = measures(flow([50.0] * 40 + [None] * 20 + [50.0] * 40))
    assert found["freeze_count"] == 1
    assert found["total_freezes_duration_s"] == pytest.approx(2.1)
    assert found["frames_per_second"] == pytest.approx(80 / 9.95)
    assert found["frame_delay_ms_p95"] == 50.0


def test_a_call_that_ends_in_an_outage_was_frozen_until_its_end():
    found = measures(flow([50.0] * 40 + [None] * 60))
    assert found["total_freezes_duration_s"] == pytest.approx(10 - 3.95)
    assert found["frames_per_second"] == pytest.approx(40 / 9.95)


def test_without_a_frame_all_time_was_frozen():
    found = measures(flow([None] * 100))
    assert (found["frozen_share"], found["viewer_quality"], found["frames_per_second"]) == (1.0, 0.0, 0.0)
    assert found["video_quality"] is None
    assert found["frame_delay_ms_p95"] is None


def test_a_pause_of_the_source_is_no_freeze():
    capture_us = [i * FRAME_US for i in range(100) if not 30 <= i < 70]
    paused = flow([50.0] * 60, capture_us=capture_us, pauses_s=[[3.0, 7.0]])
    assert measures(paused)["freeze_count"] == 0
    assert measures(paused)["frames_per_second"] == pytest.approx(60 / (2.95 + 2.95))
    # Nor is one of its video alone, or one that is both.
    assert measures(paused | {"pauses_s": [], "video_pauses_s": [[3.0, 7.0]]}) == measures(paused)
    assert measures(paused | {"pauses_s": [[4.0, 7.0]], "video_pauses_s": [[3.0, 6.0]]}) == measures(paused)
    # The same without the pause being known is one.
    assert measures(paused | {"pauses_s": []})["freeze_count"] == 1


def test_quality_follows_the_rate_second_by_second():
    fast_then_slow = flow([0.0] * 100)
    fast_then_slow["series"]["frames"]["bytes"] = [12_500] * 50 + [1250] * 50
    expected = (float(estimate_vmaf(1e6)) + float(estimate_vmaf(1e5))) / 2
    # Half a second passes until a step of the rate is half seen; over the whole call at once it would be 69.
    assert measures(fast_then_slow)["video_quality"] == pytest.approx(expected, abs=2.5)


def test_a_flow_without_frames_has_no_such_measures():
    assert measures({"id": "media"}) == {}
    assert measures(flow([])) == {}


def test_the_estimate_fits_the_calls_it_comes_from():
    rates, vmaf = np.array(CALLS).T
    residuals = estimate_vmaf(1e3 * rates) - vmaf
    assert residuals.sum() == pytest.approx(0, abs=1e-9)
    assert pytest.approx(1.6, abs=0.05) == STANDARD_ERROR
    assert np.abs(residuals).max() < 2.8


def test_the_estimate_grows_with_the_rate_between_its_bounds():
    rates = np.geomspace(1, 1e9, 200)
    quality = estimate_vmaf(rates)
    assert (np.diff(quality) >= 0).all()
    assert quality[0] == 0
    assert quality[-1] == 100
    assert estimate_vmaf(0.0) == 0


def test_a_wait_of_more_than_a_second_for_the_first_frames_is_a_freeze():
    for late in (flow([None] * 30 + [50.0] * 70), flow([50.0] * 2 + [None] * 28 + [50.0] * 70)):
        found = measures(late)
        assert found["freeze_count"] == 1
        assert found["frozen_share"] == pytest.approx(0.3, abs=0.02)
        assert found["viewer_quality"] == pytest.approx(found["video_quality"] * (1 - found["frozen_share"]))
    assert measures(flow([None] * 5 + [50.0] * 95))["freeze_count"] == 0


def test_one_frame_is_no_call():
    found = measures(flow([50.0] + [None] * 99))
    assert found["frozen_share"] > 0.98
    assert found["viewer_quality"] < 1
