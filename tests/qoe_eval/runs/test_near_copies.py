"""Traces that were made from one capture are not independent."""

import numpy as np
import pytest

from weir_eval.runs.near_copies import near_copies
from weir_traces.schema.scenario import Scenario


def scenario(name, rates_mbps, **link):
    times = np.arange(len(rates_mbps), dtype=float)
    capacity = {
        "times_s": times.tolist(),
        "rates_bps": (1e6 * np.asarray(rates_mbps)).tolist(),
        "period_s": float(len(times)),
    }
    return Scenario.make(name=name, duration_s=30.0, forward={"capacity": capacity, **link}, flows=[{"kind": "rtp"}])


def drive(seed, count=90):
    return np.round(4 * np.exp(np.random.default_rng(seed).normal(0, 0.4, count)), 2)


DERIVED = {
    "the last row differs": [[*drive(1, 28), last] for last in (3.1, 3.3, 3.6)],
    "overlapping windows": [drive(1)[begin : begin + 40] for begin in (0, 10, 20, 30)],
    "scaled": [np.round(factor * drive(1, 40), 2) for factor in (1.0, 1.02, 1.1)],
}


@pytest.mark.parametrize("rates", DERIVED.values(), ids=DERIVED)
def test_files_of_one_capture_count_once(rates):
    found = near_copies([scenario(f"s{index}", some) for index, some in enumerate(rates)])
    assert found == {f"s{index}": "s0" for index in range(1, len(rates))}


def test_separate_captures_and_steps_are_independent():
    assert near_copies([scenario(f"s{seed}", drive(seed)) for seed in range(20)]) == {}
    steps = [scenario("up", [1, 2] * 20), scenario("more", [2, 4] * 20), scenario("once", [4] * 20 + [2] * 20)]
    assert near_copies(steps) == {}


def test_another_kind_of_queue_is_another_path():
    codel = {"queue_discipline": "codel"}
    assert near_copies([scenario("a", drive(1)), scenario("b", drive(1), **codel)]) == {}
