"""The error of simulated calls beside the scatter of real ones, on records made by hand."""

import pytest
from hand_made import record
from hand_made_results import results

from weir_eval.report.goal_table import Bound
from weir_suites.call_measures import PathErrors, SimulatedSet, error_over_scatter

RATE = "receive_rate_bps"


def test_the_error_is_against_the_mean_and_the_scatter_against_the_others():
    errors = PathErrors.of("steps", [90.0, 110.0, 100.0], [120.0], relative=True)
    assert errors.simulated == pytest.approx(0.2)
    assert errors.real == pytest.approx((15 + 15 + 0) / 3 / 100)
    assert PathErrors.of("steps", [1.0, 3.0], [2.5], relative=False).simulated == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("real", "simulated"), [([100.0], [100.0]), ([], [1.0]), ([1.0, 2.0], []), ([0.0, 0.0], [1.0])]
)
def test_a_path_that_cannot_be_compared_has_no_errors(real, simulated):
    assert PathErrors.of("steps", real, simulated, relative=True) is None


def test_disturbed_calls_do_not_count():
    calls = [
        record("steps", "gcc", seed, key=f"{seed}", disturbed=disturbed, **{RATE: rate})
        for seed, rate, disturbed in ((1, 90.0, ()), (2, 110.0, ()), (3, 900.0, ("busy",)))
    ]
    run = record("steps", "gcc", 1, **{RATE: 120.0})
    found = results({"virtual": [run]}, calls={"native": calls}, called={"key": None})
    sets = [SimulatedSet("native", "virtual", "gcc")]
    outcome = error_over_scatter(found, Bound("at most", 1.0, "times"), sets=sets, metric=RATE, relative=True)
    assert outcome.value == pytest.approx(0.2 / 0.2)
    assert outcome.figures["paths"] == [{"name": "gcc, native, steps", "simulated": 0.2, "real": 0.2}]
