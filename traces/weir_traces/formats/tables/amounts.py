"""Rows of bytes: counters become differences, and single packets become rates of windows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats.units import RateUnit

_FEWEST_ROWS = 10
# Rows are packets if the median step is below _SHORT_S and steps vary by more than _UNEVEN of it.
_SHORT_S, _UNEVEN = 0.1, 0.2

Array = NDArray[np.float64]


def since_row_before(numbers: Array, unit: RateUnit) -> tuple[Array, str]:
    """Amounts since the previous row, for a counter its differences (0 for the first row), and a warning.

    The warning is empty unless other amounts look like a counter.
    """
    if unit.is_total:
        return np.diff(numbers, prepend=numbers[:1]), ""
    rises = np.all(np.diff(numbers) >= 0) and numbers[-1] > 2 * numbers[0]
    if unit.is_amount and rises and numbers.size >= _FEWEST_ROWS:
        return numbers, "the numbers never fall, as a counter's; if they are all bytes so far, add --unit total-bytes"
    return numbers, ""


def are_packets(times_s: Array) -> bool:
    """True if rows at these rising times are single packets."""
    steps = np.diff(times_s)
    low, median, high = np.quantile(steps, [0.1, 0.5, 0.9])
    return bool(median < _SHORT_S and high - low > _UNEVEN * median)


def in_windows(times_s: Array, bits: Array) -> tuple[Array, Array, list[int]]:
    """The edges of windows in seconds, the mean rate of each in bit/s, and the index of its first packet.

    The spacing of single packets shows the rate of the first link, not of the bottleneck. A remainder of less than half
    a window belongs to the window before it.
    """
    window_s, length_s = DEFAULT_WINDOW_MS / 1e3, float(times_s[-1])
    edges = np.arange(0.0, length_s, window_s)
    if edges.size > 1 and length_s - edges[-1] < window_s / 2:
        edges = edges[:-1]
    window = np.searchsorted(edges, times_s, side="right") - 1
    sums = np.bincount(window, weights=bits, minlength=edges.size)
    first = np.minimum(np.searchsorted(window, np.arange(edges.size)), window.size - 1)
    edges = np.append(edges, length_s)
    return edges, sums / np.diff(edges), first.tolist()
