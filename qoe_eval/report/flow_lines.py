"""Lines of charts over time from a flow's series: its samples, and the capacity of its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from weir.qoe_eval.measures.flow_series import Array, FlowSeries
from weir.qoe_eval.report.chart_rows import Reduce, bin_width_s, binned, line

SMALLEST_BIN_S = 0.2

Line = dict[str, Any] | None


def flow_line(
    name: str, colour: str, series: FlowSeries, values: Array, unit: str, reduce: Reduce = np.mean, **style: Any
) -> Line:
    """Values of the samples, reduced over bins; `style` is that of `line`."""
    duration_s = len(values) * series.interval_s
    x, y = binned(_middles_s(series), values, duration_s, bin_width_s(duration_s, SMALLEST_BIN_S), reduce)
    return line(name, colour, x, y, unit=unit, **style)


def capacity_line(series: FlowSeries) -> Line:
    """In kbps; nothing where it is unlimited. Slots are shorter than a bin: what they carry on average is told."""
    if series.capacity_bps is None:
        return None
    style: dict[str, Any] = {"fill": True, "width": 1, "step": True}
    return flow_line("capacity", "--capacity", series, series.capacity_bps / 1e3, "kbps", **style)


def _middles_s(series: FlowSeries) -> Array:
    return (np.arange(len(series.receive_rate_bps), dtype=np.float64) + 0.5) * series.interval_s
