"""The row of a family against scores made by hand."""

import pytest
from records_by_hand import run_record

from weir.qoe_eval.measures.families import family_row


def records(scores, metric="challenge"):
    """Records from controller -> scenario -> values by seed."""
    return [
        run_record(scenario=scenario, controller=controller, seed=seed, measures={metric: value})
        for controller, by_scenario in scores.items()
        for scenario, values in by_scenario.items()
        for seed, value in enumerate(values, start=1)
    ]


def test_the_better_gcc_is_the_rival_and_the_worst_scenario_is_against_gcc_alone():
    row = family_row(
        "x",
        "words",
        records(
            {
                "weir": {"x-a": (90, 92), "x-b": (70, 70)},
                "gcc": {"x-a": (80, 80), "x-b": (74, 74)},
                "gcc-remb": {"x-a": (85, 85), "x-b": (75, 75)},
                "rule": {"x-a": (90, 90), "x-b": (60, 60)},
            }
        ),
    )
    assert (row.name, row.description, row.scenarios, row.better_gcc) == ("x", "words", 2, "gcc-remb")
    assert row.scores == {"weir": 80.5, "gcc": 77, "gcc-remb": 80, "rule": 75}
    assert row.against_gcc.mean == pytest.approx(0.5)
    assert row.against_gcc.ci95 == (None, None)
    assert row.against_rule.mean == pytest.approx(5.5)
    assert (row.worst_score.scenario, row.worst_score.value) == ("x-b", -4)


def test_utilisation_is_a_ratio_of_gccs():
    used = {"weir": {"x-a": (0.4,), "x-b": (0.9,), "x-c": (0.9,)}, "gcc": {"x-a": (0.5,), "x-b": (0.9,), "x-c": (0.0,)}}
    worst = family_row("x", "", records(used, "utilisation")).worst_utilisation
    assert (worst.scenario, worst.value) == ("x-a", pytest.approx(0.8))


def test_what_did_not_run_is_not_there():
    row = family_row("x", "", records({"weir": {"x-a": (90,)}}))
    assert row.scores == {"weir": 90}
    assert (row.better_gcc, row.against_gcc, row.against_rule, row.worst_score) == (None, None, None, None)
