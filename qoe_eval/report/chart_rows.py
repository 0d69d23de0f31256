"""Charts of rows under one another over one time axis, as `page/rows.js` draws them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from weir.qoe_eval.measures.flow_series import Array, FlowSeries

Reduce = Callable[[Array], float]

# Points per line: about what a screen shows.
MAX_POINTS = 600
SMALLEST_BIN_S = 0.2


class ChartLine(TypedDict):
    """A line as `page/rows.js` reads it; `line` has the meaning of the fields."""

    name: str
    group: str
    colour: str
    unit: str
    dash: str
    step: bool
    fill: bool
    width: float
    decimals: int
    marks: bool
    x: list[float]
    y: list[float | None]
    text: NotRequired[list[str]]


class ChartRow(TypedDict):
    """A row of lines over the common time axis."""

    title: str
    lines: list[ChartLine]
    share: float
    range: tuple[float, float] | None
    ticks: Sequence[str] | None


class Chart(TypedDict):
    """A chart of rows."""

    name: str
    note: str
    duration_s: float
    rows: list[ChartRow]
    x_title: NotRequired[str]


Line = ChartLine | None


def line(
    name: str,
    colour: str,
    x: Array,
    y: Array,
    *,
    group: str = "",
    unit: str = "",
    dash: str = "",
    step: bool = False,
    fill: bool = False,
    width: float = 1.8,
    decimals: int = 0,
    marks: bool = False,
) -> Line:
    """One line; nothing without a finite point.

    Args:
        name: beside its value under the pointer.
        colour: name of a CSS variable.
        x: seconds, shape [n].
        y: shape [n]; NaN leaves a gap.
        group: the entry in the legend, which shows and hides all lines of the group; by default the name.
        unit: behind the value under the pointer.
        dash: a style of Plotly.
        step: values hold until the next.
        fill: an area below it.
        width: in pixels.
        decimals: of the value under the pointer.
        marks: points that no line joins.
    """
    if not np.isfinite(y).any():
        return None
    return {
        "name": name, "group": group or name, "colour": colour, "unit": unit, "dash": dash, "step": step,
        "fill": fill, "width": width, "decimals": decimals, "marks": marks,
        "x": [round(float(value), 2) for value in x],
        "y": [round(float(value), 1 + decimals) if np.isfinite(value) else None for value in y],
    }  # fmt: skip


def row(
    title: str,
    lines: Sequence[Line],
    *,
    share: float = 1.0,
    range: tuple[float, float] | None = None,
    ticks: Sequence[str] | None = None,
) -> ChartRow | None:
    """One row; nothing without lines. `share` is of the chart's height, relative to the other rows; `ticks` names the
    values 0, 1, ...
    """
    kept = [one for one in lines if one is not None]
    if not kept:
        return None
    return {"title": title, "lines": kept, "share": share, "range": range, "ticks": ticks}


def chart(name: str, note: str, duration_s: float, rows: Sequence[ChartRow | None]) -> Chart:
    """A chart of those rows that there are."""
    return {"name": name, "note": note, "duration_s": round(duration_s, 1), "rows": [one for one in rows if one]}


def bin_width_s(duration_s: float, smallest_s: float) -> float:
    """Width of bins so that a line has at most MAX_POINTS."""
    return smallest_s * max(1, int(np.ceil(duration_s / smallest_s / MAX_POINTS)))


def binned(times_s: Array, values: Array, duration_s: float, width_s: float, reduce: Reduce) -> tuple[Array, Array]:
    """Values reduced over bins from 0 to the duration: middles of the bins and values, NaN for empty ones."""
    count = max(1, int(np.ceil(duration_s / width_s - 1e-9)))
    reduced = np.full(count, np.nan)
    kept = (times_s >= 0) & (times_s < count * width_s) & np.isfinite(values)
    index = (times_s[kept] / width_s).astype(int)
    order = np.argsort(index, kind="stable")
    index, values = index[order], values[kept][order]
    bounds = np.searchsorted(index, np.arange(count + 1))
    for number, (start, end) in enumerate(itertools.pairwise(bounds)):
        if end > start:
            reduced[number] = reduce(values[start:end])
    return (np.arange(count, dtype=np.float64) + 0.5) * width_s, reduced


def thinned(times_s: Array, values: Array) -> tuple[Array, Array]:
    """At most about MAX_POINTS of the samples."""
    every = max(1, -(-len(times_s) // MAX_POINTS))
    return times_s[::every], values[::every]


def flow_line(
    name: str, colour: str, series: FlowSeries, values: Array, unit: str, reduce: Reduce = np.mean, **style: Any
) -> Line:
    """Values of the samples, reduced over bins; `style` is that of `line`."""
    duration_s = len(values) * series.interval_s
    x, y = binned(_middles_s(series), values, duration_s, bin_width_s(duration_s, SMALLEST_BIN_S), reduce)
    return line(name, colour, x, y, unit=unit, **style)


def capacity_line(series: FlowSeries) -> Line:
    """In kbps; nothing where it is unlimited. Slots are shorter than a bin: their mean is shown."""
    if series.capacity_bps is None:
        return None
    style: dict[str, Any] = {"fill": True, "width": 1, "step": True}
    return flow_line("capacity", "--capacity", series, series.capacity_bps / 1e3, "kbps", **style)


def _middles_s(series: FlowSeries) -> Array:
    return (np.arange(len(series.receive_rate_bps), dtype=np.float64) + 0.5) * series.interval_s
