"""Measures of the suite `layers`, from records of rooms."""

import pytest

from weir_eval.records.run_record import RunRecord
from weir_suites.suites import layers


def of_room(**room):
    flow = {"id": "media", "kind": "rtp", "controller": "gcc", "room": room}
    return RunRecord.model_validate({
        "schema": "weir.result/1", "scenario": "s", "controller": "gcc", "seed": 1, "duration_s": 30.0,
        "path": {"one_way_delay_ms": 25.0}, "flows": [flow],
    })  # fmt: skip


def test_forwarding_more_than_fits_adds_nothing():
    record = of_room(fitting_bps=[500, 500, 1000], forwarded_bps=[100, 900, 500])
    assert layers.fitting_share(record) == pytest.approx((100 + 500 + 500) / 2000)


def test_lowered_layers_are_counted_per_stream_and_minute():
    assert layers.lowered_per_minute(of_room(layers_lowered=6, streams=3)) == pytest.approx(4)


def test_the_time_to_the_best_layers_is_a_mean_over_start_and_rises():
    record = of_room(fitting_bps=[500] * 4 + [1500] * 4, forwarded_bps=[400, 500, 500, 500, 500, 500, 900, 1500])
    assert layers.best_layers_after_s(record) == pytest.approx((1 + 3) / 2)


def test_a_rise_that_ends_before_it_is_used_counts_with_its_length():
    record = of_room(fitting_bps=[500, 500, 1500, 1500, 500, 500], forwarded_bps=[500] * 6)
    assert layers.best_layers_after_s(record) == pytest.approx((0 + 2) / 2)


def test_a_subscriber_without_a_frame_has_an_infinite_delay():
    assert layers.end_to_end_delay_ms_p95(of_room(end_to_end_delay_ms_p95=None)) == float("inf")
