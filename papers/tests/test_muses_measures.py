"""Measures of `weir paper muses` on records made by hand; samples of 100 ms."""

import json

import numpy as np
import onnx
import pytest
from hand_made import run_record

from weir_papers.common import Case, case_of
from weir_papers.muses.muses_measures import (
    challenge_after,
    ellipse_area,
    in_flight,
    in_flight_rmse,
    staggered_jain,
)
from weir_papers.muses.nearest_kind import nearest_share
from weir_sim.installed import shipped_model


def flow(receive, delay_ms=25.0, start_s=0.0, stop_s=None):
    samples = len(receive)
    delays = [delay_ms] * samples if isinstance(delay_ms, float) else delay_ms
    return {
        "id": "media",
        "kind": "rtp",
        "direction": "forward",
        "start_s": start_s,
        "stop_s": samples / 10 if stop_s is None else stop_s,
        "base_one_way_delay_ms": 25.0,
        "packets_sent": 1000,
        "bytes_sent": 1_250_000,
        "series": {
            "send_rate_bps": receive,
            "receive_rate_bps": receive,
            "one_way_delay_mean_ms": delays,
            "packets_lost": [0] * samples,
        },
    }


def record(*flows, capacity_bps=1_000_000.0):
    samples = len(flows[0]["series"]["receive_rate_bps"])
    series = {"interval_s": 0.1, "capacity_bps": [capacity_bps] * samples}
    path = {"one_way_delay_ms": 25.0, "mean_capacity_bps": capacity_bps}
    return run_record(path=path, duration_s=samples / 10, flows=flows, series=series)


def test_a_case_is_of_the_whole_capacity():
    delay_ms = {"mean": 45.0, "p95": 65.0}
    sent_flow = flow([1e6] * 100) | {"bytes_received": 900_000, "packets_lost": 5, "one_way_delay_ms": delay_ms}
    assert case_of(record(sent_flow)) == Case(0.72, 40.0, 0.005, 20.0)
    assert case_of(record(sent_flow | {"one_way_delay_ms": None})) is None


def test_the_ellipse_has_one_standard_deviation_along_its_axes():
    rng = np.random.default_rng(1)
    spread = [Case(0.5 + 0.02 * u, 50 + 10 * d, 0.0) for u, d in rng.standard_normal((4000, 2))]
    assert ellipse_area(spread) == pytest.approx(np.pi * 2 * 10, rel=0.05)
    on_a_line = [Case(0.5 + 0.01 * i, 10.0 * i, 0.0) for i in range(5)]
    assert ellipse_area(on_a_line) == pytest.approx(0, abs=1e-4)


def test_in_flight_is_rate_times_delay_there_and_back():
    # 1 Mbps over 50 ms: 50 kbit, 4.17 packets; with 50 ms of queue twice that; a sample without arrivals is left out.
    full = record(flow([1e6] * 10, [25.0] * 4 + [75.0] * 5 + [None]))
    bdp, held = in_flight(full)
    assert len(bdp) == 9
    assert bdp == pytest.approx(np.full(9, 50e3 / 12e3))
    assert held[:4] == pytest.approx(bdp[:4])
    assert held[4:] == pytest.approx(2 * bdp[4:])
    assert in_flight_rmse([full]) == pytest.approx(50 / 12 * np.sqrt(5 / 9))
    assert in_flight_rmse([]) is None


def test_jain_of_staggered_flows_is_of_the_second_halves_of_stretches():
    # Alone for 10 s, then two for 10 s, unequal in the first half of that only; then alone again.
    first = flow([1e6] * 100 + [0.9e6] * 50 + [0.5e6] * 50 + [0.0] * 100, stop_s=20.0)
    second = flow([0.0] * 100 + [0.1e6] * 50 + [0.5e6] * 50 + [1e6] * 100, start_s=10.0)
    assert staggered_jain(record(first, second)) == pytest.approx(1.0)
    greedy = flow([1e6] * 200 + [0.0] * 100, stop_s=20.0)
    starved = flow([0.0] * 200 + [1e6] * 100, start_s=10.0)
    assert staggered_jain(record(greedy, starved)) == pytest.approx(0.5)
    assert staggered_jain(record(flow([1e6] * 100))) is None


def test_challenge_after_a_time_uses_only_later_records():
    bad_before = record(flow([0.1e6] * 300 + [1e6] * 600, [390.0] * 300 + [25.0] * 600))
    assert challenge_after(bad_before, 30.0, 25.0) == pytest.approx(100.0)
    half = record(flow([1e6] * 300 + [0.5e6] * 600, [25.0] * 300 + [212.5] * 600))
    assert challenge_after(half, 30.0, 25.0) == pytest.approx((0.2 * 50 + 0.2 * 50 + 0.3 * 100) / 0.7)


@pytest.mark.parametrize(("reported", "share"), [(0.981, 0.981), (7, None), ("all", None), (True, None)])
def test_the_share_of_nearest_kinds_is_read_from_the_model(tmp_path, reported, share):
    assert nearest_share(shipped_model()) is None
    model = onnx.load(shipped_model())
    (provenance,) = (entry for entry in model.metadata_props if entry.key == "weir.provenance")
    provenance.value = json.dumps({"muses": {"held_out": {"chosen_among_two_nearest": reported}}})
    onnx.save(model, tmp_path / "mixture.onnx")
    assert nearest_share(tmp_path / "mixture.onnx") == share
