"""Goals on calls against records made by hand."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hand_made import record
from hand_made_results import GOALS as GOAL
from hand_made_results import results, row

from weir_sim.installed import shipped_model
from weir_suites.call_measures import estimator_cpu_share

pytest.importorskip("weir_calls")
from weir_calls.call.link_accuracy import LinkAccuracy, worst

GOOD = {
    "received_bitrate_bps": 1.4e6, "network_delay_ms_p95": 90.0, "end_to_end_delay_ms_p95": 200.0, "vmaf_mean": 80.0,
    "frozen_share": 0.01, "call_score": 70.0,
}  # fmt: skip
PLAIN = GOOD | {"received_bitrate_bps": 1.0e6, "network_delay_ms_p95": 100.0, "vmaf_mean": 70.0, "call_score": 60.0}
ONE = {"key": None}
GOALS = ("bitrate", "network", "frozen", "end_to_end", "vmaf")


def call(controller, seed=1, scenario="steps", disturbed=(), **measures):
    return record(scenario, controller, seed, disturbed=disturbed, key=f"{controller}{scenario}{seed}", **measures)


def both(weir, gcc, **more):
    return [call("weir", **weir, **more), call("gcc", **gcc, **more)]


def rows(cellular=(), called=ONE, **sets):
    calls = {"cellular": list(cellular), "cellular, 720p": [], "impaired": [], "native": [], "muses": []} | sets
    found = results(calls=calls, called=called)
    return lambda name: row(name, found)


def test_better_calls_reach_the_goals_and_worse_ones_do_not():
    better, worse = rows(both(GOOD, PLAIN)), rows(both(PLAIN | {"frozen_share": 0.011}, GOOD))
    assert better("gcc_bitrate").value == pytest.approx(1.4)
    assert better("gcc_network").value == pytest.approx(0.9)
    assert better("gcc_vmaf").value == pytest.approx(10)
    assert [better(f"gcc_{name}").reached for name in GOALS] == [True] * 5
    assert [worse(f"gcc_{name}").reached for name in GOALS] == [False, False, False, True, False]
    assert worse("gcc_frozen").measured == "+0.10 points"


def test_disturbed_calls_and_calls_without_a_partner_are_not_averaged():
    records = [
        *both(GOOD, PLAIN),
        *both({"received_bitrate_bps": 9e9}, {"received_bitrate_bps": 1.0}, seed=2, disturbed=["short of CPU"]),
        call("weir", 3, received_bitrate_bps=9e9),
    ]
    found = rows(records)("gcc_bitrate")
    assert (found.value, found.figures["n"]) == (pytest.approx(1.4), 1)
    assert rows(records[2:4])("gcc_bitrate").verdict == "not measured: no undisturbed pair of calls: short of CPU"
    assert rows()("gcc_bitrate").verdict == "not measured: no complete pair of calls"
    assert rows(called={})("gcc_bitrate").verdict.startswith("not measured: no calls were made")


def test_the_better_of_both_is_chosen_in_each_measure_and_pair():
    def three(seed, weir, gcc, scream, scenario="steps"):
        values = {"weir": weir, "gcc": gcc, "scream": scream}
        return [call(one, seed, scenario, frozen_share=x, received_bitrate_bps=1e6 * x) for one, x in values.items()]

    records = [*three(1, 3.0, 2.0, 4.0), *three(2, 3.0, 5.0, 4.0), *three(1, 2.0, 2.0, 2.0, "outage")]
    found = rows(impaired=records)
    rows_of_calls = GOAL["impaired_frozen"].measure.rows(results(calls={"impaired": records}))
    assert rows_of_calls.columns == ([3.0, 3.0, 2.0], [2.0, 4.0, 2.0])
    # Seeds of a scenario are one path, which the interval counts once.
    assert rows_of_calls.paths == ["steps", "steps", "outage"]
    assert found("impaired_frozen").value == pytest.approx(0)
    assert found("impaired_bitrate").value == pytest.approx(8 / 11)
    # Without one of them there is no pair.
    assert rows(impaired=records[:2])("impaired_frozen").verdict == "not measured: no complete pair of calls"


def test_an_interval_needs_enough_paths():
    few = rows(both(GOOD, PLAIN))("gcc_vmaf")
    many = rows([x for n in range(8) for x in both(GOOD | {"vmaf_mean": 80.0 + n}, PLAIN, scenario=f"path-{n}")])
    assert "interval" not in few.detail
    assert "interval of the difference over 8 paths" in many("gcc_vmaf").detail


def test_slow_decisions_are_compared_with_the_same_calls_at_once():
    def slow(**more):
        return rows(**{"slow decisions, 0 ms": [call("weir", **GOOD), call("weir", 2, **GOOD)]} | more)

    delayed = GOOD | {"received_bitrate_bps": 1.33e6, "end_to_end_delay_ms_p95": 207.0}
    found = slow(
        **{"slow decisions, 30 ms": [call("weir", **GOOD), call("weir", 2, **delayed), call("weir", 3, **PLAIN)]}
    )
    assert found("slow_bitrate").value == pytest.approx(2.73 / 2.8)
    assert found("slow_end_to_end").value == pytest.approx(407 / 400)
    assert found("slow_bitrate").reached
    assert found("slow_bitrate").figures["n"] == 2
    worse = slow(**{"slow decisions, 30 ms": [call("weir", **PLAIN | {"end_to_end_delay_ms_p95": 300.0})]})
    assert [worse(name).reached for name in ("slow_bitrate", "slow_end_to_end")] == [False, False]
    disturbed = slow(**{"slow decisions, 30 ms": [call("weir", disturbed=["short of CPU"], **GOOD)]})
    assert disturbed("slow_bitrate").verdict == "not measured: no undisturbed pair of calls: short of CPU"


def test_the_score_of_a_call_counts_pairs():
    def scores(seed, weir, gcc, scream):
        return [
            call(one, seed, call_score=value)
            for one, value in (("weir", weir), ("gcc", gcc), ("scream", scream))
        ]  # fmt: skip

    found = rows([*scores(1, 50.0, 50.0, 40.0), *scores(2, 50.0, 40.0, 51.0)])("call_score")
    assert (found.value, found.reached, found.detail) == (
        0.5,
        False,
        "weir 50.0, gcc 45.0, scream 45.5; 2 calls; lowest cellular, steps, seed 2 -1",
    )


def test_the_link_is_judged_by_its_worst_call(monkeypatch):
    accuracies = {"a": LinkAccuracy(1.01, 0.2), "b": LinkAccuracy(0.97, 1.9), "c": LinkAccuracy(None, None)}
    assert worst(list(accuracies.values())) == LinkAccuracy(0.97, 1.9)
    assert worst([]) == LinkAccuracy(None, None)
    monkeypatch.setattr("weir_calls.call.link_accuracy.link_accuracy", lambda log, scenario: accuracies[scenario.name])
    called = {name: SimpleNamespace(scenario=SimpleNamespace(name=name), out=Path()) for name in accuracies}
    records = [record(name, "weir", key=name, disturbed=()) for name in accuracies]
    found = rows(records, called=called)
    assert (found("link_capacity").value, found("link_capacity").reached) == (pytest.approx(0.03), False)
    assert (found("link_delay").value, found("link_delay").reached) == (1.9, True)
    alone = rows(records[2:], called=called)
    assert alone("link_capacity").verdict == "not measured: no call had a standing queue"


def test_the_estimators_cpu_is_a_small_share_of_a_core():
    assert 0 < estimator_cpu_share(shipped_model(), 5e6, duration_s=2.0) < 0.5
