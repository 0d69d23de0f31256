"""Measures of goals that compare scores of runs: gains over another controller, worst scenarios, steering, families.

Gains are differences of a metric, weir less the other, on the same scenario and seed, averaged over the seeds of a
scenario, then over scenarios. `goal_measure` turns each function into a factory of the measure of a goal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean, median

import numpy as np

from weir.qoe_eval.evaluate.results import Results, RunMeasure, delay_p95_ms, metric
from weir.qoe_eval.evaluate.scenario_sets import of_media
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.measures.families import common_means, gains_over_best, summarise_families, utilisation_ratios
from weir.qoe_eval.measures.metrics import utility
from weir.qoe_eval.measures.statistics import compare_paired, distinct_runs
from weir.qoe_eval.measures.steering import PAIRS, steering_of
from weir.qoe_eval.measures.summary import Means, against, run_values, scenario_differences, scenario_means
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import FamilyRow, PairedComparison, RunRecord
from weir.qoe_eval.report.goal_table import Bound
from weir.qoe_eval.report.text import sample_text, too_few_text
from weir.registry import LIBWEBRTC_SENDERS, POLICY, PRESETS
from weir.traces.generate.families.families import FAMILIES
from weir.traces.schema.media import MediaKind

SCORE = "challenge"
ALL = ("weir", *LIBWEBRTC_SENDERS, "rule", "oracle")
# Differences of the challenge score this small are told apart from wins and losses in the details.
_TIE = 0.05
# Scenarios or sets that miss a goal and are named.
_SHOWN = 10
_QUANTILE = 0.99
# gcc has a short queue where it hardly uses the link; from this share of weir's utilisation on they are comparable.
_COMPARABLE = 0.8


@goal_measure
def gain(results: Results, bound: Bound, other: str, *sets: str, measure: str = SCORE) -> Outcome:
    """Mean gain in a measure over sets; undecided while one of them is missing."""
    missing = results.why_absent(sets, other)
    found = against(results.of(*sets), POLICY, other, measure)
    if found is None:
        return Outcome(reason=missing)
    parts = [f"{name} {one.mean:+.2f}" for name in sets if (one := against(results.of(name), POLICY, other, measure))]
    detail = f"{interval_text(found)}, won {found.wins} of {sample_text(found.independent, found.n)}"
    detail += f"; {', '.join(parts)}" if len(sets) > 1 else ""
    figures = {"ci95": list(found.ci95), "wins": found.wins, "independent": found.independent, "n": found.n}
    return Outcome(found.mean, detail, figures, missing)


@goal_measure
def gain_low(results: Results, bound: Bound, other: str, name: str) -> Outcome:
    """Lower end of the 95 % interval of the mean gain on a set."""
    found = against(results.of(name), POLICY, other)
    if found is None or found.ci95[0] is None:
        few = f"mean {found.mean:+.2f}; {too_few_text(found.independent)}" if found else ""
        return Outcome(reason=results.why_absent([name], other) or few)
    low, high = found.ci95
    detail = f"mean {found.mean:+.2f}, {interval_text(found)}, {found.independent} scenarios"
    return Outcome(low, detail, {"mean": found.mean, "ci95": [low, high]})


@goal_measure
def controller_gain(results: Results, bound: Bound, own: str, reference: str, *others: str, name: str) -> Outcome:
    """Mean gain of a controller over a reference on a set; the gain over others is in the detail."""
    records = distinct_runs(results.of(name))
    values = {one: run_values(records, one, SCORE) for one in (own, reference, *others)}
    found = {one: compare_paired(MEASURES[SCORE], values[own], values[one]) for one in (reference, *others)}
    first = found[reference]
    if first is None or None in found.values():
        return Outcome(reason=results.why_no_run(name))
    means = scenario_means(records)
    scores = common_means(means, values)
    gains = ", ".join(f"over {one} {_with_interval(some)}" for one, some in found.items() if some)
    shown = ", ".join(f"{one} {score:.2f}" for one, score in scores.items())
    return Outcome(first.mean, f"{shown}; {gains}; {len(means)} scenarios", scores)


@goal_measure
def change(results: Results, bound: Bound, name: str, reference: str) -> Outcome:
    """Mean score of weir on a set less that on the same scenarios under the conditions of another set."""
    own, other = (run_values(distinct_runs(results.of(one)), POLICY, SCORE) for one in (name, reference))
    found = compare_paired(MEASURES[SCORE], own, other)
    if found is None:
        return Outcome(reason=results.why_no_run(name))
    return Outcome(found.mean, f"{interval_text(found)}, {sample_text(found.independent, found.n)}")


@goal_measure
def bytes_lost(results: Results, bound: Bound, name: str, reference: str) -> Outcome:
    """The share of the bytes that weir receives on a set, which it does not receive on the same scenarios under the
    conditions of another set.
    """
    own, other = (
        results.by_scenario(one, POLICY, lambda record: record.flows[0].bytes_received) for one in (reference, name)
    )
    common = own.keys() & other.keys()
    if not common:
        return Outcome(reason=results.why_no_run(name))
    lost = 1 - sum(other[scenario] for scenario in common) / sum(own[scenario] for scenario in common)
    return Outcome(lost, f"{len(common)} scenarios")


@goal_measure
def worst_gain(
    results: Results,
    bound: Bound,
    *sets: str,
    others: Sequence[str] = ("gcc",),
    own: str = POLICY,
    metric_name: str = SCORE,
) -> Outcome:
    """Smallest gain of a controller over the best of others on a scenario."""
    records = results.of(*sets)
    found = gains_over_best(scenario_means(records), own, others, metric_name)
    return lowest(found, bound, results.why_absent(sets) if len(sets) == 1 else "", _without(records, others))


@goal_measure
def worst_utilisation_ratio(results: Results, bound: Bound, *sets: str, own: str = POLICY) -> Outcome:
    """Smallest utilisation of a scenario as a ratio of gcc's."""
    return lowest(utilisation_ratios(scenario_means(results.of(*sets)), own), bound, results.why_absent(sets))


@goal_measure
def worst_family(results: Results, bound: Bound, media: MediaKind, *, against_rule: bool = False) -> Outcome:
    """Smallest mean gain of a family over the better of gcc and scream, or over rule."""
    found = {row.name: row.against_rule if against_rule else row.against_better for row in family_rows(results, media)}
    others = () if against_rule else LIBWEBRTC_SENDERS
    missing = _without(results.of(*(of_media(name, media) for name in found)), others)
    return lowest({name: one.mean for name, one in found.items() if one}, bound, undecided=missing)


def family_rows(results: Results, media: MediaKind) -> list[FamilyRow]:
    """The table's row of each family that ran with that kind of media."""
    return summarise_families(results.of(*(of_media(name, media) for name in FAMILIES)), POLICY)


@goal_measure
def mean_metric(results: Results, bound: Bound, name: str, metric_name: str) -> Outcome:
    """Mean of a metric over the scenarios of a set."""
    means = scenario_means(results.of(name))
    scores = common_means(means, ALL, metric_name)
    if "weir" not in scores:
        return Outcome(reason=results.why_absent([name]) or "nothing arrived in any run of weir")
    shown = ", ".join(f"{one} {score:.2f}" for one, score in scores.items() if one != "weir")
    return Outcome(scores["weir"], shown, scores)


@goal_measure
def worst_value(
    results: Results, bound: Bound, controller: str, name: str, of_run: RunMeasure, others: Sequence[str] = ()
) -> Outcome:
    """A measure of a controller's runs, which may need series, in its worst scenario of a set."""
    worst = min if bound.kind == "at least" else max

    def of(one: str) -> dict[str, float]:
        return results.by_scenario(name, one, lambda record: of_run(results.with_series(record)))

    own = of(controller)
    if not own:
        return Outcome(reason=results.why_no_run(name))
    value = worst(own.values())
    shown = [f"{next(scenario for scenario in own if own[scenario] == value)}; mean {bound.show(mean(own.values()))}"]
    shown += [f"{other} {bound.show(worst(values.values()))}" for other in others if (values := of(other))]
    return Outcome(value, ", ".join(shown), own)


@goal_measure
def distance_closed(results: Results, bound: Bound, name: str, others: Sequence[str] = ("gcc",)) -> Outcome:
    """The part of the distance from the best of others to oracle that weir closes, by sums over scenarios."""
    if why := results.why_any_absent(name, others):
        return Outcome(reason=why)
    means = scenario_means(results.of(name))
    best = max(others, key=lambda other: _mean_score(means, other))
    share = closed_share(means, best)
    if share is None:
        return Outcome(reason=f"the oracle is not ahead of {best} here")
    scores = {one: _mean_score(means, one) for one in ALL if all(SCORE in by.get(one, {}) for by in means.values())}
    return Outcome(share, "mean scores: " + ", ".join(f"{one} {x:.2f}" for one, x in scores.items()), scores)


def closed_share(means: Means, other: str) -> float | None:
    """0 is the other, 1 the oracle; None where the oracle is not ahead of the other."""
    names = ("weir", other, "oracle")
    complete = [
        {name: by[name][SCORE] for name in names}
        for by in means.values()
        if all(SCORE in by.get(name, {}) for name in names)
    ]
    whole = sum(one["oracle"] - one[other] for one in complete)
    return sum(one["weir"] - one[other] for one in complete) / whole if whole > 0 else None


@goal_measure
def wins(results: Results, bound: Bound, name: str) -> Outcome:
    """Share of the scenarios of a set whose mean score over seeds is above gcc's."""
    if why := results.why_absent([name]):
        return Outcome(reason=why)
    differences = scenario_differences(scenario_means(results.of(name)), POLICY, "gcc")
    won = sum(value > 0 for value in differences.values())
    losses = sum(value < -_TIE for value in differences.values())
    close = sum(abs(value) <= _TIE for value in differences.values())
    detail = f"won {won} of {len(differences)}; lost by more than {_TIE:g} points {losses}; within them {close}"
    return Outcome(won / len(differences), detail)


@goal_measure
def median_difference(results: Results, bound: Bound, name: str, *sets: str) -> Outcome:
    """Median over the scenarios of sets of a metric less gcc's; undecided while a set is missing."""
    means, described, missing = scenario_means(results.of(*sets)), MEASURES[name], results.why_absent(sets)
    differences = scenario_differences(means, POLICY, "gcc", name)
    if not differences:
        return Outcome(reason=missing)
    own, other = (
        described.scale * median(means[scenario][one][name] for scenario in differences) for one in ("weir", "gcc")
    )
    unit = described.unit
    detail = f"median of weir {own:.1f} {unit}, of gcc {other:.1f} {unit}, {len(differences)} scenarios"
    return Outcome(median(differences.values()), detail, reason=missing)


@goal_measure
def delay_tail(results: Results, bound: Bound, *sets: str) -> Outcome:
    """99th percentile over scenarios, of the first seed, of weir's p95 one-way delay as a ratio of gcc's."""
    records = results.of(*sets)
    first_seed = min((record.seed for record in records), default=1)
    runs: dict[str, dict[str, RunRecord]] = defaultdict(dict)
    for record in records:
        if record.seed == first_seed and delay_p95_ms(record):
            runs[record.scenario][record.controller] = record
    pairs = {scenario: (by["weir"], by["gcc"]) for scenario, by in runs.items() if {"weir", "gcc"} <= by.keys()}
    if not pairs:
        return Outcome(reason=results.why_absent(sets[:1]))
    ratios = {
        scenario: (delay_p95_ms(own) or 0.0) / (delay_p95_ms(gcc) or 1.0) for scenario, (own, gcc) in pairs.items()
    }
    utilisation = metric("utilisation")
    comparable = [
        ratios[scenario]
        for scenario, (own, gcc) in pairs.items()
        if (utilisation(gcc) or 0.0) >= _COMPARABLE * (utilisation(own) or 0.0)
    ]
    worst = max(ratios, key=ratios.__getitem__)
    above = sum(not bound.met(ratio) for ratio in ratios.values())
    detail = (
        f"{len(ratios)} scenarios; median {median(ratios.values()):.2f}; {above} above {bound.limit}; worst "
        f"{worst} {ratios[worst]:.2f}; where gcc uses at least {_COMPARABLE:g} of what weir uses, "
        f"{len(comparable)} scenarios"
    )
    if comparable:
        above = sum(not bound.met(ratio) for ratio in comparable)
        detail += f": {np.quantile(comparable, _QUANTILE):.2f}, {above} above {bound.limit}"
    return Outcome(float(np.quantile(list(ratios.values()), _QUANTILE)), detail)


@goal_measure
def steering(results: Results, bound: Bound, sets: Mapping[str, Sequence[str]]) -> Outcome:
    """Share of scenarios on which the presets move utilisation and delay the right way. `sets`: by preset."""
    found = steering_of({preset: results.of(*names) for preset, names in sets.items()}, "weir")
    if found.right is None or found.moved is None:
        return Outcome(reason="no run under the presets completed")
    steps = "; ".join(
        f"{a} to {b}: utilisation {100 * found.by_step['utilisation'][f'{a}-{b}']:.1f} %, "
        f"delay {100 * found.by_step['p95_queueing_delay_ms'][f'{a}-{b}']:.1f} %"
        for a, b in PAIRS
    )
    detail = f"{found.scenarios} scenarios; right and moving by more than a tie {100 * found.moved:.1f} %; {steps}"
    return Outcome(found.right, detail, {"by_step": found.by_step, "moved": found.moved})


@goal_measure
def own_utility(results: Results, bound: Bound, sets: Mapping[str, Sequence[str]], preset: str) -> Outcome:
    """A preset's utility under that preset less the best other preset's under it, on the scenarios that all have.
    `sets`: by preset.
    """
    runs = {name: _utilities(results.of(*some), PRESETS[preset]) for name, some in sets.items()}
    common = set.intersection(*(set(values) for values in runs.values()))
    if not common:
        return Outcome(reason="no run under the presets completed")
    means = {name: mean(values[run] for run in common) for name, values in runs.items()}
    best_other = max((name for name in means if name != preset), key=means.__getitem__)
    shown = ", ".join(f"{name} {value:.2f}" for name, value in means.items())
    return Outcome(means[preset] - means[best_other], f"{shown}; {len(common)} runs", means)


def _utilities(records: Sequence[RunRecord], objective: Sequence[float]) -> dict[tuple[str, int], float]:
    return {
        (record.scenario, record.seed): value
        for record in records
        if record.controller == POLICY and (value := utility(objective, record.measures)) is not None
    }


def _without(records: Sequence[RunRecord], others: Sequence[str]) -> str:
    """Why a comparison with the best of others is none: one of them did not run."""
    ran = {record.controller for record in records}
    return "; ".join(f"no run of {other} completed" for other in others if other not in ran)


def lowest(values: Mapping[str, float], bound: Bound, why_none: str = "", undecided: str = "") -> Outcome:
    """The smallest of several values decides, unless there is a reason against it; those that miss it are named."""
    if not values:
        return Outcome(reason=why_none or "no pair of runs completed")
    missed = {one: value for one, value in values.items() if not bound.met(value)}
    worst_first = sorted(missed, key=lambda one: missed[one])
    shown = ", ".join(f"{one} {bound.show(missed[one])}" for one in worst_first[:_SHOWN])
    worst = min(values, key=values.__getitem__)
    detail = f"{len(missed)} of {len(values)} miss it: {shown}" if missed else f"all {len(values)}; lowest {worst}"
    return Outcome(values[worst], detail, reason=undecided)


def interval_text(found: PairedComparison) -> str:
    """The 95 % interval in words."""
    low, high = found.ci95
    return too_few_text(found.independent) if low is None else f"95 % interval {low:+.2f} to {high:+.2f}"


def _with_interval(found: PairedComparison) -> str:
    low, high = found.ci95
    return f"{found.mean:+.2f}" + ("" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]")


def _mean_score(means: Means, controller: str) -> float:
    return mean(by[controller][SCORE] for by in means.values() if SCORE in by.get(controller, {}))
