"""Goals on a part of a set's scenarios, against records made by hand."""

from types import SimpleNamespace

import pytest
from hand_made import record
from hand_made_results import results, row

from weir_suites.suites.virtual import MIXTURES
from weir_traces.generate.natural_domain import natural_scenario


def ran(name, metric, own, gcc):
    return [record(name, "weir", **{metric: own}), record(name, "gcc", **{metric: gcc})]


def judged(goal, scenarios, records):
    return row(goal, results({MIXTURES: records}, sets={MIXTURES: SimpleNamespace(missing="", scenarios=scenarios)}))


def test_only_slow_links_count():
    def capacity_bps(scenario):
        return scenario.forward.mean_capacity_bps(scenario.duration_s)

    mixtures = sorted(map(natural_scenario, range(60)), key=capacity_bps)
    slow, fast = mixtures[0], mixtures[-1]
    assert capacity_bps(slow) < 130e3 < capacity_bps(fast)
    found = [*ran(slow.name, "challenge", 60.0, 50.0), *ran(fast.name, "challenge", 50.0, 90.0)]
    gain = judged("slow_weir", [slow, fast], found)
    assert (gain.value, gain.reached, gain.detail) == (10, True, "weir 60.0, gcc 50.0; 1 scenario")
    none = judged("slow_weir", [fast], found)
    assert none.verdict == "not measured: no run has what is measured"


def test_delays_on_slow_links_are_compared_as_ratios():
    found = [
        record(name, controller, network_delay_ms_p95=ms)
        for name, delays in {"a": (300.0, 100.0), "b": (75.0, 100.0)}.items()
        for controller, ms in zip(("weir", "scream"), delays, strict=True)
    ]
    sets = {"slow links": SimpleNamespace(missing="", scenarios=[SimpleNamespace(name=name) for name in "ab"])}
    ratio = row("slow_delay_weir", results({"slow links": found}, sets=sets))
    assert (ratio.value, ratio.reached) == (pytest.approx(1.5), False)
    assert (ratio.figures["a"], ratio.figures["b"]) == (3.0, 0.75)
    assert row("slow_delay_weir-send", results({"slow links": found}, sets=sets)).reached is None


def test_the_worst_path_with_tcp_counts():
    pairs = [("a", 0.02, 0.05), ("b", 0.05, 0.02)]
    found = [one for name, own, gcc in pairs for one in ran(name, "frozen_share", own, gcc)]
    worst = row("deep_tcp_weir", results({"deep queues with TCP": found}))
    assert (worst.value, worst.reached, worst.measured) == (pytest.approx(-0.03), False, "-3.0 points")
