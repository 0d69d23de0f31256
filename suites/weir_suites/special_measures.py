"""Measures of goals other than comparisons by scenario: distance to the oracle, clocks, presets, causes, the guard.

To make one the measure of a goal, bind the arguments after `results` and `bound` with `functools.partial`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean

from weir_eval.measures.families import ORACLE, RULE, SCORE
from weir_eval.measures.metrics import utility
from weir_eval.measures.run_values import Metric, mean_over_seeds, run_values
from weir_eval.measures.steering import PAIRS, steering_of
from weir_eval.report.goal_table import Bound
from weir_eval.runs.scenario_sets import of_media
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY, PRESETS
from weir_suites.comparison import Comparison
from weir_suites.results import Results, delay_p95_ms
from weir_suites.suite import Outcome
from weir_traces.generate.families.call import CLOCK_PPM
from weir_traces.schema.media import MediaKind
from weir_traces.schema.variation import WITHOUT

ALL_RULES = "all rules"
"""The variant of a set that runs with all guard rules; the others are "RULE off"."""
ALL = (POLICY, *LIBWEBRTC_SENDERS, RULE, ORACLE)
_EFFECTS: dict[str, Metric] = {SCORE: SCORE, "p95_one_way_delay_ms": delay_p95_ms}
_SHOWN = 10
_NO_PRESETS = "no run under the presets completed"


def distance_closed(results: Results, bound: Bound, *, name: str, others: Sequence[str]) -> Outcome:
    """The share of the distance from the best of the others to the oracle that weir closes, by sums over scenarios."""
    scores = {controller: mean_over_seeds(results.run_values(name, controller, SCORE)) for controller in ALL}
    if why := results.why_absent([name], POLICY, (*others, ORACLE)):
        return Outcome(reason=why)
    best = max(others, key=lambda other: fmean(scores[other].values()))
    complete = scores[POLICY].keys() & scores[best].keys() & scores[ORACLE].keys()
    weir, other, oracle = (
        fsum(scores[controller][scenario] for scenario in complete) for controller in (POLICY, best, ORACLE)
    )
    if oracle <= other:
        return Outcome(reason=f"the oracle is not ahead of {best} here")
    means = {controller: fmean(by_scenario.values()) for controller, by_scenario in scores.items() if by_scenario}
    detail = "mean scores: " + ", ".join(f"{controller} {mean:.2f}" for controller, mean in means.items())
    return Outcome((weir - other) / (oracle - other), detail, means)


def clock_utilisation(results: Results, bound: Bound, *, media: MediaKind) -> Outcome:
    """Utilization with a wrong clock relative to that with a right one, mean over the rates, for the worst clock."""
    name = of_media("clock", media)
    used = mean_over_seeds(results.run_values(name, POLICY, "utilisation"))
    ratios: dict[str, float] = {}
    for clock in [("slow" if ppm < 0 else "fast") + str(abs(ppm)) for ppm in CLOCK_PPM if ppm]:
        right = {scenario: scenario.replace(f"-{clock}-", "-right-") for scenario in used if f"-{clock}-" in scenario}
        if of_rates := [used[wrong] / used[same] for wrong, same in right.items() if used.get(same)]:
            ratios[clock] = fmean(of_rates)
    if not ratios:
        return Outcome(reason=results.why_absent([name]) or "no clock has a right one beside it")
    return Outcome(min(ratios.values()), ", ".join(f"{clock} {ratio:.3f}" for clock, ratio in ratios.items()), ratios)


def steering(results: Results, bound: Bound, *, sets: Mapping[str, Sequence[str]], controller: str = POLICY) -> Outcome:
    """Share of scenarios on which presets move utilization and delay in the right direction. `sets`: by preset."""
    shares = steering_of({preset: results.replays_of(*names) for preset, names in sets.items()}, controller)
    if shares.right is None or shares.moved is None:
        return Outcome(reason=_NO_PRESETS)
    steps = "; ".join(
        f"{a} to {b}: utilisation {100 * shares.by_step['utilisation'][f'{a}-{b}']:.1f} %, "
        f"delay {100 * shares.by_step['p95_queueing_delay_ms'][f'{a}-{b}']:.1f} %"
        for a, b in PAIRS
    )
    detail = f"{shares.scenarios} scenarios; right and moving by more than a tie {100 * shares.moved:.1f} %; {steps}"
    return Outcome(shares.right, detail, {"by_step": shares.by_step, "moved": shares.moved})


def own_utility(results: Results, bound: Bound, *, sets: Mapping[str, Sequence[str]], preset: str) -> Outcome:
    """The utility, with the weights of `preset`, of the runs under it minus that of the best other preset's runs, over
    common runs. `sets`: by preset.
    """
    values = {
        played: run_values(results.replays_of(*names), POLICY, lambda record: utility(PRESETS[preset], record.measures))
        for played, names in sets.items()
    }
    common = set.intersection(*map(set, values.values()))
    if not common:
        return Outcome(reason=_NO_PRESETS)
    means = {played: fmean(by_run[run] for run in common) for played, by_run in values.items()}
    shown = ", ".join(f"{played} {mean:.2f}" for played, mean in means.items())
    best_other = max(mean for played, mean in means.items() if played != preset)
    return Outcome(means[preset] - best_other, f"{shown}; {len(common)} runs", means)


def explained(results: Results, bound: Bound, *, name: str, ablated: str, controller: str, metric: str) -> Outcome:
    """The ten worst scenarios, each with the impairment whose removal regains most."""
    gains, without = (
        Comparison(compared, metric, controller=controller, others=LIBWEBRTC_SENDERS).rows(results).compared
        for compared in (name, ablated)
    )
    if why := results.why_absent([name], controller, LIBWEBRTC_SENDERS):
        return Outcome(reason=why)
    troubles = {scenario.name: scenario.description for scenario in results.scenarios(name)}
    lines = []
    for scenario in sorted(gains, key=lambda name: gains[name])[:_SHOWN]:
        start = scenario + WITHOUT
        better = {run.removeprefix(start): gain for run, gain in without.items() if run.startswith(start)}
        cause = max(better, key=lambda trouble: better[trouble], default="")
        gives_back = f"; without {cause} {better[cause]:+.1f}" if cause else ""
        lines.append(f"{scenario} {gains[scenario]:+.1f} ({troubles[scenario]}{gives_back})")
    return Outcome(min(gains.values()), ". ".join(lines))


def guard_rule(
    results: Results, bound: Bound, *, rule: str, controllers: Sequence[str], sets: Sequence[str]
) -> Outcome:
    """Score gained by a guard rule (with minus without), mean over sets, for the first of the controllers. Figures:
    the mean effects of the rule by controller.
    """
    figures: dict[str, float] = {}
    for controller in controllers:
        for effect, metric in _EFFECTS.items():
            of_sets = []
            for name in sets:
                variants = (f"{name}, {rules}" for rules in (ALL_RULES, f"{rule} off"))
                with_rule, without = (results.run_values(variant, controller, metric) for variant in variants)
                if runs := with_rule.keys() & without.keys():
                    of_sets.append(fmean(with_rule[run] - without[run] for run in runs))
            if of_sets:
                figures[f"{controller}/{effect}"] = fmean(of_sets)
    first = f"{controllers[0]}/{SCORE}"
    if first not in figures:
        return Outcome(reason=results.why_absent([f"{name}, {ALL_RULES}" for name in sets], controllers[0]))
    shown = {key.removesuffix(f"/{SCORE}"): value for key, value in figures.items() if key.endswith(SCORE)}
    return Outcome(figures[first], ", ".join(f"{key} {gain:+.2f}" for key, gain in shown.items()), figures)
