"""Goals on calls against records made by hand."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hand_made import record, results, row

from weir.qoe_eval.evaluate import call_measures
from weir.qoe_eval.evaluate.call_measures import estimator_cpu_share, pairs_of
from weir.qoe_eval.evaluate.link_accuracy import LinkAccuracy, worst
from weir.traces.schema.scenario import Scenario
from weir.trainer import SHIPPED_MODEL

GOOD = {
    "received_bitrate_bps": 1.4e6, "frames_per_second": 29.0, "network_delay_ms_p95": 90.0,
    "end_to_end_delay_ms_p95": 200.0, "vmaf_mean": 80.0, "vmaf_p5": 60.0,
}  # fmt: skip
PLAIN = GOOD | {
    "received_bitrate_bps": 1.0e6, "frames_per_second": 30.0, "network_delay_ms_p95": 100.0, "vmaf_mean": 70.0,
}  # fmt: skip
MUSES = ("bitrate", "closed", "frame_rate", "delay", "end_to_end", "vmaf", "vmaf_p5")


def call(controller, seed=1, scenario="muses", disturbed=(), **measures):
    return record(scenario, controller, seed, disturbed=disturbed, key=f"{controller}{scenario}{seed}", **measures)


def both(weir, gcc, **more):
    return [call("weir", **weir, **more), call("gcc", **gcc, **more)]


def path(name, rate_bps, seed=1):
    """A call on a link of that rate."""
    capacity = {"times_s": [0.0], "rates_bps": [rate_bps]}
    scenario = Scenario.make(name=name, duration_s=10.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}])
    return SimpleNamespace(scenario=scenario, seed=seed, max_bitrate_bps=2_500_000, out=Path())


CALLED = {name: path(name, rate) for name, rate in (("muses", 1.5e6), ("mahimahi-LTE-driving", 2.4e6))}


def rows(muses=(), mahimahi=(), called=CALLED, **sets):
    found = results(calls={"muses": list(muses), "mahimahi": list(mahimahi), "step": [], **sets}, called=called)
    return lambda name: row(name, found)


def test_better_calls_reach_the_goals_and_worse_ones_do_not():
    better, worse = rows(both(GOOD, PLAIN)), rows(both(PLAIN | {"vmaf_p5": 59.0, "frames_per_second": 20.0}, GOOD))
    assert better("bitrate").value == pytest.approx(1.4)
    assert better("frame_rate").value == pytest.approx(29 / 30)
    assert better("delay").value == pytest.approx(-10)
    assert [better(name).reached for name in MUSES] == [True] * 7
    assert [worse(name).reached for name in MUSES] == [False, False, False, False, True, False, False]


def test_the_gap_between_gcc_and_the_achievable_bitrate():
    found = rows(both(GOOD, PLAIN), both(GOOD, PLAIN, scenario="mahimahi-LTE-driving"))
    assert found("closed").value == pytest.approx(0.8)
    assert found("mahimahi_calls_closed").value == pytest.approx(0.4 / 1.4)
    assert found("lte_bitrate").value == pytest.approx(1.4)
    nothing_left = rows(both(GOOD, PLAIN | {"received_bitrate_bps": 1.5e6}))
    assert nothing_left("closed").verdict == "not measured: GCC leaves nothing to gain"


def test_disturbed_calls_and_calls_without_a_partner_are_not_averaged():
    records = [
        *both(GOOD, PLAIN),
        *both({"received_bitrate_bps": 9e9}, {"received_bitrate_bps": 1.0}, seed=2, disturbed=["short of CPU"]),
        call("weir", 3, received_bitrate_bps=9e9),
    ]
    assert len(pairs_of(records, "received_bitrate_bps")) == 1
    assert rows(records)("bitrate").value == pytest.approx(1.4)
    assert rows(records[2:4])("bitrate").verdict == "not measured: no undisturbed pair of calls: short of CPU"
    assert rows()("bitrate").verdict == "not measured: no complete pair of calls"
    assert rows(called={})("bitrate").verdict.startswith("not measured: no calls were made")


@pytest.mark.parametrize(
    ("weir_s", "gcc_s", "reached", "measured"),
    [(3.0, 10.0, True, "70 %"), (5.0, 10.0, False, "50 %"), (0.0, 0.0, True, "none"), (0.5, 0.0, False, "GCC: none")],
)
def test_time_frozen(weir_s, gcc_s, reached, measured):
    records = both({"total_freezes_duration_s": weir_s}, {"total_freezes_duration_s": gcc_s})
    found = rows(mahimahi=records)("frozen")
    assert (found.reached, found.measured, found.figures["path_s"]) == (reached, measured, 0)


def test_the_link_is_judged_by_its_worst_call(monkeypatch):
    accuracies = {"a": LinkAccuracy(1.01, 0.2), "b": LinkAccuracy(0.97, 1.9), "c": LinkAccuracy(None, None)}
    assert worst(list(accuracies.values())) == LinkAccuracy(0.97, 1.9)
    assert worst([]) == LinkAccuracy(None, None)
    monkeypatch.setattr(call_measures, "link_accuracy", lambda log, scenario: accuracies[scenario.name])
    called = {name: path(name, 1e6) for name in accuracies}
    records = [record(name, "weir", key=name, disturbed=()) for name in accuracies]
    found = rows(records, called=called)
    assert (found("link_capacity").value, found("link_capacity").reached) == (pytest.approx(0.03), False)
    assert (found("link_delay").value, found("link_delay").reached) == (1.9, True)
    alone = rows(records[2:], called=called)
    assert alone("link_capacity").verdict == "not measured: no call had a standing queue"


def measures(rate, delay):
    return {"receive_rate_bps": rate, "network_delay_ms_p95": delay}


def replay(scenario, controller, rate, delay):
    return record(scenario, controller, flow={"one_way_delay_ms": {"p95": delay}}, receive_rate_bps=rate)


def test_calls_against_replays_are_judged_by_the_larger_deviation():
    name = "muses-cross-traffic"
    calls = [
        call("weir", seed, name, **measures(rate, delay)) for seed, rate, delay in ((1, 1e6, 100.0), (2, 1.2e6, 110.0))
    ]
    calls += [call("weir", 3, name, disturbed=["x"], **measures(9e9, 9e9)), call("gcc", 1, name, **measures(9e9, 9e9))]
    found = results({"calls, replayed": [replay(name, "weir", 1e6, 120.0)]}, calls={"muses": calls}, called=CALLED)
    near = row(f"sim_to_real_{name}", found)
    assert near.figures == {"rate_ratio": pytest.approx(1.1), "delay_ratio": pytest.approx(105 / 120)}
    assert (near.value, near.reached) == (pytest.approx(0.125), True)
    assert row("sim_to_real_step-down-up", found).reached is None


def family_rows(records, replays=(), names=("one", "other")):
    sets = {"family calls": SimpleNamespace(missing="", scenarios=[SimpleNamespace(name=name) for name in names])}
    found = results(
        {"family calls, replayed": list(replays)}, sets=sets, calls={"family calls": records}, called=CALLED
    )
    return lambda name: row(name, found)


def family_call(scenario, controller, bitrate=2e6, vmaf=90.0, frozen=0.0, disturbed=()):
    of = {"received_bitrate_bps": bitrate, "vmaf_mean": vmaf, "total_freezes_duration_s": frozen}
    return call(controller, 1, scenario, disturbed, **of, **measures(2.2e6, 80.0))


def test_the_worst_scenario_decides_against_gcc():
    found = family_rows([
        family_call("one", "weir", bitrate=2.2e6), family_call("one", "gcc"),
        family_call("other", "weir", bitrate=1.8e6, vmaf=91.0, frozen=0.5), family_call("other", "gcc"),
    ])  # fmt: skip
    bitrate, vmaf, frozen = (found(f"calls_640x360_{name}") for name in ("bitrate", "vmaf", "frozen"))
    assert (bitrate.value, bitrate.reached) == (pytest.approx(0.9), False)
    assert bitrate.detail.startswith("1 of 2 miss it. other 0.90 times: 1.8e+06 and 2e+06 (1 pair); one 1.10 times")
    assert (vmaf.value, vmaf.reached) == (0.0, True)
    assert (frozen.value, frozen.measured, frozen.reached) == (0.5, "+0.50 s", False)


def test_pairs_that_were_disturbed_leave_a_goal_open_unless_another_misses_it():
    good = [family_call("one", "weir"), family_call("one", "gcc")]
    disturbed = [family_call("other", "weir", disturbed=["late"]), family_call("other", "gcc")]
    found = family_rows(good + disturbed)("calls_640x360_bitrate")
    assert found.verdict == "not decided: other: no undisturbed pair of calls: late"
    worse = [family_call("one", "weir", bitrate=1e6), family_call("one", "gcc")]
    assert family_rows(worse + disturbed)("calls_640x360_bitrate").reached is False
    assert family_rows(disturbed)("calls_640x360_vmaf").verdict == "not measured: no undisturbed pair of calls: late"


def test_families_called_against_their_replays_controller_by_controller():
    calls = [family_call(name, controller) for name in ("one", "other") for controller in ("weir", "gcc")]
    replays = [
        replay("one", "weir", 2.2e6, 80.0), replay("other", "weir", 2.0e6, 100.0),
        replay("one", "gcc", 2.2e6, 60.0), replay("other", "gcc", 2.2e6, 80.0),
    ]  # fmt: skip
    found = family_rows(calls, replays)
    values = [found(f"sim_to_real_{one}").value for one in ("weir_rate", "weir_delay", "gcc_rate", "gcc_delay")]
    assert values == pytest.approx([0.1, 0.2, 0.0, 1 / 3])
    assert "other 20 %: receive rate 2200 kbps in the call, 2000" in found("sim_to_real_weir_delay").detail


def test_the_estimators_cpu_is_a_small_share_of_a_core():
    assert 0 < estimator_cpu_share(SHIPPED_MODEL, 5e6, duration_s=2.0) < 0.5
