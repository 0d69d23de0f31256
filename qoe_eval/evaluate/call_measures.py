"""Measures of goals on real calls: a controller against others in pairs, calls against replays, the link, and the
estimator's CPU.

A pair is calls on one scenario with one seed, of which the machine disturbed none. Each function returns the measure
of a goal.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir._core import BandwidthEstimator, Model
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir.qoe_eval.call.link_accuracy import link_accuracy, worst
from weir.qoe_eval.call.logs import LINK_LOG
from weir.qoe_eval.evaluate.results import Results, metric, undisturbed
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.measures.statistics import bootstrap_interval
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import CallRecord, RecordType, RunRecord
from weir.qoe_eval.report.goal_table import Bound

BITRATE = "received_bitrate_bps"
NETWORK_DELAY = "network_delay_ms_p95"
FROZEN = "total_freezes_duration_s"
_PACKET_BYTES = 1200
_HEADER_BYTES = 12
_TICKS_PER_SECOND = 1 << 18
_WARM_UP_S = 5
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
    rivals = "the better of " * (len(others) > 1) + " and ".join(others)
    return _of_pairs(pairs, of_means, metric_name, controller, rivals) or _no_pair(results, sets)


def _ratio(own: float, other: float) -> float | None:
    return own / other if other else None


def _less(own: float, other: float) -> float:
    return own - other


ratio = functools.partial(_compared, _ratio)
"""A goal's measure: a controller over the best of others in each pair, of means over the pairs."""
difference = functools.partial(_compared, _less)
"""A goal's measure: a controller less the best of others in each pair, mean over the pairs."""


@goal_measure
def _changed(
    results: Results,
    bound: Bound,
    of_means: Callable[[float, float], float | None],
    metric_name: str,
    changed: str,
    usual: str,
) -> Outcome:
    """Calls of a set against those of another that have the same paths and seeds."""
    found = [
        {(one.controller, one.scenario, one.seed): metric(metric_name)(one) for one in undisturbed(records)}
        for records in (results.calls.get(changed, []), results.calls.get(usual, []))
    ]
    pairs = Pairs([], [], [])
    for key, own in found[0].items():
        other = found[1].get(key)
        if own is not None and other is not None:
            pairs.own.append(own)
            pairs.others.append(other)
            pairs.scenarios.append(key[1])
    return _of_pairs(pairs, of_means, metric_name, changed, usual) or _no_pair(results, (changed, usual))


changed_ratio = functools.partial(_changed, _ratio)
"""A goal's measure: a set over another, as `ratio`."""
changed_difference = functools.partial(_changed, _less)
"""A goal's measure: a set less another, as `difference`."""


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
    The figure `mean_error` is the mean distance over all of them, as a part of the calls' value.

    Args:
        results: of the suite.
        bound: of the goal.
        replays: the set of replays by the set of calls.
        controllers: which.
        name: the metric of calls.
        of_replay: that of replays, where it differs; it gets the record with its series, if they are kept.
        within: of the replays' value.
        or_within: in the metric's unit, near too.
    """
    near: list[str] = []
    far: list[str] = []
    errors: list[float] = []
    for called, replayed in replays.items():
        for controller in controllers:
            calls = [one for one in undisturbed(results.calls.get(called, [])) if one.controller == controller]
            for scenario in dict.fromkeys(one.scenario for one in calls):
                made = {one.seed: one for one in calls if one.scenario == scenario}
                real = _mean(list(made.values()), metric(name))
                runs = [one for one in results.runs(replayed, controller) if one.scenario == scenario]
                runs = [one for one in runs if one.seed in made]
                runs = [results.with_series(one) for one in runs] if of_replay else runs
                simulated = _mean(runs, of_replay or metric(name))
                if real is None or simulated is None:
                    continue
                if real > 0:
                    errors.append(abs(simulated - real) / real)
                show = MEASURES[name].display
                text = f"{controller}, {called}, {scenario}: {show(real)} in calls, {show(simulated)} in replays"
                (near if abs(real - simulated) <= max(within * simulated, or_within) else far).append(text)
    if not near and not far:
        return _no_pair(results, list(replays))
    count = len(near) + len(far)
    more = f"; and {len(far) - _MOST_SHOWN} more" * (len(far) > _MOST_SHOWN)
    mean_error = float(np.mean(errors)) if errors else None
    error = f", mean error {mean_error:.0%}" if mean_error is not None else ""
    shown = f"{len(near)} of {count}{error}. Not near: {'; '.join(far[:_MOST_SHOWN]) or 'none'}{more}"
    return Outcome(len(near) / count, shown, {"near": near, "far": far, "mean_error": mean_error})


@goal_measure
def link_error(results: Results, bound: Bound, *sets: str, of_delay: bool = False) -> Outcome:
    """Bytes that the link carried under a standing queue against the scenario's capacity, or the p95 lateness of its
    packets: worst call.
    """
    records = [one for one in _calls(results, sets) if one.key in results.called]
    if not records:
        return Outcome(reason=results.why_no_pair(sets[0], []))
    settings = [results.called[one.key] for one in records]
    found = worst([link_accuracy(one.out / LINK_LOG, one.scenario) for one in settings])
    carried = None if found.capacity_ratio is None else abs(found.capacity_ratio - 1)
    value, why_none = (
        (found.delay_error_ms_p95, "no call carried packets") if of_delay else (carried, "no call had a standing queue")
    )
    return Outcome(value, f"the worst of {len(records)} calls", reason=why_none if value is None else "")


@goal_measure
def cpu_share(results: Results, bound: Bound, rate_bps: float, *sets: str) -> Outcome:
    """CPU of the estimator on a steady stream, as a share of one core. Only with calls."""
    if not any(results.calls.get(name) for name in sets):
        return Outcome(reason=results.why_no_pair(sets[0], []))
    detail = "the estimator alone on a steady stream, driven from Python, whose own time counts too"
    return Outcome(estimator_cpu_share(results.settings.model, rate_bps), detail)


def estimator_cpu_share(model: Path, rate_bps: float, duration_s: float = 60.0) -> float:
    """CPU time of the estimator on a steady stream of that rate / time of the stream.

    The estimator runs in this process, driven from Python faster than real time; Python's own time counts too, so this
    is an upper bound of the cost in weir-peer.
    """
    loaded = Model(read_bytes(model, LARGEST_MODEL_BYTES))
    estimator = BandwidthEstimator(loaded, start_rate_bps=300_000, max_rate_bps=20_000_000)
    gap_us = round(1e6 * 8 * _PACKET_BYTES / rate_bps)
    started_s = time.process_time()
    for number in range(round((_WARM_UP_S + duration_s) * 1e6 / gap_us)):
        now_us = number * gap_us
        if now_us >= _WARM_UP_S * 1_000_000 > now_us - gap_us:
            started_s = time.process_time()
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=1,
            sequence_number=number & 0xFFFF,
            payload_bytes=_PACKET_BYTES - _HEADER_BYTES,
            abs_send_time=now_us * _TICKS_PER_SECOND // 1_000_000 & 0xFFFFFF,
        )
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(now_us)
    return (time.process_time() - started_s) / duration_s


def _calls(results: Results, sets: Sequence[str]) -> list[CallRecord]:
    return [record for name in sets for record in results.calls.get(name, [])]


def _no_pair(results: Results, sets: Sequence[str]) -> Outcome:
    first = next((name for name in sets if name in results.sets), sets[0])
    return Outcome(reason=results.why_no_pair(first, _calls(results, sets)))


def _of_pairs(
    pairs: Pairs, of_means: Callable[[float, float], float | None], metric_name: str, own_name: str, other_name: str
) -> Outcome | None:
    """The outcome of a function of both means over pairs; None where there is none."""
    means = [sum(values) / len(pairs) for values in (pairs.own, pairs.others)] if len(pairs) else []
    value = of_means(*means) if means else None
    if value is None:
        return None
    own, other = pairs.by_scenario
    low, high = bootstrap_interval(own, other)
    measure = MEASURES[metric_name]
    detail = (
        f"{measure.title} {measure.display(means[0])} with {own_name}, "
        f"{measure.display(means[1])} with {other_name}, means of {len(pairs)} pairs of calls"
    )
    if low is not None:
        detail += f"; difference over {len(own)} paths [{measure.display(low)}, {measure.display(high)}]"
    return Outcome(value, detail, {"own": own.tolist(), "others": other.tolist(), "pairs": len(pairs)})


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
