"""The goals of a policy, set against what was measured: score, delay and utilisation against gcc, rule and oracle, and
steering. `dynamics.py` and `figures.py` have the others.

Gains are differences of the challenge score, weir less the other, on the same scenario and seed, objective balanced;
averaged over the seeds of a scenario, then over scenarios.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from weir.qoe_eval.experiments.policy.results import PolicyResults, distance_closed
from weir.qoe_eval.experiments.policy.sets import COMPARED_SETS
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.steering import PAIRS, steering_of
from weir.qoe_eval.measures.summary import against, scenario_differences, scenario_means
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured
from weir.trainer.model.paired_text import sample_text, too_few_text

# Differences of the challenge score this small are told apart from wins and losses in the details.
_TIE = 0.05


def comparison_rows(results: PolicyResults) -> Iterator[Row]:
    """All rows of this module, in the order of the goals."""
    yield from _opennetlab(results)
    yield from _mahimahi(results)
    yield from _random(results)
    yield _steady(results)
    yield from _rule(results)
    yield from _delay_and_utilisation(results)


def steering_row(results: PolicyResults) -> Row:
    """Share of the compared scenarios on which the presets move utilisation and delay the right way."""
    goal = Goal("at least", 0.9, "%", scale=100, decimals=1)
    what = "steering: presets move utilisation and p95 delay the right way, share of scenarios"
    found = steering_of(results.presets, "weir")
    if found.right is None or found.moved is None:
        return not_measured("steering", what, goal, "no run under the presets completed")
    steps = "; ".join(
        f"{a} to {b}: utilisation {100 * found.by_step['utilisation'][f'{a}-{b}']:.1f} %, "
        f"delay {100 * found.by_step['p95_queueing_delay_ms'][f'{a}-{b}']:.1f} %"
        for a, b in PAIRS
    )
    detail = f"{found.scenarios} scenarios; right and moving by more than a tie {100 * found.moved:.1f} %; {steps}"
    return measured("steering", what, goal, found.right, detail, by_step=found.by_step, moved=found.moved)


def _opennetlab(results: PolicyResults) -> Iterator[Row]:
    gain = Goal("at least", 8.95, signed=True)
    worst = Goal("at least", -2.0, signed=True)
    formula = Goal("at least", 80.85)
    names = ("opennetlab traces: mean gain over gcc", "opennetlab traces: worst trace against gcc")
    formula_name = "opennetlab traces: ReCoCo's own formula, mean of the one model"
    if why := results.absent(["opennetlab"]):
        yield not_measured("opennetlab_gain", names[0], gain, why)
        yield not_measured("opennetlab_worst", names[1], worst, why)
        yield not_measured("opennetlab_recoco", formula_name, formula, why)
        return
    records = results.records["opennetlab"]
    means = scenario_means(records)
    yield from _gain("opennetlab_gain", names[0], gain, results, "opennetlab")
    differences = scenario_differences(means, "gcc")
    name, value = min(differences.items(), key=lambda item: item[1])
    yield measured("opennetlab_worst", names[1], worst, value, name, by_scenario=differences)
    scores = {
        controller: sum(values) / len(values)
        for controller in ("weir", "gcc", "rule", "oracle")
        if (values := [by[controller]["recoco"] for by in means.values() if "recoco" in by.get(controller, {})])
    }
    others = ", ".join(f"{controller} {score:.2f}" for controller, score in scores.items() if controller != "weir")
    if "weir" not in scores:
        yield not_measured("opennetlab_recoco", formula_name, formula, "nothing arrived in any run of weir")
        return
    yield measured("opennetlab_recoco", formula_name, formula, scores["weir"], f"the same formula: {others}", **scores)


def _mahimahi(results: PolicyResults) -> Iterator[Row]:
    goal = Goal("at least", 0.7, "%", scale=100, decimals=1)
    yield _closed("mahimahi_closed", "mahimahi traces: distance from gcc to oracle closed", goal, results, "mahimahi")


def _random(results: PolicyResults) -> Iterator[Row]:
    share = Goal("at least", 0.9, "%", scale=100, decimals=1)
    closed = Goal("at least", 0.6, "%", scale=100, decimals=1)
    count = len(results.sets["random"].scenarios)
    what = f"{count} random scenarios with fresh seeds: share of wins over gcc"
    if why := results.absent(["random"]):
        yield not_measured("random_wins", what, share, why)
    else:
        differences = scenario_differences(scenario_means(results.records["random"]), "gcc")
        wins = sum(value > 0 for value in differences.values())
        losses = sum(value < -_TIE for value in differences.values())
        close = sum(abs(value) <= _TIE for value in differences.values())
        detail = f"won {wins}; lost by more than {_TIE:g} points {losses}; within {_TIE:g} points {close}"
        yield measured("random_wins", what, share, wins / len(differences), detail)
    yield _closed("random_closed", f"{count} random scenarios: distance closed", closed, results, "random")


def _steady(results: PolicyResults) -> Row:
    goal = Goal("at least", 0.0, signed=True)
    what = "steady links of 0.3, 1, 2.5, 8 and 30 Mbps, each not below gcc: smallest gain"
    if why := results.absent(["steady"]):
        return not_measured("steady_worst", what, goal, why)
    differences = scenario_differences(scenario_means(results.records["steady"]), "gcc")
    detail = ", ".join(f"{name.removeprefix('steady-')} {value:+.2f}" for name, value in differences.items())
    return measured("steady_worst", what, goal, min(differences.values()), detail, by_scenario=differences)


def _rule(results: PolicyResults) -> Iterator[Row]:
    """Over all scenarios each counts once; so the many random ones weigh most, and the sets stand beside."""
    goal = Goal("at least", 2.0, signed=True)
    low_end = Goal("at least", 0.0, strict=True, signed=True)
    what = "all the above against the ten-line rule: mean gain"
    by_set = {
        name: found
        for name in COMPARED_SETS
        if (records := results.records.get(name)) and (found := against(records, "rule"))
    }
    found = against(results.compared(), "rule")
    if found is None:
        yield not_measured("rule_gain", what, goal, results.absent())
    else:
        means = ", ".join(f"{name} {one.mean:+.2f}" for name, one in by_set.items())
        row = measured(
            "rule_gain", what, goal, found.mean, f"{found.independent} scenarios; {means}", ci95=list(found.ci95)
        )
        yield _undecided(row, results.absent())
    for name in COMPARED_SETS:
        what = f"against the rule on {name}: lower end of the 95 % interval of the mean gain"
        one = by_set.get(name)
        if one is None or one.ci95[0] is None:
            reason = results.absent([name]) or (
                f"mean {one.mean:+.2f}; {too_few_text(one.independent)}" if one else "no pair completed"
            )
            yield not_measured(f"rule_low_{name}", what, low_end, reason)
        else:
            detail = (
                f"mean {one.mean:+.2f}, interval {one.ci95[0]:+.2f} to {one.ci95[1]:+.2f}, {one.independent} scenarios"
            )
            yield measured(f"rule_low_{name}", what, low_end, one.ci95[0], detail, mean=one.mean, ci95=list(one.ci95))


def _delay_and_utilisation(results: PolicyResults) -> Iterator[Row]:
    """Medians over all compared scenarios of the difference on each."""
    points = METRICS["utilisation"].scale
    rows = (
        ("p95_queueing_delay_ms", Goal("at most", 0.0, "ms", decimals=1, signed=True), "p95 queueing delay"),
        (
            "utilisation",
            Goal("at least", 0.0, "points", scale=points, signed=True),
            "utilisation",
        ),
    )
    means = scenario_means(results.compared())
    for name, goal, label in rows:
        metric = METRICS[name]
        what = f"{label} against gcc's, median over all the above"
        differences = scenario_differences(means, "gcc", name)
        if not differences:
            yield not_measured(f"{name}_against_gcc", what, goal, results.absent())
            continue
        own, other = (
            metric.scale * median(means[scenario][c][name] for scenario in differences) for c in ("weir", "gcc")
        )
        detail = (
            f"median of weir {own:.1f} {metric.unit}, of gcc {other:.1f} {metric.unit}, {len(differences)} scenarios"
        )
        row = measured(f"{name}_against_gcc", what, goal, median(differences.values()), detail)
        yield _undecided(row, results.absent())


def _gain(name: str, what: str, goal: Goal, results: PolicyResults, set_name: str) -> Iterator[Row]:
    found = against(results.records[set_name], "gcc")
    if found is None:
        yield not_measured(name, what, goal, f"no pair of weir and gcc on {set_name} completed")
        return
    low, high = found.ci95
    interval = too_few_text(found.independent) if low is None else f"95 % interval {low:+.2f} to {high:+.2f}"
    detail = f"{interval}, won {found.wins} of {sample_text(found.independent, found.n)}"
    figures = {"wins": found.wins, "independent": found.independent, "n": found.n}
    yield measured(name, what, goal, found.mean, detail, ci95=[low, high], **figures)


def _closed(name: str, what: str, goal: Goal, results: PolicyResults, set_name: str) -> Row:
    if why := results.absent([set_name]):
        return not_measured(name, what, goal, why)
    means = scenario_means(results.records[set_name])
    share = distance_closed(means)
    if share is None:
        return not_measured(name, what, goal, "the oracle is not ahead of gcc here")
    scores = {
        controller: sum(by[controller]["challenge"] for by in means.values()) / len(means)
        for controller in ("weir", "gcc", "rule", "oracle")
        if all("challenge" in by.get(controller, {}) for by in means.values())
    }
    detail = ", ".join(f"{controller} {score:.2f}" for controller, score in scores.items())
    return measured(name, what, goal, share, f"mean scores: {detail}", **scores)


def _undecided(row: Row, why: str) -> Row:
    """The row without its verdict where sets are missing that the goal speaks of."""
    return Row(**(vars(row) | {"reached": None, "reason": why})) if why else row
