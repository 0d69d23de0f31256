"""One model under many objectives: the three presets, and a fan over the simplex of weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from weir_eval.measures.metrics import utility
from weir_eval.measures.statistics import compare_paired
from weir_eval.measures.steering import LISTED, ORDER, PAIRS, steering
from weir_eval.measures.summary import sorted_records
from weir_eval.measures.table import MEASURES
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.objectives import ObjectiveMeans, ObjectivesSummary
from weir_eval.records.part import Measures, Objective
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.jobs import ReplayPlan
from weir_sim.controllers import POLICY, PRESETS, WEIGHTS
from weir_sim.objectives import MINIMUM_WEIGHT

FOLDER = "objectives"
SEED = 1
SHOWN = ("utilisation", "p95_queueing_delay_ms", "loss_ratio", "challenge")
REFERENCES = ("gcc", "rule")
# Steps of the R2 sequence (Roberts 2018): 1 / g and 1 / g^2, where g is the root of g^3 = g + 1.
_G = 1.324717957244746


def objective_fan(count: int) -> list[Objective]:
    """Objectives spread evenly over the simplex, no weight below 0.05; a shorter fan is a prefix of a longer one."""
    fan = []
    for index in range(1, count + 1):
        first, second = (0.5 + index / _G) % 1.0, (0.5 + index / _G**2) % 1.0
        if first + second > 1:
            first, second = 1 - first, 1 - second
        throughput, latency = (round(MINIMUM_WEIGHT + (1 - 3 * MINIMUM_WEIGHT) * share, 3) for share in (first, second))
        fan.append((throughput, latency, round(1 - throughput - latency, 3)))
    return fan


def objective_plans(plan: ReplayPlan, count: int) -> list[ReplayPlan]:
    """The presets and a fan of `count` over the scenarios of a plan: only its model, one seed, no series kept."""
    objectives = dict.fromkeys([*PRESETS.values(), *objective_fan(count)])
    alone = replace(plan, controllers=(POLICY,), seeds=(SEED,), series="measured")
    return [replace(alone, objective=objective) for objective in objectives]


def summarise_objectives(records: Sequence[RunRecord], main_records: Sequence[RunRecord]) -> ObjectivesSummary | None:
    """The summary of the runs of `objective_plans`; None if the presets have no scenario in common.

    The result does not depend on the order of `records`, in which runs complete. `main_records` are those of the main
    comparison, for the reference controllers.
    """
    by_objective: dict[Objective, dict[str, Measures]] = {}
    for record in sorted_records(records, dict.fromkeys(record.scenario for record in main_records)):
        if record.objective:
            by_objective.setdefault(record.objective, {})[record.scenario] = record.measures
    if not set(PRESETS.values()) <= by_objective.keys():
        return None
    everywhere = set.intersection(*(set(runs) for runs in by_objective.values()))
    scenarios = [name for name in by_objective[PRESETS["balanced"]] if name in everywhere]
    if not scenarios:
        return None
    presets = {name: {run: by_objective[weights][run] for run in scenarios} for name, weights in PRESETS.items()}
    fan = [
        _means((by_objective[objective][name] for name in scenarios), objective)
        for objective in sorted(by_objective, reverse=True)
        if objective not in PRESETS.values()
    ]
    references: dict[str, list[Measures]] = {name: [] for name in REFERENCES}
    for record in main_records:
        if record.controller in references and record.seed == SEED and record.scenario in everywhere:
            references[record.controller].append(record.measures)
    return ObjectivesSummary(
        seed=SEED,
        scenarios=scenarios,
        presets={name: _means(presets[name].values(), PRESETS[name], with_utility=True) for name in LISTED},
        preset_differences=[row for a, b in PAIRS for metric in SHOWN if (row := _difference(presets, a, b, metric))],
        fan=[
            point.model_copy(update={"non_dominated": on_front})
            for point, on_front in zip(fan, pareto_front(fan), strict=True)
        ],
        references={
            name: _means(runs, with_utility=True) for name, runs in references.items() if len(runs) == len(scenarios)
        },
        steering=steering({run: {name: presets[name][run] for name in ORDER} for run in scenarios}),
        preset_scenarios={
            run: {name: {metric: presets[name][run].get(metric) for metric in SHOWN} for name in LISTED}
            for run in scenarios
        },
    )


def pareto_front(points: Sequence[ObjectiveMeans]) -> list[bool]:
    """True for each point that is not dominated by another: one with at least the utilization and at most the p95
    queueing delay, one of which is better. False for points that lack either.
    """
    places = [
        None
        if point.utilisation is None or point.p95_queueing_delay_ms is None
        else (point.utilisation, -point.p95_queueing_delay_ms)
        for point in points
    ]
    return [
        place is not None
        and not any(
            other is not None and other != place and other[0] >= place[0] and other[1] >= place[1] for other in places
        )
        for place in places
    ]


def _means(runs: Iterable[Measures], weights: Objective | None = None, *, with_utility: bool = False) -> ObjectiveMeans:
    runs = list(runs)
    known = {metric: [value for run in runs if (value := run.get(metric)) is not None] for metric in SHOWN}
    means: dict[str, float | None] = {
        metric: sum(values) / len(values) if values else None for metric, values in known.items()
    }
    means |= dict(zip(WEIGHTS, weights, strict=True)) if weights else {}
    utility = {"utility": _utilities(runs)} if with_utility else {}
    return ObjectiveMeans.model_validate(means | utility)


def _utilities(runs: Sequence[Measures]) -> dict[str, float | None]:
    """The mean utility of runs with each preset's weights, regardless of the objective of the runs."""
    means: dict[str, float | None] = {}
    for name in LISTED:
        known = [value for run in runs if (value := utility(PRESETS[name], run)) is not None]
        means[name] = sum(known) / len(known) if known else None
    return means


def _difference(presets: Mapping[str, Mapping[str, Measures]], a: str, b: str, metric: str) -> PairedRow | None:
    first, second = (
        {(run, SEED): value for run, values in presets[name].items() if (value := values.get(metric)) is not None}
        for name in (a, b)
    )
    found = compare_paired(MEASURES[metric], first, second)
    return None if found is None else PairedRow.of(a, b, metric, found)
