"""The rows of a comparison: a controller's values, each with the best value of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

from weir_eval.measures.run_values import Metric, Run, RunValues, mean_over_seeds
from weir_eval.measures.statistics import bootstrap_interval, path_differences

Unit = Literal["scenario", "run", "set", "call"]
"""The unit of a row: a scenario (mean over its seeds), a run, a set (mean over its scenarios), or a real call."""


class Place(NamedTuple):
    """The set, scenario and seed of a row. A mean over seeds has seed 0; a mean over a set has its name as scenario."""

    set_name: str
    scenario: str
    seed: int

    @property
    def label(self) -> str:
        """The name of the row in figures and details."""
        return f"{self.set_name}, {self.scenario}, seed {self.seed}" if self.seed else self.scenario


@dataclass(frozen=True)
class Row:
    """The value of the controller and the best of the others, None if it is not compared; and the two compared, None
    for a ratio to 0. Without others, `compared` is the value.
    """

    place: Place
    value: float
    best_other: float | None
    compared: float | None


@dataclass(frozen=True)
class Rows:
    """The input of an aggregation.

    Attributes:
        rows: the rows.
        compared: the compared values by label of the row, or their means by group of scenarios.
        metric: the metric of the values.
        unit: the unit of a row.
    """

    rows: Sequence[Row]
    compared: Mapping[str, float]
    metric: Metric
    unit: Unit

    @property
    def are_pairs(self) -> bool:
        """True if the controller is compared with others path by path."""
        return self.unit != "set" and all(row.best_other is not None for row in self.rows)

    @property
    def paths(self) -> list[str]:
        """The path of each row, which is that of its scenario."""
        return [row.place.scenario for row in self.rows]

    @property
    def columns(self) -> tuple[list[float], list[float]]:
        """The values of the controller, and the best of the others; NaN where it is not compared."""
        others = [math.nan if row.best_other is None else row.best_other for row in self.rows]
        return [row.value for row in self.rows], others

    def interval(self) -> tuple[float | None, float | None]:
        """95 % interval of the mean difference over paths, as the seeds of one path are not independent; (None, None)
        without pairs or with too few paths.
        """
        return bootstrap_interval(path_differences(self.paths, *self.columns)) if self.are_pairs else (None, None)


def unit_values(values: RunValues, unit: Unit, set_name: str) -> Mapping[Run, float]:
    """The values of a set by unit; means have the seed 0."""
    if unit in ("run", "call"):
        return values
    means = mean_over_seeds(values)
    if unit == "set":
        return {(set_name, 0): fmean(means.values())} if means else {}
    return {(scenario, 0): mean for scenario, mean in means.items()}
