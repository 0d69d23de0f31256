"""Summarizes the records of many runs or calls: means, tails, and paired comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weir_eval.measures.comparison import compared_pairs, default_reference
from weir_eval.measures.run_values import Run, RunValues, common_runs, distinct_runs
from weir_eval.measures.statistics import compare_paired, spread
from weir_eval.measures.table import MEASURES, Kind, Measure
from weir_eval.records.comparisons import PairedRow, Spread
from weir_eval.records.record import Record
from weir_eval.records.results_file import RecordType
from weir_eval.records.summary import MeasureAbout, RunAbout, Summary
from weir_sim.controllers import SIMULATED

Means = dict[str, dict[str, dict[str, float]]]
"""Means over seeds by scenario, controller and measure."""


def summarise(results: Sequence[Record], about: RunAbout, kind: Kind = "replay") -> Summary:
    """The summary of records. Runs that repeat others affect only `scenarios`. The reference is that of `about`, else
    the default.
    """
    measures = MEASURES.of(kind)
    controllers = ordered_controllers(result.controller for result in results)
    reference = about.reference if about.reference in controllers else default_reference(controllers)

    values = _by_measure(distinct_runs(results), controllers, measures)
    common = {measure: common_runs(values[name, measure] for name in controllers) for measure in measures}

    def spread_of(controller: str, measure: Measure) -> Spread | None:
        runs = common[measure.name]
        shared = {run: value for run, value in values[controller, measure.name].items() if run in runs}
        return spread(measure, shared, about.near_copies)

    return Summary(
        run=about.model_copy(update={"reference": reference}),
        metrics={
            m.name: MeasureAbout(label=m.label, unit=m.value_unit, better=m.better, meaning=m.meaning)
            for m in measures.values()
        },
        controllers={
            name: {measure: found for measure, row in measures.items() if (found := spread_of(name, row))}
            for name in controllers
        },
        scenarios=_means(results, _by_measure(results, controllers, measures)),
        paired=[
            PairedRow.of(a, b, measure, comparison)
            for a, b in compared_pairs(controllers, reference)
            for measure, row in measures.items()
            if (comparison := compare_paired(row, values[a, measure], values[b, measure], about.near_copies))
        ],
        completed={name: sum(result.controller == name for result in results) for name in controllers},
    )


def ordered_controllers(names: Iterable[str]) -> list[str]:
    """Distinct controllers: those of the simulator in the order of its table, then others."""
    order = {name: index for index, name in enumerate(SIMULATED)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))


def sorted_records(results: Sequence[RecordType], scenarios: Iterable[str]) -> list[RecordType]:
    """Sorts results, written as runs complete, by seed, scenario (in the order given, then others) and controller."""
    position = {name: index for index, name in enumerate(scenarios)}
    order = {name: index for index, name in enumerate(ordered_controllers(record.controller for record in results))}

    def key(result: Record) -> tuple[int, int, str, int]:
        name = result.scenario
        return result.seed, position.get(name, len(position)), name, order[result.controller]

    return sorted(results, key=key)


def scenario_means(results: Sequence[Record]) -> Means:
    """Scenario -> controller -> metric -> mean over seeds; omits metrics that no run defines."""
    controllers = ordered_controllers(result.controller for result in results)
    return _means(results, _by_measure(results, controllers, MEASURES))


def _by_measure(
    results: Iterable[Record], controllers: Iterable[str], measures: Iterable[str]
) -> dict[tuple[str, str], dict[Run, float]]:
    """The values by controller and measure, in this order; one pass over all results."""
    found: dict[tuple[str, str], dict[Run, float]] = {
        (name, measure): {} for name in controllers for measure in measures
    }
    for result in results:
        for measure, value in result.measures.items():
            if value is not None and (result.controller, measure) in found:
                found[result.controller, measure][result.scenario, result.seed] = value
    return found


def _means(results: Iterable[Record], values: Mapping[tuple[str, str], RunValues]) -> Means:
    over_seeds: dict[str, dict[str, dict[str, list[float]]]] = {result.scenario: {} for result in results}
    for (name, metric), by_run in values.items():
        for (scenario, _), value in by_run.items():
            over_seeds[scenario].setdefault(name, {}).setdefault(metric, []).append(value)
    return {
        scenario: {
            name: {metric: sum(of_seeds) / len(of_seeds) for metric, of_seeds in by_metric.items()}
            for name, by_metric in by_controller.items()
        }
        for scenario, by_controller in over_seeds.items()
    }
