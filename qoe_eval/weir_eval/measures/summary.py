"""Summarizes the records of many runs or calls: means, tails, and paired comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weir_eval.measures.comparison import compared_pairs, default_reference
from weir_eval.measures.statistics import compare_paired, distinct_runs, spread
from weir_eval.measures.table import MEASURES, Kind, Measure
from weir_eval.records.comparisons import PairedComparison, PairedRow, Spread
from weir_eval.records.record import Record
from weir_eval.records.results_file import RecordType
from weir_eval.records.summary import MeasureAbout, RunAbout, Summary
from weir_sim.controllers import SIMULATED

Values = dict[tuple[str, int], float]
"""One measure by scenario and seed."""
Means = dict[str, dict[str, dict[str, float]]]
"""Means over seeds by scenario, controller and measure."""


def summarise(results: Sequence[Record], run: RunAbout, kind: Kind = "replay") -> Summary:
    """The summary of records. Runs that repeat others affect only `scenarios`. The reference is that of `run`, else the
    default.
    """
    measures = MEASURES.of(kind)
    controllers = ordered_controllers(result.controller for result in results)
    reference = run.reference if run.reference in controllers else default_reference(controllers)

    values = _by_measure(distinct_runs(results), controllers, measures)
    common = {measure: common_runs(values[name, measure] for name in controllers) for measure in measures}

    def found(name: str, described: Measure) -> Spread | None:
        of_common = {one: value for one, value in values[name, described.name].items() if one in common[described.name]}
        return spread(described, of_common, run.near_copies)

    return Summary(
        run=run.model_copy(update={"reference": reference}),
        metrics={m.name: MeasureAbout(label=m.label, better=m.better, meaning=m.meaning) for m in measures.values()},
        controllers={
            name: {measure: one for measure, described in measures.items() if (one := found(name, described))}
            for name in controllers
        },
        scenarios=_means(results, _by_measure(results, controllers, measures)),
        paired=_paired(compared_pairs(controllers, reference), values, measures, run.near_copies),
        completed={name: sum(result.controller == name for result in results) for name in controllers},
    )


def common_runs(values: Iterable[Values]) -> set[tuple[str, int]]:
    """The runs that all controllers with any run have in common: means over each one's completed runs would favor those
    that fail on hard paths. A controller that shares no run with those that completed more is ignored, and has no mean.
    """
    common: set[tuple[str, int]] = set()
    for by_run in sorted(values, key=len, reverse=True):
        common = (common & by_run.keys()) or common or set(by_run)
    return common


def ordered_controllers(names: Iterable[str]) -> list[str]:
    """Distinct controllers: those of the simulator in the order of the registry, then others."""
    order = {name: index for index, name in enumerate(SIMULATED)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))


def sorted_records(results: Sequence[RecordType], scenarios: Iterable[str]) -> list[RecordType]:
    """Sorts results, written as runs complete, by seed, scenario (in the order given, then others) and controller."""
    position = {name: index for index, name in enumerate(scenarios)}
    order = {name: index for index, name in enumerate(ordered_controllers(one.controller for one in results))}

    def key(result: Record) -> tuple[int, int, str, int]:
        name = result.scenario
        return result.seed, position.get(name, len(position)), name, order[result.controller]

    return sorted(results, key=key)


def run_values(results: Iterable[Record], controller: str, metric: str) -> Values:
    """A metric by scenario and seed, for the runs of a controller that define it."""
    return {
        (result.scenario, result.seed): value
        for result in results
        if result.controller == controller and (value := result.measures.get(metric)) is not None
    }


def scenario_means(results: Sequence[Record]) -> Means:
    """Scenario -> controller -> metric -> mean over seeds; omits metrics that no run defines."""
    controllers = ordered_controllers(result.controller for result in results)
    return _means(results, _by_measure(results, controllers, MEASURES))


def against(records: Sequence[Record], own: str, other: str, metric: str = "challenge") -> PairedComparison | None:
    """own - other, paired by scenario and seed; runs that repeat others count once."""
    records = distinct_runs(records)
    return compare_paired(MEASURES[metric], run_values(records, own, metric), run_values(records, other, metric))


def _by_measure(
    results: Iterable[Record], controllers: Iterable[str], measures: Iterable[str]
) -> dict[tuple[str, str], Values]:
    """The values by controller and measure, in this order; one pass over all results."""
    found: dict[tuple[str, str], Values] = {(name, measure): {} for name in controllers for measure in measures}
    for result in results:
        for measure, value in result.measures.items():
            if value is not None and (result.controller, measure) in found:
                found[result.controller, measure][result.scenario, result.seed] = value
    return found


def _means(results: Iterable[Record], values: Mapping[tuple[str, str], Values]) -> Means:
    some: dict[str, dict[str, dict[str, list[float]]]] = {result.scenario: {} for result in results}
    for (name, metric), by_run in values.items():
        for (scenario, _), value in by_run.items():
            some[scenario].setdefault(name, {}).setdefault(metric, []).append(value)
    return {
        scenario: {
            name: {metric: sum(known) / len(known) for metric, known in by_metric.items()}
            for name, by_metric in by_controller.items()
        }
        for scenario, by_controller in some.items()
    }


def _paired(
    pairs: Iterable[tuple[str, str]],
    values: Mapping[tuple[str, str], Values],
    measures: Mapping[str, Measure],
    copies: Mapping[str, str],
) -> list[PairedRow]:
    return [
        PairedRow.of(own, other, metric, found)
        for own, other in pairs
        for metric, described in measures.items()
        if (found := compare_paired(described, values[own, metric], values[other, metric], copies))
    ]
