"""Values by run, and the runs that are compared."""

import pytest
from hand_made import run_record

from weir_eval.measures.run_values import common_runs, distinct_runs, mean_over_seeds, run_values


def record(scenario, seed, controller, **metrics):
    return run_record(scenario=scenario, seed=seed, controller=controller, measures=metrics)


def test_runs_that_repeat_others_count_once():
    same = [record("a", seed, name, challenge=70.0 + len(name), loss_ratio=0.0) for seed in (1, 2, 3) for name in "wg"]
    copy = [one.model_copy(update={"scenario": "copy of a"}) for one in same]
    other = [record("b", 1, "w", challenge=71.0, loss_ratio=0.0), record("b", 1, "g", challenge=70.0, loss_ratio=0.1)]
    assert distinct_runs([*same, *copy, *other]) == [*same[:2], *other]
    # One controller's runs differ: the seeds are different runs for all.
    moved = [record("a", seed, "w", challenge=70.0) for seed in (1, 2)]
    moved += [record("a", seed, "g", challenge=60.0 + seed) for seed in (1, 2)]
    assert sorted(map(str, distinct_runs(moved))) == sorted(map(str, moved))


def test_values_are_those_of_a_controller_by_scenario_and_seed():
    records = [
        record("a", 1, "w", challenge=70.0),
        record("a", 2, "w", challenge=None),
        record("a", 1, "g", challenge=1),
    ]
    assert run_values(records, "w", "challenge") == {("a", 1): 70.0}
    assert run_values(records, "w", lambda found: found.seed) == {("a", 1): 1, ("a", 2): 2}


def test_common_runs_ignore_a_controller_that_shares_none_with_those_that_completed_more():
    whole = {("a", 1): 1.0, ("b", 1): 2.0, ("c", 1): 3.0}
    part = {("b", 1): 2.0, ("c", 1): 3.0}
    assert common_runs([part, whole, {}]) == {("b", 1), ("c", 1)}
    assert common_runs([part, whole, {("d", 1): 1.0}]) == {("b", 1), ("c", 1)}


def test_seeds_of_a_scenario_are_averaged():
    assert mean_over_seeds({("a", 1): 1.0, ("b", 1): 5.0, ("a", 2): 2.0}) == pytest.approx({"a": 1.5, "b": 5.0})
