"""`summary.json`: what a set of runs says, for scripts. The stable interface of `weir replay`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.measures.statistics import compare_paired, distinct_runs, spread
from weir.registry import SIMULATED

REFERENCE = "weir"


def summarise(
    results: Sequence[Mapping[str, Any]], run: Mapping[str, Any], metrics: Mapping[str, Metric] = METRICS
) -> dict[str, Any]:
    """The summary of lines of `results.jsonl`.

    Args:
        results: lean result records, each with `scenario`, `controller`, `seed` and `metrics.run`.
        run: what was run (command, versions, seeds), carried along as it is.
        metrics: the measures by name.

    Returns:
        schema, run, metrics (unit and direction of each), controllers.<name>.<metric>.{mean, p5, p95, worst, ci95,
        n, independent}, scenarios.<name>.<controller>.<metric> (means over seeds) and paired (weir against every other
        controller: a list of {a, b, metric, mean, ci95, wins, losses, n, independent}). Runs that repeat others count
        in scenarios only. A metric that no run of a controller defines is absent there.
    """
    controllers = ordered_controllers(result["controller"] for result in results)
    scenarios = list(dict.fromkeys(result["scenario"] for result in results))

    def by_metric(some: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], dict[tuple[str, int], float]]:
        return {(name, metric): run_values(some, name, metric) for name in controllers for metric in metrics}

    values, every_value = by_metric(distinct_runs(results)), by_metric(results)
    return {
        "schema": "weir.summary/1",
        "run": dict(run),
        "metrics": {m.name: {"label": m.label, "better": m.better, "meaning": m.meaning} for m in metrics.values()},
        "controllers": {
            name: {
                metric: asdict(found) | {"ci95": list(found.ci95)}
                for metric, described in metrics.items()
                if (found := spread(described, values[name, metric]))
            }
            for name in controllers
        },
        "scenarios": {scenario: _by_controller(scenario, controllers, every_value) for scenario in scenarios},
        "paired": _paired(controllers, values, metrics),
    }


def ordered_controllers(names: Iterable[str]) -> list[str]:
    """Each once: those of the simulator in the order of the registry, others after them."""
    order = {name: index for index, name in enumerate(SIMULATED)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))


def in_order(results: Sequence[Mapping[str, Any]], scenarios: Iterable[str]) -> list[Mapping[str, Any]]:
    """By seed, scenario (in the order given, others after) and controller: results are written as runs complete."""
    position = {name: index for index, name in enumerate(scenarios)}
    controllers = ordered_controllers(result["controller"] for result in results)

    def key(result: Mapping[str, Any]) -> tuple[int, int, str, int]:
        name = result["scenario"]
        return result["seed"], position.get(name, len(position)), name, controllers.index(result["controller"])

    return sorted(results, key=key)


def run_values(results: Iterable[Mapping[str, Any]], controller: str, metric: str) -> dict[tuple[str, int], float]:
    """A metric by scenario and seed, of the runs of a controller that define it."""
    return {
        (result["scenario"], result["seed"]): value
        for result in results
        if result["controller"] == controller and (value := result["metrics"]["run"].get(metric)) is not None
    }


def scenario_means(results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """Scenario -> controller -> metric -> mean over seeds; what no run defines is absent."""
    controllers = ordered_controllers(result["controller"] for result in results)
    values = {(name, metric): run_values(results, name, metric) for name in controllers for metric in METRICS}
    return {
        scenario: _by_controller(scenario, controllers, values)
        for scenario in dict.fromkeys(result["scenario"] for result in results)
    }


def _by_controller(
    scenario: str, controllers: Sequence[str], values: Mapping[tuple[str, str], Mapping[tuple[str, int], float]]
) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for name in controllers:
        for metric in (metric for controller, metric in values if controller == name):
            over_seeds = [value for (where, _), value in values[name, metric].items() if where == scenario]
            if over_seeds:
                table.setdefault(name, {})[metric] = sum(over_seeds) / len(over_seeds)
    return table


def _paired(
    controllers: Sequence[str],
    values: Mapping[tuple[str, str], Mapping[tuple[str, int], float]],
    metrics: Mapping[str, Metric],
) -> list[dict[str, Any]]:
    if REFERENCE not in controllers:
        return []
    rows = []
    for other in controllers:
        for metric, described in metrics.items():
            if other == REFERENCE:
                continue
            found = compare_paired(described, values[REFERENCE, metric], values[other, metric])
            if found:
                rows.append({"a": REFERENCE, "b": other, "metric": metric} | asdict(found) | {"ci95": list(found.ci95)})
    return rows
