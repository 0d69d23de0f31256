"""The error of arrival statistics: of series made by hand, and of runs whose truth is known."""

import numpy as np
import pytest

from weir.errors import InputError
from weir.executables import find_simulator
from weir.qoe_eval.experiments.robust.arrival_truth import (
    CONTROLLERS,
    FAMILIES,
    arrival_truth,
    arrival_truth_jobs,
    interval_errors,
)
from weir.qoe_eval.runs.simulator import run_jobs
from weir.qoe_eval.runs.simulator_worker import Outcome, SimulatorFailed
from weir.traces.schema.scenario import Scenario


def record(estimated, true, base_error):
    series = {
        "interval_s": 0.2,
        "queueing_delay_mean_ms": estimated,
        "queueing_delay_min_ms": [None if value is None else value - 1 for value in estimated],
        "true_queueing_delay_mean_ms": true,
        "true_queueing_delay_min_ms": true,
        "base_delay_error_mean_ms": base_error,
        "loss_at_short_queue_10s": [None if value is None else 0.05 for value in estimated],
        "true_random_loss_10s": [None if value is None else 0.02 for value in estimated],
    }
    flow = {"id": "media", "packets_sent": 100, "packets_lost_by_cause": {"chance": 2, "policer": 0, "queue": 5}}
    return {"scenario": "by hand", "flows": [flow | {"series": {"arrival_statistics": series}}]}


def outcome(family="route", **series):
    return Outcome({"family": family, "controller": "rule", "name": "by hand"}, record=record(**series))


def test_errors_are_estimate_less_truth_where_something_arrived():
    errors = interval_errors(record([10.0, None, 50.0], [0.0, None, 60.0], [-10.0, None, 10.0]))
    np.testing.assert_allclose(errors, [[10, 9, -10, 0.03], [-10, -11, 10, 0.03]])


def test_a_flow_without_an_estimator_has_no_error():
    with pytest.raises(InputError, match="by hand, flow media"):
        interval_errors({"scenario": "by hand", "flows": [{"id": "media", "series": {}}]})


def test_rows_pool_the_intervals_of_all_runs():
    rows = arrival_truth(
        [
            outcome(estimated=[20.0] * 6, true=[0.0] * 6, base_error=[-20.0] * 6),
            outcome(estimated=[0.0] * 4, true=[17.0] * 4, base_error=[17.0] * 4),
            outcome("as drawn", estimated=[3.0], true=[2.0], base_error=[0.5]),
        ]
    )
    assert [row.family for row in rows] == ["as drawn", "route"]
    row = rows[1]
    assert (row.intervals, row.mean_over, row.mean_under) == (10, 0.6, 0.4)
    assert (row.min_over, row.min_under) == (0.6, 0.4)
    assert row.mean_error_p50_ms == pytest.approx(20)
    assert row.base_error_p95_ms == pytest.approx(20)
    assert (row.lost_by_chance, row.lost_by_policer, row.lost_by_queue) == (0.02, 0, 0.05)
    assert (row.loss_error_p95, row.loss_error_mean) == (pytest.approx(0.03), pytest.approx(0.03))
    assert rows[0].base_error_p50_ms == pytest.approx(0.5)


def test_a_failed_run_is_no_row():
    failed = Outcome({"family": "route", "controller": "rule", "name": "that one"}, error="it broke")
    with pytest.raises(SimulatorFailed, match="that one: it broke"):
        arrival_truth([failed])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_a_scenario_and_the_same_again(family):
    first, again = (list(arrival_truth_jobs(3, ["rule"], [family], None)) for _ in range(2))
    assert first == again
    assert len(first) == 3
    for job in first:
        Scenario.from_dict(job["scenario"])


def test_packets_do_not_depend_on_the_estimator_under_a_controller_that_measures_by_itself():
    assert CONTROLLERS[0] == "gcc-remb"
    jobs = list(arrival_truth_jobs(2, ["gcc-remb"], ["as drawn", "jitter"], None))
    rows = arrival_truth(run_jobs(find_simulator(), jobs, 1, 60.0))
    assert [row.family for row in rows] == ["as drawn", "jitter"]
    for row in rows:
        assert 400 < row.intervals <= 600
        assert 0 <= row.base_error_p50_ms < 40
    # Jitter of 10 to 40 ms is in the mean of delays, whatever stands for the path.
    assert rows[1].mean_error_p50_ms > rows[1].min_error_p50_ms
