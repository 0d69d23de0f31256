"""Measures of the suite `natural`: Weir at either end against the better of libwebrtc's senders, by scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import geometric_mean, mean

from weir.qoe_eval.evaluate.results import Results
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.measures.families import common_means, gains_over_best
from weir.qoe_eval.measures.summary import Means, scenario_means
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.report.goal_table import Bound
from weir.registry import LIBWEBRTC_SENDERS
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.variation import WITHOUT

FAR_BELOW = -5.0
"""A scenario in which a viewer would rather have had another controller, in points."""

_SHOWN = 10


def gains(
    results: Results, name: str, own: str, metric: str, others: Sequence[str] = LIBWEBRTC_SENDERS
) -> dict[str, float]:
    """A controller less the best of others on each scenario of a set, above 0 is better."""
    return gains_over_best(_means(results, name), own, others, metric)


def _means(results: Results, name: str, among: Callable[[Scenario], bool] = lambda scenario: True) -> Means:
    """Those of a set's scenarios that `among` chooses; none where the set did not run."""
    scenarios = results.sets[name].scenarios if name in results.sets else []
    chosen = {scenario.name for scenario in scenarios if among(scenario)}
    return {scenario: by for scenario, by in scenario_means(results.of(name)).items() if scenario in chosen}


def _why_none(
    results: Results, name: str, own: str, found: dict[str, float], others: Sequence[str] = LIBWEBRTC_SENDERS
) -> str:
    """Why the gains on a set are not known; empty when they are."""
    return results.why_any_absent(name, others, own) or ("" if found else "no pair of runs completed")


@goal_measure
def mean_gain(
    results: Results,
    bound: Bound,
    name: str,
    own: str,
    metric: str,
    others: Sequence[str] = LIBWEBRTC_SENDERS,
    among: Callable[[Scenario], bool] = lambda scenario: True,
) -> Outcome:
    """The mean over the scenarios that `among` chooses."""
    means = _means(results, name, among)
    found = gains_over_best(means, own, others, metric)
    if why := _why_none(results, name, own, found, others):
        return Outcome(reason=why)
    each = common_means(means, (own, *others), metric)
    detail = ", ".join(f"{one} {MEASURES[metric].display(value)}" for one, value in each.items())
    return Outcome(mean(found.values()), f"{detail}; {len(found)} scenarios", each)


@goal_measure
def mean_ratio(results: Results, bound: Bound, name: str, own: str, metric: str, other: str) -> Outcome:
    """The geometric mean over scenarios of a metric as a ratio of another controller's."""
    means = _means(results, name)
    pairs = {scenario: (by.get(own, {}).get(metric), by.get(other, {}).get(metric)) for scenario, by in means.items()}
    ratios = {scenario: one / of for scenario, (one, of) in pairs.items() if one and of}
    if not ratios:
        return Outcome(reason=results.why_absent([name], other, own) or "no pair of runs has it")
    shown = ", ".join(f"{scenario} {ratio:.2f}" for scenario, ratio in ratios.items())
    return Outcome(geometric_mean(ratios.values()), f"{own} over {other}: {shown}", ratios)


@goal_measure
def far_below(results: Results, bound: Bound, name: str, own: str, metric: str) -> Outcome:
    """The share of scenarios more than five points below."""
    found = gains(results, name, own, metric)
    if why := _why_none(results, name, own, found):
        return Outcome(reason=why)
    below = [scenario for scenario, value in found.items() if value < FAR_BELOW]
    return Outcome(len(below) / len(found), f"{len(below)} of {len(found)} scenarios")


@goal_measure
def not_below(results: Results, bound: Bound, name: str, own: str, metric: str) -> Outcome:
    """The share of scenarios in which it is not below."""
    found = gains(results, name, own, metric)
    if why := _why_none(results, name, own, found):
        return Outcome(reason=why)
    good = [scenario for scenario, value in found.items() if value >= 0]
    worst = min(found, key=found.__getitem__)
    return Outcome(len(good) / len(found), f"{len(good)} of {len(found)}; worst {worst} {found[worst]:+.1f}")


@goal_measure
def lowest_trouble(results: Results, bound: Bound, name: str, own: str, metric: str) -> Outcome:
    """The mean over the scenarios with the trouble in which it is lowest. The figures hold that of each trouble."""
    found = gains(results, name, own, metric)
    if why := _why_none(results, name, own, found):
        return Outcome(reason=why)
    of_trouble: dict[str, list[float]] = {}
    for scenario in results.sets[name].scenarios:
        for trouble in scenario.description.split(", ") if scenario.name in found else ():
            of_trouble.setdefault(trouble, []).append(found[scenario.name])
    means = {trouble: mean(values) for trouble, values in of_trouble.items()}
    ordered = sorted(means, key=means.__getitem__)
    shown = ", ".join(f"{trouble} {means[trouble]:+.1f} ({len(of_trouble[trouble])})" for trouble in ordered)
    return Outcome(means[ordered[0]], shown, means)


@goal_measure
def explained(results: Results, bound: Bound, name: str, ablated: str, own: str, metric: str) -> Outcome:
    """The ten worst scenarios, and of each the trouble whose absence gives most back."""
    found, without = gains(results, name, own, metric), gains(results, ablated, own, metric)
    if why := _why_none(results, name, own, found):
        return Outcome(reason=why)
    troubles = {scenario.name: scenario.description for scenario in results.sets[name].scenarios}
    lines = []
    for scenario in sorted(found, key=found.__getitem__)[:_SHOWN]:
        better = {
            run.removeprefix(scenario + WITHOUT): gain
            for run, gain in without.items()
            if run.startswith(scenario + WITHOUT)
        }
        cause = max(better, key=better.__getitem__, default="")
        gives_back = f"; without {cause} {better[cause]:+.1f}" if cause else ""
        lines.append(f"{scenario} {found[scenario]:+.1f} ({troubles[scenario]}{gives_back})")
    return Outcome(min(found.values()), ". ".join(lines))
