"""`weir experiment send-side`, without its command line: Weir at the sender against Weir at the receiver and GCC, and
against itself with other models.

sets of scenarios x controllers x seeds --> the runner of `weir replay` --> results.jsonl --> rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from weir.qoe_eval.experiments.policy.sets import TRACE_SETS, policy_sets
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.statistics import compare_paired, distinct_runs
from weir.qoe_eval.measures.summary import run_values, scenario_means
from weir.qoe_eval.records import PairedComparison
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.registry import PRESETS
from weir.traces.catalogue import bundled_scenarios
from weir.traces.generate.families.families import FAMILIES
from weir.traces.schema.scenario import Scenario

AT_SENDER, AT_RECEIVER, GCC = CONTROLLERS = ("weir-send", "weir", "gcc")
CATALOGUE = "catalogue"
RANDOM = "random"
SETS = (CATALOGUE, RANDOM, *TRACE_SETS, *FAMILIES)
SCORE = "challenge"
Records = Sequence[Mapping[str, Any]]
_GOAL = Goal("at least", -1.0, "points", signed=True)
_NO_LOSS = Goal("at least", 0.0, "points", signed=True)
# Name of the row over all sets that were chosen.
TOGETHER = "together"


def send_side_sets(traces: Path | None, random_scenarios: int, chosen: Sequence[str]) -> dict[str, list[Scenario]]:
    """Scenarios by set, in the order of SETS; sets whose traces are not there are empty.

    Args:
        traces: the folder that holds `opennetlab/` and `mahimahi/`.
        random_scenarios: how many of the held-out split.
        chosen: of SETS; empty for all.

    Raises:
        InputError: a trace cannot be used.
    """
    wanted = [name for name in SETS if not chosen or name in chosen]
    policy = policy_sets(traces, random_scenarios)
    found: dict[str, list[Scenario]] = {}
    for name in wanted:
        if name == CATALOGUE:
            found[name] = bundled_scenarios()
        else:
            found[name] = FAMILIES[name]().scenarios() if name in FAMILIES else policy[name].scenarios
    return found


def send_side_plans(
    sets: Mapping[str, Sequence[Scenario]],
    seeds: Sequence[int],
    model: Path,
    simulator: Path,
    controllers: Sequence[str] = CONTROLLERS,
) -> list[ReplayPlan]:
    """One plan for each set, in their order."""
    return [
        ReplayPlan(list(some), controllers, PRESETS["balanced"], seeds, model, simulator, "none")
        for some in sets.values()
    ]


def send_side_row(name: str, records: Records) -> Row:
    """The goal of a set: Weir at the sender is as good as at the receiver, within a point."""
    what = f"{name}: {SCORE} score at the sender less that at the receiver"
    records = distinct_runs(records)
    values = {one: run_values(records, one, SCORE) for one in CONTROLLERS}
    found = {other: compare_paired(METRICS[SCORE], values[AT_SENDER], values[other]) for other in (AT_RECEIVER, GCC)}
    at_receiver, gcc = found[AT_RECEIVER], found[GCC]
    if at_receiver is None or gcc is None:
        return not_measured(name, what, _GOAL, "no such run")
    means = scenario_means(records)
    scores = {one: _mean([by[one][SCORE] for by in means.values() if SCORE in by.get(one, {})]) for one in CONTROLLERS}
    detail = (
        ", ".join(f"{one} {score:.2f}" for one, score in scores.items())
        + f"; less {AT_RECEIVER} {_interval(at_receiver)}, less {GCC} {_interval(gcc)}; {len(means)} scenarios"
    )
    return measured(name, what, _GOAL, at_receiver.mean, detail, **scores)


def other_model_rows(
    other: str, sets: Sequence[str], records: Sequence[Records], of_other: Sequence[Records]
) -> list[Row]:
    """What another model has at the sender less what the model has there, set by set and over all of them; the goal is
    that it loses nothing.

    Args:
        other: name of the other model.
        sets: names of the sets.
        records: of the model, by set; those of other controllers do not count.
        of_other: of the other model at the sender, by set.
    """
    pairs = [*zip(sets, records, of_other, strict=True), (TOGETHER, [*chain(*records)], [*chain(*of_other)])]
    return [_other_model_row(name, other, *both) for name, *both in pairs]


def _other_model_row(name: str, other: str, records: Records, of_other: Records) -> Row:
    row = f"{name}, {other}"
    what = f"{name}: {SCORE} score of {other} at the sender less the model's"
    found = compare_paired(METRICS[SCORE], *(run_values(some, AT_SENDER, SCORE) for some in (of_other, records)))
    if found is None:
        return not_measured(row, what, _NO_LOSS, "no such run")
    detail = f"{_interval(found)}; better in {found.wins} of {found.independent} scenarios"
    return measured(row, what, _NO_LOSS, found.mean, detail, ci95=found.ci95)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _interval(comparison: PairedComparison) -> str:
    low, high = comparison.ci95
    interval = "" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]"
    return f"{comparison.mean:+.2f}{interval}"
