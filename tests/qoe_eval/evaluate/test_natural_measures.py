"""Goals on a part of a set's scenarios, against records made by hand."""

from types import SimpleNamespace

import pytest
from hand_made import record, results, row

from weir.qoe_eval.evaluate.suites.virtual import MIXTURES
from weir.traces.generate.natural_domain import natural_scenario, troubles_of


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
    assert (gain.value, gain.reached, gain.detail) == (10, True, "weir 60.0, gcc 50.0; 1 scenarios")
    none = judged("slow_weir", [fast], found)
    assert none.verdict == "not measured: no pair of runs completed"


def test_only_deep_queues_that_tcp_fills_count():
    def is_shared(seed):
        troubles = troubles_of(seed)
        return "queue-deep" in troubles and bool({"tcp-joins", "tcp-before"} & set(troubles))

    shared = natural_scenario(next(filter(is_shared, range(300))))
    alone = natural_scenario(next(seed for seed in range(300) if troubles_of(seed) == ["queue-deep"]))
    found = [*ran(shared.name, "frozen_share", 0.05, 0.02), *ran(alone.name, "frozen_share", 0.9, 0.1)]
    gain = judged("deep_tcp_weir", [shared, alone], found)
    assert (gain.value, gain.reached) == (pytest.approx(-0.03), False)
    assert gain.measured == "-3.0 points"
