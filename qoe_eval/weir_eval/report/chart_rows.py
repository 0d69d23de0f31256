"""Charts of rows under one another over one time axis, as `page/rows.js` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from weir_eval.measures.flow_series import Array, FlowSeries

Reduce = Literal["mean", "max", "min", "sum", "last"]

# Points per line: about what a screen shows.
MAX_POINTS = 600
SMALLEST_BIN_S = 0.2
# An estimate far above the capacity would flatten all other lines.
_LARGEST_RATE_SHARE = 1.8


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
    """A chart of rows. `spans`: start and end, in s, of what is marked in every row."""

    name: str
    note: str
    duration_s: float
    rows: list[ChartRow]
    x_title: NotRequired[str]
    spans: NotRequired[list[tuple[float, float]]]


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
    kept = [line for line in lines if line is not None]
    if not kept:
        return None
    if ticks is not None and range is None:
        # Room on both sides, so that no line lies on an edge.
        range = (-0.5, _highest(kept) + 0.5)
    return {"title": title, "lines": kept, "share": share, "range": range, "ticks": ticks}


def chart(name: str, note: str, duration_s: float, rows: Sequence[ChartRow | None]) -> Chart:
    """A chart of those rows that there are."""
    return {"name": name, "note": note, "duration_s": round(duration_s, 1), "rows": [row for row in rows if row]}


def bin_width_s(duration_s: float, smallest_s: float) -> float:
    """Width of bins so that a line has at most MAX_POINTS."""
    return smallest_s * max(1, int(np.ceil(duration_s / smallest_s / MAX_POINTS)))


def binned(times_s: Array, values: Array, duration_s: float, smallest_s: float, reduce: Reduce) -> tuple[Array, Array]:
    """Values reduced over bins from 0 to the duration, of the width that `bin_width_s` returns: middles of the bins and
    values, NaN for empty ones.
    """
    width_s = bin_width_s(duration_s, smallest_s)
    count = max(1, int(np.ceil(duration_s / width_s - 1e-9)))
    reduced = np.full(count, np.nan)
    kept = (times_s >= 0) & (times_s < count * width_s) & np.isfinite(values)
    index = (times_s[kept] / width_s).astype(int)
    order = np.argsort(index, kind="stable")
    filled, starts = np.unique(index[order], return_index=True)
    if len(filled):
        values = values[kept][order]
        ends = np.append(starts[1:], len(values))
        over = {"max": np.maximum, "min": np.minimum}.get(reduce, np.add)
        found = values[ends - 1] if reduce == "last" else over.reduceat(values, starts)
        reduced[filled] = found / (ends - starts) if reduce == "mean" else found
    return (np.arange(count, dtype=np.float64) + 0.5) * width_s, reduced


def thinned(times_s: Array, values: Array) -> tuple[Array, Array]:
    """At most about MAX_POINTS of the samples."""
    every = max(1, -(-len(times_s) // MAX_POINTS))
    return times_s[::every], values[::every]


def flow_line(
    name: str, colour: str, series: FlowSeries, values: Array, unit: str, reduce: Reduce = "mean", **style: Any
) -> Line:
    """Values of the samples, reduced over bins; `style` is that of `line`."""
    middles_s = (np.arange(len(values), dtype=np.float64) + 0.5) * series.interval_s
    bins = binned(middles_s, values, len(values) * series.interval_s, SMALLEST_BIN_S, reduce)
    return line(name, colour, *bins, unit=unit, **style)


def capacity_line(series: FlowSeries) -> Line:
    """In kbps; nothing where it is unlimited. Slots are shorter than a bin: their mean is shown."""
    if series.capacity_bps is None:
        return None
    style: dict[str, Any] = {"fill": True, "width": 1, "step": True}
    return flow_line("capacity", "--capacity", series, series.capacity_bps / 1e3, "kbps", **style)


def rate_rows(
    capacity: Line, estimates: Sequence[Line], received: Sequence[Line], limit_kbps: float, duration_s: float
) -> list[ChartRow | None]:
    """The rows of estimates and of received rates, on axes that neither a capacity above what the media may send,
    `limit_kbps`, nor an estimate far above the capacity flattens. The limit is drawn where the capacity exceeds it.
    """
    path = _highest([capacity])
    bound, limit = path, None
    if 0 < limit_kbps < path:
        ends = np.array([0.0, duration_s])
        name = f"the media's limit, {limit_kbps:,.0f} kbps"
        limit = line(name, "--ink", ends, np.full(2, limit_kbps), unit="kbps", dash="dot", width=1.2)
        bound = limit_kbps
    top = max(1.08 * bound, min(1.05 * _highest(estimates), _LARGEST_RATE_SHARE * bound))
    received_top = max(1.08 * bound, 1.05 * _highest(received))
    return [
        row(
            "Estimate, kbps",
            [capacity, limit, *estimates] if any(estimates) else [],
            range=(0.0, top) if bound else None,
        ),
        row("Received, kbps", [capacity, limit, *received], range=(0.0, received_top) if bound else None),
    ]


def _highest(lines: Sequence[Line]) -> float:
    return max((y for line in lines if line for y in line["y"] if y), default=0.0)
