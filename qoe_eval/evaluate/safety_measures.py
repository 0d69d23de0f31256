"""Measures of goals on safety: pools around fault-injected models, and the rules of the guard switched off.

`goal_measure` turns each function into a factory of the measure of a goal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from weir.qoe_eval.evaluate.results import Results, delay_p95_ms, metric
from weir.qoe_eval.evaluate.score_measures import SCORE
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.records import PoolRecord, RunRecord
from weir.qoe_eval.report.goal_table import Bound

ALL_RULES = "all rules"
"""The variant of a set that runs with the whole guard; "RULE off" are the others."""
_REFERENCES = ("nada", "rule")
_EFFECTS = {SCORE: metric(SCORE), "p95_one_way_delay_ms": delay_p95_ms}


@goal_measure
def against_better(results: Results, bound: Bound, controller: str, sets: Sequence[str]) -> Outcome:
    """Mean score of a pool on a set less that of nada alone or rule alone, the better, as a share of it: worst set."""
    found = {}
    for name in sets:
        own = _score(results, name, controller)
        others = [x for one in _REFERENCES if (x := _score(results, name, one)) is not None]
        if own is not None and others:
            found[name] = own / max(others) - 1
    return _worst(found, bound, results.why_no_run(sets[0]))


@goal_measure
def inactive(results: Results, bound: Bound, controller: str, sets: Sequence[str]) -> Outcome:
    """Share of decisions that a pool's first member did not make: mean over sets."""
    runs = {name: results.runs(name, controller) for name in sets}
    found = {name: mean(1 - _pool(run).members[0].pilot_share for run in some) for name, some in runs.items() if some}
    if not found:
        return Outcome(reason=results.why_no_run(sets[0]))
    return Outcome(mean(found.values()), _shown(found, bound), found)


@goal_measure
def pool_gain(results: Results, bound: Bound, controller: str, sets: Sequence[str]) -> Outcome:
    """Mean score of a pool less that of its model alone: worst set."""
    scores = {name: (_score(results, name, controller), _score(results, name, "weir")) for name in sets}
    found = {name: own - alone for name, (own, alone) in scores.items() if own is not None and alone is not None}
    return _worst(found, bound, results.why_no_run(sets[0]))


@goal_measure
def replaced_within(results: Results, bound: Bound, seconds: float, controller: str, name: str) -> Outcome:
    """Share of a set's paths on which a pool has replaced its first member within that time."""
    active_s = sorted(_active_until_s(run) for run in results.runs(name, controller))
    if not active_s:
        return Outcome(reason=results.why_no_run(name))
    never = sum(one == float("inf") for one in active_s)
    detail = f"median {active_s[len(active_s) // 2]:.1f} s; never on {never} of {len(active_s)}"
    return Outcome(sum(one <= seconds for one in active_s) / len(active_s), detail)


@goal_measure
def guard_rule(results: Results, bound: Bound, rule: str, controllers: Sequence[str], sets: Sequence[str]) -> Outcome:
    """Score that a rule of the guard gains, with the rule less without: mean over sets, behind the first of the
    controllers. Figures: the means of its effects by controller.
    """
    effects: dict[str, list[dict[str, float]]] = {}
    for controller in controllers:
        for name in sets:
            with_rule, without = (results.runs(f"{name}, {rules}", controller) for rules in (ALL_RULES, f"{rule} off"))
            if effect := _rule_effect(with_rule, without):
                effects.setdefault(controller, []).append(effect)
    if controllers[0] not in effects:
        return Outcome(reason=results.why_no_run(sets[0]))
    gains = {controller: mean(one[SCORE] for one in of_sets) for controller, of_sets in effects.items()}
    detail = ", ".join(f"{controller} {gain:+.2f}" for controller, gain in gains.items())
    figures = {
        f"{controller}/{key}": mean(one[key] for one in of_sets)
        for controller, of_sets in effects.items()
        for key in _EFFECTS
    }
    return Outcome(gains[controllers[0]], detail, figures)


def _rule_effect(with_rule: Sequence[RunRecord], without: Sequence[RunRecord]) -> dict[str, float]:
    """Means of _EFFECTS with the rule less those without, over runs paired by scenario and seed; empty without any."""
    ones, others = _by_run(with_rule), _by_run(without)
    runs = ones.keys() & others.keys()
    if not runs:
        return {}
    return {
        name: mean((of_run(ones[run]) or 0.0) - (of_run(others[run]) or 0.0) for run in runs)
        for name, of_run in _EFFECTS.items()
    }


def _by_run(records: Sequence[RunRecord]) -> dict[tuple[str, int], RunRecord]:
    return {(run.scenario, run.seed): run for run in records if delay_p95_ms(run) is not None}


def _pool(record: RunRecord) -> PoolRecord:
    pool = record.flows[0].pool
    assert pool is not None
    return pool


def _active_until_s(record: RunRecord) -> float:
    """When a pool's first member was replaced as the active controller; infinite for never."""
    held_s = _pool(record).first_pilot_held_s
    return float("inf") if held_s is None else held_s


def _score(results: Results, name: str, controller: str) -> float | None:
    scores = [score for run in results.runs(name, controller) if (score := metric(SCORE)(run)) is not None]
    return mean(scores) if scores else None


def _worst(by_set: Mapping[str, float], bound: Bound, why_none: str) -> Outcome:
    if not by_set:
        return Outcome(reason=why_none)
    return Outcome(min(by_set.values()), _shown(by_set, bound), by_set)


def _shown(by_set: Mapping[str, float], bound: Bound) -> str:
    return ", ".join(f"{name} {bound.show(value)}" for name, value in by_set.items())
