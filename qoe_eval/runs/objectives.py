"""One model under many objectives: the three presets, and a fan spread over the simplex of weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.metrics import Values, utility
from weir.qoe_eval.measures.statistics import compare_paired
from weir.qoe_eval.measures.steering import LISTED, ORDER, PAIRS, TOLERANCES, steering
from weir.qoe_eval.measures.summary import REFERENCE, in_order
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.registry import PRESETS, WEIGHTS
from weir.trainer.gym import MINIMUM_RANDOM_WEIGHT

Objective = tuple[float, float, float]

FOLDER = "objectives"
SEED = 1
SHOWN = ("utilisation", "p95_queueing_delay_ms", "loss_ratio", "challenge")
REFERENCES = ("gcc", "rule")
# Steps of the R2 sequence (Roberts 2018): 1 / g and 1 / g^2, g being the root of g^3 = g + 1.
_G = 1.324717957244746


def objective_fan(count: int) -> list[Objective]:
    """Objectives spread evenly over the simplex, no weight below 0.05; the first ones of a longer fan are the shorter
    fan.
    """
    fan = []
    for index in range(1, count + 1):
        first, second = (0.5 + index / _G) % 1.0, (0.5 + index / _G**2) % 1.0
        if first + second > 1:
            first, second = 1 - first, 1 - second
        throughput, latency = (
            round(MINIMUM_RANDOM_WEIGHT + (1 - 3 * MINIMUM_RANDOM_WEIGHT) * share, 3) for share in (first, second)
        )
        fan.append((throughput, latency, round(1 - throughput - latency, 3)))
    return fan


def objective_plans(plan: ReplayPlan, count: int) -> list[ReplayPlan]:
    """The presets and a fan of `count` over the scenarios of a plan: its model alone, one seed, no series."""
    objectives = dict.fromkeys([*PRESETS.values(), *objective_fan(count)])
    alone = replace(plan, controllers=(REFERENCE,), seeds=(SEED,), series="none")
    return [replace(alone, objective=objective) for objective in objectives]


def summarise_objectives(
    records: Sequence[Mapping[str, Any]], main_records: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """What `summary.json` has under `objectives`; nothing where the presets have no scenario in common.

    Only scenarios count that every objective has completed. `main_records` are those of the main comparison, in order,
    for the controllers that stand beside the model. The order of `records`, in which runs complete, changes nothing.

    Returns:
        seed, scenarios (names), presets.<name> and the list fan, each with the three weights and the means over
        scenarios of utilisation, p95_queueing_delay_ms, loss_ratio and challenge; in the fan also non_dominated; in
        presets and references also utility.<preset>, the utility of their runs under each preset's weights;
        preset_differences, a list like `paired` with presets as a and b; references.<controller>, means over the same
        scenarios and seed; steering, as `weir.qoe_eval.measures.steering` defines it, and
        preset_scenarios.<scenario>.<preset>.
    """
    by_objective: dict[Objective, dict[str, Values]] = {}
    for record in in_order(records, dict.fromkeys(record["scenario"] for record in main_records)):
        objective = tuple(record["objective"])
        by_objective.setdefault(objective, {})[record["scenario"]] = record["metrics"]["run"]
    if not set(PRESETS.values()) <= by_objective.keys():
        return None
    everywhere = set.intersection(*(set(runs) for runs in by_objective.values()))
    scenarios = [name for name in by_objective[PRESETS["balanced"]] if name in everywhere]
    if not scenarios:
        return None
    presets = {name: {run: by_objective[weights][run] for run in scenarios} for name, weights in PRESETS.items()}
    fan = [
        dict(zip(WEIGHTS, objective, strict=True)) | _means(by_objective[objective][name] for name in scenarios)
        for objective in sorted(by_objective, reverse=True)
        if objective not in PRESETS.values()
    ]
    references: dict[str, list[Values]] = {name: [] for name in REFERENCES}
    for record in main_records:
        if record["controller"] in references and record["seed"] == SEED and record["scenario"] in everywhere:
            references[record["controller"]].append(record["metrics"]["run"])
    return {
        "seed": SEED,
        "scenarios": scenarios,
        "presets": {
            name: dict(zip(WEIGHTS, PRESETS[name], strict=True))
            | _means(presets[name].values())
            | _utilities(presets[name].values())
            for name in LISTED
        },
        "preset_differences": [
            row for a, b in PAIRS for metric in SHOWN if (row := _difference(presets, a, b, metric))
        ],
        "fan": [point | {"non_dominated": on_front} for point, on_front in zip(fan, pareto_front(fan), strict=True)],
        "references": {
            name: _means(runs) | _utilities(runs) for name, runs in references.items() if len(runs) == len(scenarios)
        },
        "steering": asdict(steering({run: {name: presets[name][run] for name in ORDER} for run in scenarios})),
        "preset_scenarios": {
            run: {name: {metric: presets[name][run].get(metric) for metric in SHOWN} for name in LISTED}
            for run in scenarios
        },
    }


def pareto_front(points: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Which points no other beats: one with at least the utilisation and at most the p95 queueing delay, and one of
    them better. Points that lack either are on no front.
    """

    def place(point: Mapping[str, Any]) -> tuple[float, float] | None:
        utilisation, delay_ms = (point.get(metric) for metric in TOLERANCES)
        return None if utilisation is None or delay_ms is None else (utilisation, -delay_ms)

    places = [place(point) for point in points]
    return [
        own is not None
        and not any(
            other is not None and other != own and other[0] >= own[0] and other[1] >= own[1] for other in places
        )
        for own in places
    ]


def _means(runs: Iterable[Values]) -> dict[str, Any]:
    runs = list(runs)
    means: dict[str, float | None] = {}
    for metric in SHOWN:
        values = [value for run in runs if (value := run.get(metric)) is not None]
        means[metric] = sum(values) / len(values) if values else None
    return means


def _utilities(runs: Iterable[Values]) -> dict[str, dict[str, float | None]]:
    """The mean utility of runs under each preset's weights, whatever they ran under."""
    runs = list(runs)
    means: dict[str, float | None] = {}
    for name in LISTED:
        parts = ([run.get(f"challenge_{part}") for part in ("rate", "delay", "loss")] for run in runs)
        known = [
            value for rate, delay, loss in parts if (value := utility(PRESETS[name], rate, delay, loss)) is not None
        ]
        means[name] = sum(known) / len(known) if known else None
    return {"utility": means}


def _difference(presets: Mapping[str, Mapping[str, Values]], a: str, b: str, metric: str) -> dict[str, Any] | None:
    first, second = (
        {(run, SEED): value for run, values in presets[name].items() if (value := values.get(metric)) is not None}
        for name in (a, b)
    )
    found = compare_paired(METRICS[metric], first, second)
    if found is None:
        return None
    return {"a": a, "b": b, "metric": metric} | asdict(found) | {"ci95": list(found.ci95)}
