"""Values of a metric by run, and the runs that are compared: distinct ones, and those that all controllers have.

All comparisons pair runs by scenario and seed with these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from weir_eval.records.record import Record
from weir_eval.records.results_file import RecordType

Metric = str | Callable[[Any], float | None]
"""The name of a measure in `MEASURES`, or a function of a record."""
Run = tuple[str, int]
"""Scenario and seed."""
RunValues = Mapping[Run, float]


def run_values(records: Iterable[Record], controller: str, metric: Metric) -> dict[Run, float]:
    """A metric of a controller's runs; omits runs in which it is undefined."""
    return {
        (record.scenario, record.seed): value
        for record in records
        if record.controller == controller and (value := metric_value(record, metric)) is not None
    }


def metric_value(record: Record, metric: Metric) -> float | None:
    """The metric of a record."""
    return record.measures.get(metric) if isinstance(metric, str) else metric(record)


def distinct_runs(records: Sequence[RecordType]) -> list[RecordType]:
    """Removes repeated runs: a scenario and seed for which every controller has the same measures as for an earlier one
    adds no information. Examples are seeds of a scenario without randomness, and a trace given twice.
    """
    runs: dict[Run, list[RecordType]] = {}
    for record in records:
        runs.setdefault((record.scenario, record.seed), []).append(record)
    seen = set()
    distinct = []
    for group in runs.values():
        measured = frozenset((record.controller, tuple(sorted(record.measures.items()))) for record in group)
        if measured not in seen:
            distinct += group
        seen.add(measured)
    return distinct


def common_runs(values: Iterable[RunValues]) -> set[Run]:
    """The runs that all controllers with any run have in common: means over each one's completed runs would favor those
    that fail on hard paths. A controller that shares no run with those that completed more is ignored, and has no mean.
    """
    common: set[Run] = set()
    for by_run in sorted(values, key=len, reverse=True):
        common = (common & by_run.keys()) or common or set(by_run)
    return common


def mean_over_seeds(values: RunValues) -> dict[str, float]:
    """The mean over the runs of each scenario."""
    by_scenario: dict[str, list[float]] = {}
    for (scenario, _), value in values.items():
        by_scenario.setdefault(scenario, []).append(value)
    return {scenario: fmean(of_seeds) for scenario, of_seeds in by_scenario.items()}
