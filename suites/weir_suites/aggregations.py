"""Named aggregations: the statistics of goals over the rows of a comparison, and the text on what decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from weir_eval.report.goal_table import Bound
from weir_suites.metric import display
from weir_suites.rows import Rows

# Limit of the rows that a detail names.
_NAMED = 10


def lowest_row(rows: Rows, bound: Bound) -> str:
    """The row with the lowest value, of several."""
    compared = rows.compared
    if len(compared) < 2:
        return ""
    lowest = min(compared, key=lambda label: compared[label])
    return f"lowest {lowest} {compared[lowest]:.4g}"


def interval_over_paths(rows: Rows, bound: Bound) -> str:
    """The interval of the mean difference; empty with too few paths. Without pairs, the lowest row."""
    if not rows.are_pairs:
        return lowest_row(rows, bound)
    low, high = rows.interval()
    if low is None or high is None:
        return ""
    shown = f"from {display(rows.metric, low)}, to {display(rows.metric, high)}"
    return f"95 % interval of the difference over {len(set(rows.paths))} paths {shown}"


def missed_rows(rows: Rows, bound: Bound) -> str:
    """The rows that do not reach the goal, worst first."""
    compared, worse = rows.compared, 1 if bound.kind == "at least" else -1
    missed = sorted((label for label, value in compared.items() if not bound.met(value)),
                    key=lambda label: worse * compared[label])  # fmt: skip
    listed = ", ".join(f"{label} {bound.show(compared[label])}" for label in missed[:_NAMED])
    return f"{len(missed)} miss it: {listed}" if missed else "all reach it"


@dataclass(frozen=True)
class Aggregation:
    """A statistic over the rows of a comparison.

    Attributes:
        name: its name in figures.
        value: the statistic; None with too few rows.
        evidence: text on the rows that decided it; may be empty.
        figures: further aggregations among the figures of a goal.
        partial_sets: sets without runs do not leave the goal undecided.
    """

    name: str
    value: Callable[[Rows, Bound], float | None]
    evidence: Callable[[Rows, Bound], str] = lowest_row
    figures: Collection[Aggregation] = ()
    partial_sets: bool = False


def _ratio_of_sums(rows: Rows) -> float | None:
    values, others = map(np.sum, rows.columns)
    return float(values / others) if others else None


def _part_lost(rows: Rows) -> float | None:
    ratio = _ratio_of_sums(rows)
    return None if ratio is None else 1 - ratio


def _worst(rows: Rows, bound: Bound) -> float:
    return (min if bound.kind == "at least" else max)(rows.compared.values())


MEAN = Aggregation("mean", lambda rows, bound: fmean(rows.compared.values()), interval_over_paths)
"""Rows have equal weight."""
MEDIAN = Aggregation("median", lambda rows, bound: float(np.median([*rows.compared.values()])))
GEOMETRIC_MEAN = Aggregation(
    "geometric mean", lambda rows, bound: math.exp(fmean(map(math.log, rows.compared.values())))
)
"""For ratios."""
WORST = Aggregation("worst", _worst, missed_rows, partial_sets=True)
"""The worst row relative to the bound, over the sets that ran."""
LOW_END = Aggregation("low end", lambda rows, bound: rows.interval()[0], interval_over_paths, figures=(MEAN,))
"""The lower end of the 95 % interval of the mean difference."""
RATIO_OF_MEANS = Aggregation("ratio of means", lambda rows, bound: _ratio_of_sums(rows), interval_over_paths)
"""The mean of the controller over that of the others; rows are weighted by their values."""
PART_LOST = Aggregation("part lost", lambda rows, bound: _part_lost(rows))
"""The share of the others' total that the controller falls short of."""


def share_where(condition: Callable[[float], bool]) -> Aggregation:
    """The share of rows that meet a condition."""
    return Aggregation("share", lambda rows, bound: fmean(map(condition, rows.compared.values())))


def quantile(part: float) -> Aggregation:
    """The quantile over rows; `part` is 0 to 1."""
    return Aggregation("quantile", lambda rows, bound: float(np.quantile([*rows.compared.values()], part)))
