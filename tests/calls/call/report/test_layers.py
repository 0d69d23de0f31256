"""Measures of the layers that a viewer receives, from reports of getStats."""

import pytest
from hand_made import call_record

from weir_calls.call.call_report import main_measures
from weir_calls.call.layers import KEPT_S, layer_metrics
from weir_calls.call.measures import measure
from weir_calls.call.summary import read_calls, summarise_calls
from weir_eval.records.summary import RunAbout
from weir_eval.webrtc_stats import StatsReports

INTERVAL_S = 0.5


def video(*parts, **numbers):
    """The streams of a receiver of which each part lasts for seconds: (s, frameHeight), or (s, frameHeight, fps)."""
    reports, now_s = StatsReports(), 0.0
    for seconds, height, *rate in parts:
        for _ in range(round(seconds / INTERVAL_S)):
            members = {"type": "inbound-rtp", "kind": "video", "frameHeight": height, **numbers}
            reports.add_object(now_s, "video", members | ({"framesPerSecond": rate[0]} if rate else {}))
            now_s += INTERVAL_S
    return reports.of("inbound-rtp", "video"), now_s - INTERVAL_S


def measured(*parts, start_s=0.0):
    streams, end_s = video(*parts)
    found = layer_metrics(streams, start_s, end_s)
    return found["time_to_top_layer_s"], found["layer_drops_per_minute"]


def test_a_ladder_is_climbed_once():
    assert measured((3, 135), (4, 270), (23.5, 540)) == (7, 0)


def test_a_layer_that_is_left_at_once_is_not_kept():
    # Up for 4 s, down, and up to the end: the second climb counts, and one drop in 30 s.
    assert measured((6, 270), (4, 540), (5, 270), (15.5, 540)) == (15, 2)


def test_where_the_top_layer_never_stays_the_next_one_counts():
    parts = [(5, 135), *[(4, 270), (3, 540)] * 3, (4.5, 270)]
    assert measured(*parts) == (5, 6)
    assert layer_metrics(video(*parts)[0], 0, 30)["top_layer_height"] == 270


def test_a_layer_is_kept_from_5_s_on():
    for seconds, expected in ((KEPT_S, 10), (KEPT_S + INTERVAL_S, 2)):
        assert measured((2, 180), (seconds, 360), (10 - 2 - seconds, 180), (10, 360))[0] == expected


def test_a_picture_that_flaps_is_never_kept():
    assert measured(*[(2, 540), (2, 270)] * 7, (2.5, 540))[0] == 0, "the lower layer was always there"
    assert measured((1, 0), (2, 540))[0] is None


def test_a_freeze_is_no_drop_and_does_not_end_a_layer():
    # Chromium keeps the last height; others report 0.
    assert measured((2, 270, 10), (3, 540, 10), (3, 0, 0), (3, 540, 10), (3, 270, 0), (16.5, 540, 10)) == (2, 0)


def test_drops_of_before_the_scenario_do_not_count_and_the_climb_does():
    assert measured((4, 540), (2, 270), (24.5, 540), start_s=10.0) == (6, 0)


def test_of_two_videos_the_slower_counts_and_the_drops_add_up():
    (one,), end_s = video((30.5, 540))
    (other,), _ = video((20, 270), (2, 180), (8.5, 270))
    found = layer_metrics([one, other], 0, end_s)
    assert found == {"top_layer_height": 270, "time_to_top_layer_s": 0, "layer_drops_per_minute": 2}
    (late,), _ = video((20, 270), (10.5, 540))
    assert layer_metrics([one, late], 0, end_s)["time_to_top_layer_s"] == 20


def test_without_heights_layers_are_unknown():
    assert set(layer_metrics([], 0, 30).values()) == {None}
    streams, end_s = video((10, None))
    assert set(layer_metrics(streams, 0, end_s).values()) == {None}


def test_a_call_of_commands_has_the_layers_and_the_media_s_share(made_call, tmp_path):
    made_call.make_logs(tmp_path, rate_share=0.8)
    end_us = made_call.START_US + 12_000_000
    found = measure(tmp_path, made_call.START_US, end_us, logs_frames=False, quality=False).metrics
    # The link has 2 Mbps for 5 s and 1 Mbps for 7 s, less 200 kbps of cross traffic.
    achievable_bps = (5 * 1.8e6 + 7 * 0.8e6) / 12
    assert found["media_share"] == pytest.approx(found["received_bitrate_bps"] / achievable_bps, rel=0.01)
    assert found["media_share"] == pytest.approx(0.8, rel=0.05)
    with_frames = measure(tmp_path, made_call.START_US, end_us, quality=False).metrics
    assert with_frames["media_share"] is with_frames["layer_drops_per_minute"] is None


def test_the_table_of_stock_and_weir_has_the_layers():
    records = [
        call_record(scenario="steps", controller=name, seed=1, measures={
            "viewer_quality": 80.0, "top_layer_height": 540.0, "time_to_top_layer_s": top_s,
            "layer_drops_per_minute": 4.0, "media_share": 0.7, "frozen_share": 0.05,
        })
        for name, top_s in (("weir", 3.5), ("sendsidebwe", 12.0))
    ]  # fmt: skip
    summary = summarise_calls(read_calls(records), RunAbout(failures=[]))
    assert main_measures(summary) == [
        "viewer_quality", "frozen_share", "top_layer_height", "time_to_top_layer_s", "layer_drops_per_minute",
        "media_share",
    ]  # fmt: skip
    assert summary.controllers["sendsidebwe"]["time_to_top_layer_s"].mean == 12.0
