"""The measure of most goals: a metric of a controller, alone or compared with others, aggregated over scenarios.

records --> values by run --> rows by scenario --> compared values --> aggregation --> outcome of the goal
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, NamedTuple

from weir_cli.console import counted
from weir_eval.measures.families import SCORE
from weir_eval.measures.run_values import Metric, Run, distinct_runs
from weir_eval.report.goal_table import Bound
from weir_eval.report.text import too_few_text
from weir_sim.controllers import POLICY
from weir_suites.aggregations import MEAN, Aggregation
from weir_suites.metric import best, display, gain
from weir_suites.results import Results
from weir_suites.rows import Place, Row, Rows, Unit, unit_values
from weir_suites.suite import Outcome
from weir_traces.schema.scenario import Scenario

Contrast = Literal["gain", "difference", "ratio", "relative"]
"""The controller minus the other with the sign so that above 0 is better; minus; over; over, minus 1."""
# Limit of the rows that are figures of their own.
_FIGURES = 15


class Side(NamedTuple):
    """A controller on the compared sets, or on another set of the same scenarios."""

    controller: str
    on: str = ""

    @property
    def label(self) -> str:
        """Its name in figures and details."""
        return self.on or self.controller


@dataclass(frozen=True)
class Comparison:
    """A goal's measure. The time of an event that never happens is infinite.

    Attributes:
        sets: sets of scenarios.
        metric: name of a measure, or a function of a record with its series, of which higher counts as better.
        aggregation: the statistic over rows.
        controller: the controller that is judged.
        others: controllers of which the best is compared; empty: uses the controller's values alone.
        contrast: the comparison of the controller with the others, see `Contrast`.
        unit: the unit of a row, see `Unit`.
        where: condition on scenarios; None: all.
        groups: the groups of a scenario; compared values are then means over the scenarios of each group.
        baseline: a set of the same scenarios under usual conditions; `controller` is compared with itself there, or
            with the only one of `others`.
        listed: other controllers in the detail.
        more_metrics: further metrics in the detail, by their description.
        paired: use only runs that all controllers have; identical runs count once.
        min_rows: with fewer compared values the goal is undecided.
    """

    sets: str | Sequence[str]
    metric: Metric = SCORE
    aggregation: Aggregation = MEAN
    controller: str = POLICY
    others: Sequence[str] = ()
    contrast: Contrast = "gain"
    unit: Unit = "scenario"
    where: Callable[[Scenario], bool] | None = None
    groups: Callable[[Scenario], Iterable[str]] | None = None
    baseline: str = ""
    listed: Sequence[str] = ()
    more_metrics: Mapping[str, Metric] = field(default_factory=dict)
    paired: bool = False
    min_rows: int = 1

    def __call__(self, results: Results, bound: Bound) -> Outcome:
        """The aggregated value; undecided if a controller or set that it needs is missing."""
        rows, reason = self.rows(results), self.why_absent(results)
        if len(rows.compared) < self.min_rows:
            return Outcome(reason=reason or "no run has what is measured")
        means = self._means(results, self.metric)
        value = self.aggregation.value(rows, bound)
        detail = "; ".join(self._detail(results, rows, bound, means))
        if value is None:
            return Outcome(detail=detail, reason=too_few_text(len(rows.compared)))
        figures = self._figures(rows, bound, means)
        reason = self._undecided(reason)
        if not math.isfinite(value):
            never = f"never with {self.others[0]}" if value == -math.inf else "never"
            return Outcome(None, detail, figures, reason, never, bound.met(value))
        return Outcome(value, detail, figures, reason)

    def rows(self, results: Results) -> Rows:
        """The controller's values, each compared with the best of the others."""
        values, *of_others = self._values(results, self._sides, self.metric).values()
        rows = []
        for place, value in values.items():
            others = [by_place[place] for by_place in of_others if place in by_place]
            if self._is_complete(others):
                rows.append(self._row(place, value, others))
        return Rows(rows, self._compared(results, rows), self.metric, self.unit)

    def why_absent(self, results: Results) -> str:
        """Why a controller or set that is needed is missing; empty if all are there."""
        names = self.set_names
        if self.unit == "set" or self.aggregation.partial_sets:
            names = [name for name in names if results.replays_of(name)] or names
        if not self.baseline:
            return results.why_absent(names, self.controller, self.others)
        reasons = [results.why_absent(names, self.controller)]
        reasons += [results.why_absent([side.on], side.controller) for side in self._opponents]
        return "; ".join(dict.fromkeys(filter(None, reasons)))

    @property
    def set_names(self) -> Sequence[str]:
        """The names of the compared sets."""
        return (self.sets,) if isinstance(self.sets, str) else self.sets

    @property
    def _all_sets(self) -> list[str]:
        return [*self.set_names, *([self.baseline] if self.baseline else [])]

    @property
    def _opponents(self) -> Sequence[Side]:
        others = self.others or ([self.controller] if self.baseline else [])
        return [Side(other, self.baseline) for other in others]

    @property
    def _sides(self) -> Sequence[Side]:
        return [Side(self.controller), *self._opponents]

    def _values(self, results: Results, sides: Iterable[Side], metric: Metric) -> dict[str, dict[Place, float]]:
        """The values of each side, by its label and the place of the row."""
        found: dict[str, dict[Place, float]] = {side.label: {} for side in sides}
        for name in self.set_names:
            paired = self._paired_runs(results, name) if self.paired else None
            for side in sides:
                values = results.run_values(side.on or name, side.controller, metric, self.where)
                if paired is not None:
                    values = {run: value for run, value in values.items() if run in paired}
                by_unit = unit_values(values, self.unit, name)
                found[side.label] |= {Place(name, *run): value for run, value in by_unit.items()}
        return found

    def _paired_runs(self, results: Results, name: str) -> set[Run]:
        """The runs of a set that both sides have, without repetitions."""
        sides = [(side.on or name, side.controller) for side in self._sides]
        distinct = [
            {(record.scenario, record.seed) for record in distinct_runs(results.replays_of(of_side))}
            for of_side in {of_side for of_side, _ in sides}
        ]
        return set.intersection(*distinct, *(set(results.run_values(*side, self.metric)) for side in sides))

    def _is_complete(self, others: Sequence[float]) -> bool:
        """True if these values of others suffice for a row."""
        return bool(others) or not self._opponents

    def _undecided(self, reason: str) -> str:
        """Why a goal with a value is undecided; empty if it is decided. `reason`: why something is absent."""
        return reason

    def _row(self, place: Place, value: float, others: Sequence[float]) -> Row:
        if not others:
            return Row(place, value, None, value)
        other = best(self.metric, others)
        return Row(place, value, other, self._contrasted(value, other))

    def _contrasted(self, value: float, other: float) -> float | None:
        """The two values compared; None for a ratio to 0."""
        match self.contrast:
            case "gain":
                return gain(self.metric, value, other)
            case "difference":
                return value - other
            case "ratio":
                return value / other if other > 0 else None
            case "relative":
                return value / other - 1 if other > 0 else None

    def _compared(self, results: Results, rows: Iterable[Row]) -> dict[str, float]:
        """The compared values by row, or their means by group."""
        compared = {row.place: row.compared for row in rows if row.compared is not None}
        if self.groups is None:
            return {place.label: value for place, value in compared.items()}
        groups = {
            (name, scenario.name): [*self.groups(scenario)]
            for name in self.set_names
            for scenario in results.scenarios(name)
        }
        by_group: dict[str, list[float]] = {}
        for place, value in compared.items():
            for group in groups.get((place.set_name, place.scenario), ()):
                by_group.setdefault(group, []).append(value)
        return {group: fmean(values) for group, values in by_group.items()}

    def _means(self, results: Results, metric: Metric) -> dict[str, float]:
        """The mean of each side over the rows that all sides with values have in common."""
        sides = [*self._sides, *map(Side, self.listed)]
        by_side = {label: values for label, values in self._values(results, sides, metric).items() if values}
        common = set.intersection(*map(set, by_side.values())) if by_side else set()
        return {label: fmean(values[place] for place in common) for label, values in by_side.items() if common}

    def _detail(self, results: Results, rows: Rows, bound: Bound, means: Mapping[str, float]) -> Iterator[str]:
        """The parts of the detail."""
        yield _shown(self.metric, means)
        for description, metric in self.more_metrics.items():
            yield f"{description}: {_shown(metric, self._means(results, metric))}"
        yield counted(len(rows.compared), "group" if self.groups else self.unit)
        if evidence := self.aggregation.evidence(rows, bound):
            yield evidence

    def _figures(self, rows: Rows, bound: Bound, means: Mapping[str, float]) -> dict[str, float]:
        """The numbers behind the value, without differences of rows and values of many, which would fill a record."""
        differences = self._opponents and self.contrast in ("gain", "difference") and self.unit != "set"
        has_rows = self.groups or (len(rows.compared) <= _FIGURES and not differences)
        figures = {**means, **(rows.compared if has_rows else {})}
        figures = {label: value for label, value in figures.items() if math.isfinite(value)}
        figures["n"] = len(rows.compared)
        more = {further.name: further.value(rows, bound) for further in self.aggregation.figures}
        return figures | {name: value for name, value in more.items() if value is not None}


def _shown(metric: Metric, values: Mapping[str, float]) -> str:
    """Displays the values of a metric by name."""
    return ", ".join(f"{name} {display(metric, value)}" for name, value in values.items())
