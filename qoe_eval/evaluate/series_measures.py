"""Measures of goals on the behaviour over time: start, changes of the path, sharing, feedback, recovery, noise.

Over several scenarios a goal is decided by their mean where it names a strength (`5 % of loss`), and by the worst of
them where it names the worst, longest or largest. `goal_measure` turns each function into a factory of a
goal's measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import mean

from weir.qoe_eval.evaluate import series_functions as functions
from weir.qoe_eval.evaluate.results import Results, RunMeasure, metric
from weir.qoe_eval.evaluate.scenario_sets import of_media
from weir.qoe_eval.evaluate.scenarios import HALVED_AT_S, START_BPS
from weir.qoe_eval.evaluate.score_measures import ALL
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.measures.fairness import settled_media_share
from weir.qoe_eval.records import RunRecord
from weir.qoe_eval.report.goal_table import Bound
from weir.traces.generate.families.path import FAULT_BEGINS_S, FAULT_LENGTHS_S, ROUTE_CHANGES_AT_S, ROUTE_CHANGES_MS
from weir.traces.schema.media import MediaKind

PAIR = ("weir", "gcc")


@goal_measure
def start_time(results: Results, bound: Bound, name: str) -> Outcome:
    """Time from the start until a flow uses the link of START_BPS."""
    found = _each(results, name, lambda one: _of_series(results, one, functions.start_time_s, START_BPS))
    return _time(found, results.why_no_run(name))


@goal_measure
def drain_time(results: Results, bound: Bound, name: str) -> Outcome:
    """Time from the halving of a link until its queue is drained."""

    def drained(run: RunRecord) -> float | None:
        return _of_series(results, run, functions.drain_time_s, run.flows[0].base_one_way_delay_ms, HALVED_AT_S)

    return _time(_each(results, name, drained), results.why_no_run(name))


@goal_measure
def run_mean(results: Results, bound: Bound, name: str, scenario: str, of_run: RunMeasure) -> Outcome:
    """Mean over the runs of one scenario of a measure that needs series."""
    found = {
        controller: [
            of_run(results.with_series(record))
            for record in results.runs(name, controller)
            if record.scenario == scenario
        ]
        for controller in ALL
    }
    means = {one: value for one, values in found.items() if (value := _mean_or_none(values)) is not None}
    if "weir" not in means:
        return Outcome(reason=results.why_no_run(name))
    others = ", ".join(f"{one} {value:.{bound.decimals}f}" for one, value in means.items() if one != "weir")
    return Outcome(means["weir"], others, means)


@goal_measure
def share_against_tcp(results: Results, bound: Bound, name: str, cases: Mapping[str, str]) -> Outcome:
    """Smallest throughput share of Weir in the settled rates of both. `cases`: label to scenario."""
    parts = {}
    for label, scenario in cases.items():
        runs = [one for one in results.runs(name, "weir") if one.scenario == scenario]
        values = [x for one in runs if (x := settled_media_share(results.with_series(one))) is not None]
        if not values:
            return Outcome(reason=results.why_no_run(name))
        parts[label] = mean(values)
    detail = ", ".join(f"queue of {label} {100 * value:.1f} %" for label, value in parts.items())
    return Outcome(min(parts.values()), detail, parts)


@goal_measure
def route_dip(results: Results, bound: Bound, media: MediaKind) -> Outcome:
    """Longest dip of the rate after the base delay rises."""

    def time_s(record: RunRecord) -> float | None:
        return _of_series(results, record, functions.dip_s, ROUTE_CHANGES_AT_S)

    name, cases = of_media("route", media), [f"plus{more_ms:g}" for more_ms in ROUTE_CHANGES_MS]
    own, other = (
        {scenario: s for case in cases for scenario, s in results.by_scenario(name, one, time_s, case).items()}
        for one in PAIR
    )
    if not own:
        return Outcome(reason=results.why_no_run(name))
    longest = max(own, key=own.__getitem__)
    detail = f"{longest}; {sum(not bound.met(dip_s) for dip_s in own.values())} of {len(own)} miss it"
    return Outcome(own[longest], detail + (f"; gcc {max(other.values()):.1f} s" if other else ""))


@goal_measure
def family_mean(results: Results, bound: Bound, family: str, case: str, metric_name: str = "utilisation") -> Outcome:
    """Mean of a metric over the rates of one case of a family."""
    found = {one: results.by_scenario(family, one, metric(metric_name), case) for one in PAIR}
    if not found["weir"]:
        return Outcome(reason=results.why_no_run(family))
    by_rate = {one: {_rate(name): value for name, value in values.items()} for one, values in found.items()}
    return Outcome(mean(found["weir"].values()), _shown(by_rate, "{:.2f}"), found)


@goal_measure
def start_queue(results: Results, bound: Bound, rate: str, media: MediaKind) -> Outcome:
    """Largest queue in the first seconds of a call on a link of that rate, such as 3M."""

    def queue_ms(record: RunRecord) -> float | None:
        return _of_series(results, record, functions.largest_queue_ms, record.flows[0].base_one_way_delay_ms)

    name = of_media("start", media)
    found = {one: results.by_scenario(name, one, queue_ms, rate) for one in PAIR}
    if not found["weir"]:
        return Outcome(reason=results.why_no_run(name))
    return Outcome(max(found["weir"].values()), _shown(found, "{:.0f} ms"), found)


@goal_measure
def recovery(results: Results, bound: Bound, fault: str, media: MediaKind) -> Outcome:
    """Time from the end of a fault until a call has recovered: slowest scenario."""
    ends_s = FAULT_BEGINS_S + FAULT_LENGTHS_S[fault]

    def time_s(record: RunRecord) -> float | None:
        return _of_series(
            results, record, functions.recovery_s, FAULT_BEGINS_S, ends_s, record.flows[0].base_one_way_delay_ms
        )

    name = of_media("fault", media)
    found = {one: results.by_scenario(name, one, time_s, fault) for one in (*PAIR, "rule")}
    if not found["weir"]:
        return Outcome(reason=results.why_no_run(name))
    detail = _shown(found, "{:.1f} s").replace("inf s", "never")
    slowest_s = max(found["weir"].values())
    if math.isinf(slowest_s):
        return Outcome(text="not within the call", detail=detail)
    return Outcome(slowest_s, detail)


def _of_series(
    results: Results, record: RunRecord, function: Callable[..., float | None], *arguments: float
) -> float | None:
    series = results.series(record)
    return None if series is None else function(series, *arguments)


def _each(results: Results, name: str, of_run: RunMeasure) -> dict[str, list[float | None]]:
    return {controller: [of_run(record) for record in results.runs(name, controller)] for controller in ALL}


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean over runs; None when in any of them it never happened."""
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _time(found: Mapping[str, Sequence[float | None]], why_none: str) -> Outcome:
    if not found["weir"]:
        return Outcome(reason=why_none)
    means = {controller: _mean_or_none(values) for controller, values in found.items() if values}
    others = ", ".join(
        f"{one} {'never' if value is None else f'{value:.2f} s'}" for one, value in means.items() if one != "weir"
    )
    if means["weir"] is None:
        never = sum(value is None for value in found["weir"])
        return Outcome(text=f"not at all in {never} of {len(found['weir'])}", detail=others, figures=means)
    return Outcome(means["weir"], others, means)


def _shown(by_controller: Mapping[str, Mapping[str, float]], form: str) -> str:
    return "; ".join(
        f"{controller}: {', '.join(f'{name} {form.format(value)}' for name, value in found.items())}"
        for controller, found in by_controller.items()
        if found
    )


def _rate(scenario: str) -> str:
    """The rate in a scenario's name."""
    return f"{scenario.split('-')[-2].removesuffix('M')} Mbps"
