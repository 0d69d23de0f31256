"""Measures of goals on real calls: a controller against others in pairs, and calls against replays.

A pair is calls on one scenario with one seed, of which the machine disturbed none. Each function returns the measure
of a goal.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weir.qoe_eval.evaluate.results import Results, metric, undisturbed
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.measures.statistics import bootstrap_interval
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import CallRecord, RecordType, RunRecord
from weir.qoe_eval.report.goal_table import Bound

BITRATE = "received_bitrate_bps"
NETWORK_DELAY = "network_delay_ms_p95"
FROZEN = "total_freezes_duration_s"
_MOST_SHOWN = 6


@dataclass(frozen=True)
class Pairs:
    """A measure of a controller's calls, and the best of others' calls, paired by scenario and seed."""

    own: list[float]
    others: list[float]
    scenarios: list[str]

    def __len__(self) -> int:
        return len(self.own)

    @property
    def by_scenario(self) -> tuple[np.ndarray, np.ndarray]:
        """Means over the seeds, of own and of others: scenarios are independent, seeds of one are less so."""
        names = list(dict.fromkeys(self.scenarios))
        chosen = [[index for index, name in enumerate(self.scenarios) if name == one] for one in names]
        own, others = np.array(self.own), np.array(self.others)
        return np.array([own[one].mean() for one in chosen]), np.array([others[one].mean() for one in chosen])


def pairs_of(records: Sequence[CallRecord], name: str, own: str = "weir", others: Sequence[str] = ("gcc",)) -> Pairs:
    """The undisturbed pairs in which all calls define a metric."""
    by = {(record.controller, record.scenario, record.seed): metric(name)(record) for record in undisturbed(records)}
    pairs = Pairs([], [], [])
    for (controller, scenario, seed), value in by.items():
        rivals = [by.get((other, scenario, seed)) for other in others]
        known = [rival for rival in rivals if rival is not None]
        if controller == own and value is not None and len(known) == len(others):
            pairs.own.append(value)
            pairs.others.append(MEASURES[name].best(known))
            pairs.scenarios.append(scenario)
    return pairs


@goal_measure
def _compared(
    results: Results,
    bound: Bound,
    of_means: Callable[[float, float], float | None],
    metric_name: str,
    *sets: str,
    controller: str = "weir",
    others: Sequence[str] = ("gcc",),
) -> Outcome:
    """A controller against the best of others in each pair, by a function of both means over the pairs."""
    pairs = _pairs(results, sets, metric_name, controller, others)
    means = [sum(values) / len(pairs) for values in (pairs.own, pairs.others)] if len(pairs) else []
    value = of_means(*means) if means else None
    if value is None:
        return _no_pair(results, sets)
    own, other = pairs.by_scenario
    low, high = bootstrap_interval(own, other)
    measure, rivals = MEASURES[metric_name], "the better of " * (len(others) > 1) + " and ".join(others)
    detail = (
        f"{measure.title} {measure.display(means[0])} with {controller}, "
        f"{measure.display(means[1])} with {rivals}, means of {len(pairs)} pairs of calls"
    )
    if low is not None:
        detail += f"; difference over {len(own)} paths [{measure.display(low)}, {measure.display(high)}]"
    return Outcome(value, detail, {"own": own.tolist(), "others": other.tolist(), "pairs": len(pairs)})


def _ratio(own: float, other: float) -> float | None:
    return own / other if other else None


ratio = functools.partial(_compared, _ratio)
"""A goal's measure: a controller over the best of others in each pair, of means over the pairs."""
difference = functools.partial(_compared, lambda own, other: own - other)
"""A goal's measure: a controller less the best of others in each pair, mean over the pairs."""


@goal_measure
def share_better(
    results: Results, bound: Bound, metric_name: str, *sets: str, controller: str = "weir", others: Sequence[str]
) -> Outcome:
    """Share of the pairs in which a controller is at least as good as the best of others."""
    pairs = _pairs(results, sets, metric_name, controller, others)
    if not len(pairs):
        return _no_pair(results, sets)
    measure = MEASURES[metric_name]
    good = [measure.best((own, other)) == own for own, other in zip(pairs.own, pairs.others, strict=True)]
    return Outcome(sum(good) / len(good), f"{sum(good)} of {len(good)} pairs")


@goal_measure
def near_replays(
    results: Results,
    bound: Bound,
    replays: Mapping[str, str],
    controllers: Sequence[str],
    name: str,
    of_replay: Callable[[RunRecord], float | None] | None = None,
    *,
    within: float,
    or_within: float = 0.0,
) -> Outcome:
    """Share of paths and controllers whose calls are near their replays in a metric, both means over the same seeds.

    Args:
        results: of the suite.
        bound: of the goal.
        replays: the set of replays by the set of calls.
        controllers: which.
        name: the metric of calls.
        of_replay: that of replays, where it differs.
        within: of the replays' value.
        or_within: in the metric's unit, near too.
    """
    near: list[str] = []
    far: list[str] = []
    for called, replayed in replays.items():
        for controller in controllers:
            calls = [one for one in undisturbed(results.calls.get(called, [])) if one.controller == controller]
            for scenario in dict.fromkeys(one.scenario for one in calls):
                made = {one.seed: one for one in calls if one.scenario == scenario}
                real = _mean(list(made.values()), metric(name))
                runs = [one for one in results.runs(replayed, controller) if one.scenario == scenario]
                runs = [one for one in runs if one.seed in made]
                simulated = _mean(runs, of_replay or metric(name))
                if real is None or simulated is None:
                    continue
                show = MEASURES[name].display
                text = f"{controller}, {called}, {scenario}: {show(real)} in calls, {show(simulated)} in replays"
                (near if abs(real - simulated) <= max(within * simulated, or_within) else far).append(text)
    if not near and not far:
        return _no_pair(results, list(replays))
    count = len(near) + len(far)
    more = f"; and {len(far) - _MOST_SHOWN} more" * (len(far) > _MOST_SHOWN)
    shown = f"{len(near)} of {count}. Not near: {'; '.join(far[:_MOST_SHOWN]) or 'none'}{more}"
    return Outcome(len(near) / count, shown, {"near": near, "far": far})


def _calls(results: Results, sets: Sequence[str]) -> list[CallRecord]:
    return [record for name in sets for record in results.calls.get(name, [])]


def _no_pair(results: Results, sets: Sequence[str]) -> Outcome:
    first = next((name for name in sets if name in results.sets), sets[0])
    return Outcome(reason=results.why_no_pair(first, _calls(results, sets)))


def _pairs(results: Results, sets: Sequence[str], name: str, controller: str, others: Sequence[str]) -> Pairs:
    """The pairs of several sets; a scenario of two sets, as at two sizes, is one scenario."""
    pairs = Pairs([], [], [])
    for one in sets:
        found = pairs_of(results.calls.get(one, []), name, controller, others)
        pairs.own.extend(found.own)
        pairs.others.extend(found.others)
        pairs.scenarios.extend(found.scenarios)
    return pairs


def _mean(records: Sequence[RecordType], of_record: Callable[[RecordType], float | None]) -> float | None:
    values = [value for record in records if (value := of_record(record)) is not None]
    return sum(values) / len(values) if values else None
