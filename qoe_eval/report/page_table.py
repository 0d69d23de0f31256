"""A page's tables as data: heads, rows and cells, which the macro `table` of `page/parts.html` lays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.qoe_eval.measures.table import Measure
from weir.qoe_eval.report.display import IntervalMark, interval, signed


@dataclass(frozen=True)
class Cell:
    """A cell, or the head of a column.

    Attributes:
        text: bold where `strong`.
        small: below the text, smaller.
        kind: classes of CSS, such as good, bad, even and text.
        title: shown under the pointer.
        swatch: the controller whose colour is before the text.
        scenario: the text names a scenario and leads to its time series.
        links: addresses and names, after the text.
        mark: an interval in place of the text.
        ends: of the line above a column of marks.
        rgb: colour of the background.
    """

    text: str = ""
    small: str = ""
    strong: bool = False
    kind: str = ""
    title: str = ""
    swatch: str = ""
    scenario: bool = False
    links: Sequence[tuple[str, str]] = ()
    mark: IntervalMark | None = None
    ends: tuple[str, str] | None = None
    rgb: tuple[int, int, int] | None = None


Cells = list[Cell | str]


@dataclass(frozen=True)
class Row:
    """The cells of a row, of which the first is its head; the row of the reference is marked."""

    cells: Sequence[Cell | str]
    is_reference: bool = False


@dataclass(frozen=True)
class Table:
    """Heads, rows, and a class of CSS."""

    heads: Sequence[Cell | str]
    rows: Sequence[Row]
    kind: str = ""


@dataclass(frozen=True)
class MeasureTable:
    """The table of one measure, an alternative of the macro `tables_by_measure`."""

    metric: Measure
    table: Table


def measure_heads(measures: Sequence[Measure]) -> list[Cell]:
    """Label, unit, which way is better, and the meaning under the pointer."""
    return [Cell(one.label, f"{one.unit} {one.arrow}".strip(), title=one.meaning) for one in measures]


def controllers_head(label: str, measure: Measure, controllers: Sequence[str]) -> list[Cell]:
    """The heads of a table of controllers whose cells are all of one measure: the first has their unit."""
    return [Cell(label, f"values: {measure.unit} {measure.arrow}"), *map(controller_cell, controllers)]


def controller_cell(name: str) -> Cell:
    """A controller's name with its colour."""
    return Cell(name, swatch=name)


def difference_cell(mean: float, ci95: Sequence[float | None], measure: Measure, kind: str) -> Cell:
    """A difference, with its interval below where there is one."""
    ends = "" if ci95[0] is None else interval(ci95, measure, of_difference=True)
    return Cell(signed(mean, measure), ends, strong=True, kind=kind)
