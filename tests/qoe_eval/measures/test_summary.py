"""Summaries, and the row of a family, against scores made by hand."""

import json

import pytest
from hand_made import run_record

from weir_eval.measures.families import family_row
from weir_eval.measures.summary import ordered_controllers, summarise
from weir_eval.measures.table import MEASURES
from weir_eval.records.summary import RunAbout, Summary
from weir_eval.report.sections.controllers import delay_throughput


def result(scenario, controller, seed, **values):
    measures = dict.fromkeys(MEASURES.of("replay")) | values
    return run_record(scenario=scenario, controller=controller, seed=seed, measures=measures)


@pytest.fixture
def summary():
    scores = {
        ("a", "weir"): (80, 82), ("a", "gcc"): (70, 70), ("b", "weir"): (60, 60), ("b", "gcc"): (65, 61),
    }  # fmt: skip
    results = [
        result(scenario, controller, seed, challenge=value, loss_ratio=0.01 * seed)
        for (scenario, controller), row in scores.items()
        for seed, value in enumerate(row, start=1)
    ]
    return summarise(results, RunAbout(command="weir replay"))


def test_controllers(summary):
    weir = summary.controllers["weir"]["challenge"]
    assert weir.mean == pytest.approx(70.5)
    assert weir.worst == 60
    assert (weir.p5, weir.p95) == pytest.approx((60.0, 81.7))
    assert summary.controllers["gcc"]["loss_ratio"].worst == pytest.approx(0.02)


def test_scenarios_are_means_over_seeds(summary):
    assert summary.scenarios["a"]["weir"]["challenge"] == pytest.approx(81)
    assert summary.scenarios["b"]["gcc"] == pytest.approx({"challenge": 63, "loss_ratio": 0.015})


def test_paired_rows(summary):
    (row,) = [row for row in summary.paired if row.metric == "challenge"]
    assert (row.a, row.b, row.wins, row.losses, row.independent, row.n) == ("weir", "gcc", 1, 1, 2, 4)
    assert row.mean == pytest.approx((11 - 3) / 2)
    assert row.ci95 == (None, None)


def test_what_no_run_defines_is_absent_and_the_rest_is_json(summary):
    assert "jain_index" not in summary.controllers["weir"]
    written = json.loads(summary.text())
    assert written["schema"] == "weir.summary/1"
    assert written["run"] == {"command": "weir replay", "reference": "gcc"}
    assert {
        "a",
        "b",
        "metric",
        "mean",
        "ci95",
        "wins",
        "losses",
        "n",
        "independent",
        "agreeing",
        "opposing",
        "median",
    } == written["paired"][0].keys()
    spread = written["controllers"]["gcc"]["challenge"]
    assert {"mean", "p5", "p95", "worst", "ci95", "n", "independent"} == spread.keys()
    assert Summary.model_validate(written) == summary


def test_one_controller_is_compared_with_none():
    assert summarise([result("a", "gcc", 1, challenge=50)], RunAbout()).paired == []
    assert summarise([], RunAbout()).controllers == {}


def test_order_of_controllers():
    assert ordered_controllers(["rule", "zebra", "gcc", "weir", "gcc"]) == ["weir", "gcc", "rule", "zebra"]


def records_of(scores, metric="challenge"):
    """Records from controller -> scenario -> values by seed."""
    return [
        run_record(scenario=scenario, controller=controller, seed=seed, measures={metric: value})
        for controller, by_scenario in scores.items()
        for scenario, values in by_scenario.items()
        for seed, value in enumerate(values, start=1)
    ]


def test_the_better_of_libwebrtcs_is_the_rival_and_of_the_worst_scenario_the_better_there():
    row = family_row(
        "route",
        "filler",
        records_of(
            {
                "weir": {"x-a": (90, 92), "x-b": (70, 70)},
                "gcc": {"x-a": (80, 80), "x-b": (76, 76)},
                "scream": {"x-a": (85, 85), "x-b": (75, 75)},
                "gcc-remb": {"x-a": (99, 99), "x-b": (99, 99)},
                "rule": {"x-a": (90, 90), "x-b": (60, 60)},
            }
        ),
        "weir",
    )
    assert (row.name, row.media, row.description) == ("route", "filler", "The base delay changes")
    assert (row.scenarios, row.better) == (2, "scream")
    assert row.scores == {"weir": 80.5, "gcc": 78, "scream": 80, "gcc-remb": 99, "rule": 75}
    assert row.against_better.mean == pytest.approx(0.5)
    assert row.against_better.ci95 == (None, None)
    assert row.against_rule.mean == pytest.approx(5.5)
    assert (row.worst_score.scenario, row.worst_score.value) == ("x-b", -6)


def test_utilisation_is_a_ratio_of_gccs():
    used = {"weir": {"x-a": (0.4,), "x-b": (0.9,), "x-c": (0.9,)}, "gcc": {"x-a": (0.5,), "x-b": (0.9,), "x-c": (0.0,)}}
    worst = family_row("route", "video", records_of(used, "utilisation"), "weir").worst_utilisation
    assert (worst.scenario, worst.value) == ("x-a", pytest.approx(0.8))


def test_what_did_not_run_is_not_there():
    row = family_row("route", "video", records_of({"weir": {"x-a": (90,)}}), "weir")
    assert row.scores == {"weir": 90}
    assert (row.better, row.against_better, row.against_rule, row.worst_score) == (None, None, None, None)


def test_means_are_over_the_runs_that_every_controller_has():
    scores = {"weir": {"easy": 90, "hard": 50}, "gcc": {"easy": 80, "hard": 40}, "dies": {"easy": 82.5}}
    results = [result(scenario, name, 1, challenge=score, utility=None if name == "dies" else score)
               for name, by in scores.items() for scenario, score in by.items()]  # fmt: skip
    found = summarise(results, RunAbout())
    assert {name: spread["challenge"].mean for name, spread in found.controllers.items()} == {
        "weir": 90, "gcc": 80, "dies": 82.5,
    }  # fmt: skip
    assert {spread["challenge"].n for spread in found.controllers.values()} == {1}
    assert found.completed == {"weir": 2, "gcc": 2, "dies": 1}
    # A measure that a controller never has takes no run from the others.
    assert found.controllers["weir"]["utility"].mean == 70
    rows = [row for row in found.paired if (row.b, row.metric) == ("gcc", "challenge")]
    assert {row.a: row.n for row in rows} == {"weir": 2, "dies": 1}


def test_a_controller_without_a_common_run_takes_none_from_the_others():
    """Nor does one of two that fail where the other does not bring the runs of the other alone back."""
    scores = {"weir": {"easy": 90, "hard": 50}, "dies": {"easy": 95}, "spoils": {"hard": 99}}
    results = [
        result(scenario, name, 1, challenge=score) for name, by in scores.items() for scenario, score in by.items()
    ]
    found = summarise(results, RunAbout())
    means = {name: spread["challenge"].mean for name, spread in found.controllers.items() if "challenge" in spread}
    assert means == {"weir": 90, "dies": 95}
    measured = {"utilisation": 0.5, "p95_queueing_delay_ms": 20.0}
    charted = summarise([result(one.scenario, one.controller, 1, **measured) for one in results], RunAbout())
    points = delay_throughput(charted, "").blocks[1].data["points"]
    assert [one["controller"] for one in points] == ["weir", "dies"]


def test_scores_of_a_family_are_over_the_scenarios_that_all_have():
    row = family_row(
        "route", "video", records_of({"weir": {"x-a": (90,), "x-b": (50,)}, "dies": {"x-a": (80,)}}), "weir"
    )
    assert row.scores == {"weir": 90, "dies": 80}


def test_near_copies_of_a_path_count_once():
    results = [
        result(f"p{i}", name, 1, challenge=score + i) for i in range(30) for name, score in (("weir", 50), ("gcc", 40))
    ]
    assert summarise(results, RunAbout()).controllers["weir"]["challenge"].independent == 30
    found = summarise(results, RunAbout(near_copies={f"p{i}": "p0" for i in range(1, 30)}))
    spread, (row,) = found.controllers["weir"]["challenge"], [row for row in found.paired if row.metric == "challenge"]
    assert (spread.n, spread.independent, spread.ci95) == (30, 1, (None, None))
    assert (row.n, row.independent, row.wins, row.ci95) == (30, 1, 1, (None, None))
