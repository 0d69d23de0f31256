"""A page's tables as data: heads, rows and cells, which the macro `table` of `page/blocks.html` lays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir_eval.measures.table import Measure
from weir_eval.records.comparisons import PairedComparison
from weir_eval.report.display import IntervalMark, interval, precise, signed, verdict


@dataclass(frozen=True)
class Cell:
    """A cell, or the head of a column.

    Attributes:
        small: below the text, smaller.
        kind: classes of CSS, such as good, bad, even and text.
        title: shown under the pointer.
        swatch: the controller whose colour is before the text.
        scenario: the text names a scenario and leads to its time series.
        links: addresses and names, after the text.
        mark: an interval in place of the text.
        ends: of the line above a column of marks.
        shade: of the background in percent; it tells how good a value is, and no verdict.
    """

    text: str = ""
    small: str = ""
    kind: str = ""
    title: str = ""
    swatch: str = ""
    scenario: bool = False
    links: Sequence[tuple[str, str]] = ()
    mark: IntervalMark | None = None
    ends: tuple[str, str] | None = None
    shade: int | None = None


Cells = list[Cell | str]


@dataclass(frozen=True)
class Row:
    """The cells of a row, of which the first is its head. A row that is marked has a background."""

    cells: Sequence[Cell | str]
    is_marked: bool = False


class Block:
    """A part of a section; `page/blocks.html` has a macro for each class."""


@dataclass(frozen=True)
class Table(Block):
    """Heads, rows, and a class of CSS."""

    heads: Sequence[Cell | str]
    rows: Sequence[Row]
    kind: str = ""


def measure_heads(measures: Sequence[Measure]) -> list[Cell]:
    """Label, unit, which way is better, and the meaning under the pointer."""
    return [
        Cell(measure.label, f"{measure.unit} {measure.arrow}".strip(), title=measure.meaning) for measure in measures
    ]


def controllers_head(label: str, measure: Measure, controllers: Sequence[str]) -> list[Cell]:
    """The heads of a table of controllers whose cells are all of one measure: the first has their unit."""
    return [Cell(label, f"values: {measure.unit} {measure.arrow}"), *map(controller_cell, controllers)]


def controller_cell(name: str) -> Cell:
    """A controller's name with its colour."""
    return Cell(name, swatch=name)


def difference_cell(row: PairedComparison | None, measure: Measure) -> Cell:
    """A difference, with its interval below where there is one."""
    if row is None:
        return Cell("–")
    measure = precise(measure, row)
    ends = "" if row.ci95[0] is None else interval(row.ci95, measure, is_difference=True)
    return Cell(signed(row.mean, measure), ends, kind=verdict(row, measure))
