"""What `weir experiment robust` has run, and measures of it that several goals need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from weir.qoe_eval.measures.flow_series import FlowSeries, read_flow_series
from weir.traces.schema.scenario import Scenario

Record = Mapping[str, Any]
Measure = Callable[[Record], float | None]


@dataclass(frozen=True)
class RobustResults:
    """Scenarios and records by family, in the order of the families, and by SHARING those of sharing; `with_series`
    gives a record its series back.
    """

    scenarios: Mapping[str, Sequence[Scenario]]
    records: Mapping[str, Sequence[Record]]
    with_series: Callable[[Record], Record]

    def of(self, family: str, controller: str, *parts: str) -> list[Record]:
        """Records of a family and a controller, of scenarios whose names have all these parts (between hyphens)."""
        return [
            record
            for record in self.records.get(family, [])
            if record["controller"] == controller and set(parts) <= set(record["scenario"].split("-"))
        ]

    def by_scenario(self, family: str, controller: str, measure: Measure, *parts: str) -> dict[str, float]:
        """A measure by scenario, the mean over seeds; a scenario that does not define it is left out."""
        values: dict[str, list[float]] = {}
        for record in self.of(family, controller, *parts):
            value = measure(record)
            if value is not None:
                values.setdefault(record["scenario"], []).append(value)
        return {scenario: mean(some) for scenario, some in values.items()}

    def series_of(self, record: Record) -> FlowSeries | None:
        """The series of the flow under test: the record's first."""
        whole = self.with_series(record)
        return read_flow_series(whole, whole["flows"][0])


def metric(name: str) -> Measure:
    """A measure that every record has."""

    def value(record: Record) -> float | None:
        found: float | None = record["metrics"]["run"].get(name)
        return found

    return value
