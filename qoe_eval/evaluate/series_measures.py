"""Measures of goals on the behaviour over time: start, changes of the path, sharing, feedback, recovery, noise.

Over several scenarios a goal is decided by their mean where it names a strength (`5 % of loss`), and by the worst of
them where it names the worst, longest or largest. `goal_measure` turns each function into a factory of a
goal's measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import mean

from weir.qoe_eval.evaluate import series_functions as functions
from weir.qoe_eval.evaluate.results import Results, RunMeasure, metric
from weir.qoe_eval.evaluate.scenario_sets import of_media
from weir.qoe_eval.evaluate.scenarios import HALVED_AT_S, START_BPS
from weir.qoe_eval.evaluate.score_measures import ALL
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.measures.fairness import settled_media_share, settled_rates_bps
from weir.qoe_eval.records import RunRecord
from weir.qoe_eval.report.goal_table import Bound
from weir.traces.generate.families.call import AUDIO_ONLY_S, AUDIO_PACKETS_PER_SECOND, CLOCK_PPM, CONGESTION_CONTROLS
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
    used = _each(results, name, lambda one: _of_series(results, one, functions.share_before_step, HALVED_AT_S))
    shares = ", ".join(f"{c} {100 * x:.0f} %" for c, some in used.items() if (x := _mean_or_none(some)) is not None)
    outcome = _time(_drain_times(results, name), results.why_no_run(name))
    detail = f"{outcome.detail}; used of the link before the step: {shares}" if outcome.detail else ""
    return replace(outcome, detail=detail)


@goal_measure
def drain_time_difference(results: Results, bound: Bound, name: str) -> Outcome:
    """Time until the queue is drained, less gcc's."""
    found = _drain_times(results, name)
    if not found["weir"] or not found["gcc"]:
        return Outcome(reason=results.why_no_run(name))
    own, other = (_mean_or_none(found[controller]) for controller in PAIR)
    if own is None:
        return Outcome(text="weir never is")
    if other is None:
        return Outcome(text="gcc never is", reached=True)
    return Outcome(own - other)


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
def share_against_tcp(
    results: Results, bound: Bound, name: str, cases: Mapping[str, str], of_tcp: bool = False
) -> Outcome:
    """Smallest throughput share of Weir, or of TCP, in the settled rates of both. `cases`: label to scenario."""
    parts = {}
    for label, scenario in cases.items():
        runs = [one for one in results.runs(name, "weir") if one.scenario == scenario]
        values = [x for one in runs if (x := settled_media_share(results.with_series(one))) is not None]
        if not values:
            return Outcome(reason=results.why_no_run(name))
        parts[label] = 1 - mean(values) if of_tcp else mean(values)
    detail = ", ".join(f"queue of {label} {100 * value:.1f} %" for label, value in parts.items())
    return Outcome(min(parts.values()), detail, parts)


@goal_measure
def share_of_half_link(results: Results, bound: Bound, kind: str, media: MediaKind) -> Outcome:
    """Settled rate of the flow of a kind as a share of half the link, in the family `tcp`: worst congestion control."""

    def share(record: RunRecord) -> float | None:
        rates = settled_rates_bps(results.with_series(record))
        own = [rates[flow.id] for flow in record.flows if flow.kind == kind and flow.id in rates]
        return own[0] / (record.path.mean_capacity_bps / 2) if own and record.path.mean_capacity_bps else None

    means = {
        controller: {
            control: mean(values.values())
            for control in CONGESTION_CONTROLS
            if (values := results.by_scenario(of_media("tcp", media), controller, share, control))
        }
        for controller in PAIR
    }
    return _of_weir(means, min, "{:.2f}", results.why_no_run(of_media("tcp", media)))


@goal_measure
def route_dip(results: Results, bound: Bound, part: Callable[[functions.Dip], float], media: MediaKind) -> Outcome:
    """Longest dip of the rate after the base delay rises."""
    name = of_media("route", media)
    found = {controller: _dips(results, name, controller) for controller in PAIR}
    times = {controller: [(part(dip), scenario) for scenario, dip in some] for controller, some in found.items()}
    if not times["weir"]:
        return Outcome(reason=results.why_no_run(name))
    longest_s, scenario = max(times["weir"])
    missed = sum(not bound.met(time_s) for time_s, _ in times["weir"])
    detail = f"{scenario}; {missed} of {len(times['weir'])} miss it"
    detail += f"; gcc {max(times['gcc'])[0]:.1f} s" if times["gcc"] else ""
    return Outcome(longest_s, detail)


@goal_measure
def clock_utilisation(results: Results, bound: Bound, media: MediaKind) -> Outcome:
    """Utilisation under a wrong clock as a ratio of that under a right one: worst clock."""
    wrong = [("slow" if ppm < 0 else "fast") + str(abs(ppm)) for ppm in CLOCK_PPM if ppm]
    ratios, clocks = {}, of_media("clock", media)
    for controller in PAIR:
        used = {
            name: values
            for name in ("right", *wrong)
            if (values := results.by_scenario(clocks, controller, metric("utilisation"), name))
        }
        ratios[controller] = _against_right(used)
    return _of_weir(ratios, min, "{:.2f}", results.why_no_run(clocks))


@goal_measure
def family_mean(results: Results, bound: Bound, family: str, case: str, metric_name: str = "utilisation") -> Outcome:
    """Mean of a metric over the rates of one case of a family."""
    found = {one: results.by_scenario(family, one, metric(metric_name), case) for one in PAIR}
    if not found["weir"]:
        return Outcome(reason=results.why_no_run(family))
    by_rate = {one: {_rate(name): value for name, value in values.items()} for one, values in found.items()}
    return Outcome(mean(found["weir"].values()), _shown(by_rate, "{:.2f}"), found)


@goal_measure
def family_ratio(results: Results, bound: Bound, family: str, case: str, metric_name: str) -> Outcome:
    """A metric of one case of a family as a ratio of gcc's: sums over the rates."""
    own, other = (results.by_scenario(family, one, metric(metric_name), case) for one in PAIR)
    common = [scenario for scenario in own if scenario in other]
    whole = sum(other[scenario] for scenario in common)
    if not whole:
        return Outcome(reason=results.why_no_run(family))
    detail = ", ".join(f"{_rate(one)} {own[one]:.0f} and {other[one]:.0f} {bound.unit or 'ms'}" for one in common)
    return Outcome(sum(own[scenario] for scenario in common) / whole, f"weir and gcc: {detail}")


@goal_measure
def start_queue(results: Results, bound: Bound, rate: str, media: MediaKind) -> Outcome:
    """Largest queue in the first seconds of a call on a link of that rate, such as 3M."""

    def queue_ms(record: RunRecord) -> float | None:
        return _of_series(results, record, functions.largest_queue_ms, record.flows[0].base_one_way_delay_ms)

    name = of_media("start", media)
    found = {one: results.by_scenario(name, one, queue_ms, rate) for one in PAIR}
    return _of_weir(found, max, "{:.0f} ms", results.why_no_run(name))


@goal_measure
def audio_feedback(results: Results, bound: Bound, family: str) -> Outcome:
    """Messages with a rate (REMB or transport feedback) per second while only audio arrives: most in a scenario."""

    def per_second(record: RunRecord) -> float | None:
        whole = results.with_series(record)
        sent = (whole.flows[0].series or {}).get("rate_feedback_sent")
        if sent is None or whole.series is None:
            return None
        first, last = (round(time_s / whole.series["interval_s"]) for time_s in AUDIO_ONLY_S)
        return sum(value or 0 for value in sent[first:last]) / (AUDIO_ONLY_S[1] - AUDIO_ONLY_S[0])

    found = {
        controller: {
            scenario: value
            for rate in AUDIO_PACKETS_PER_SECOND
            for scenario, value in results.by_scenario(family, controller, per_second, f"audio{rate}").items()
        }
        for controller in (*PAIR, "gcc-remb")
    }
    return _of_weir(found, max, "{:.1f}", results.why_no_run(family))


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


def _drain_times(results: Results, name: str) -> dict[str, list[float | None]]:
    return _each(
        results,
        name,
        lambda one: _of_series(results, one, functions.drain_time_s, one.flows[0].base_one_way_delay_ms, HALVED_AT_S),
    )


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


def _dips(results: Results, name: str, controller: str) -> list[tuple[str, functions.Dip]]:
    found = []
    for more_ms in ROUTE_CHANGES_MS:
        for record in results.runs(name, controller, f"plus{more_ms:g}"):
            series = results.series(record)
            dip = None if series is None else functions.dip_after(series, ROUTE_CHANGES_AT_S)
            if dip is not None:
                found.append((record.scenario, dip))
    return found


def _against_right(by_clock: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Utilisation by clock as a ratio of that of a right one: the mean over the rates that both have."""
    right = {name.partition("right-")[2]: value for name, value in by_clock.get("right", {}).items()}
    found = {}
    for clock, values in by_clock.items():
        ratios = [
            value / right[where]
            for name, value in values.items()
            if (where := name.partition(f"{clock}-")[2]) in right and right[where] > 0
        ]
        if clock != "right" and ratios:
            found[clock] = mean(ratios)
    return found


def _of_weir(
    found: Mapping[str, Mapping[str, float]], worst: Callable[[Iterable[float]], float], form: str, why_none: str
) -> Outcome:
    """The worst of weir's values, which are by what they are of; those of all controllers are in the detail."""
    if not found["weir"]:
        return Outcome(reason=why_none)
    return Outcome(worst(found["weir"].values()), _shown(found, form), found)


def _shown(by_controller: Mapping[str, Mapping[str, float]], form: str) -> str:
    return "; ".join(
        f"{controller}: {', '.join(f'{name} {form.format(value)}' for name, value in found.items())}"
        for controller, found in by_controller.items()
        if found
    )


def _rate(scenario: str) -> str:
    """The rate in a scenario's name."""
    return f"{scenario.split('-')[-2].removesuffix('M')} Mbps"
