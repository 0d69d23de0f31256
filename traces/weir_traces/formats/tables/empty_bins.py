"""Finds bins without a row: packets counted in bins of even length, of which a bin without a packet has no row.

Held until the next row, such rates hide every stop of the link. The rules for rows of rising times:

1. The times are on a *grid*: all steps are whole multiples of the shortest, within GRID of it. A step of several bins
   is a *hole*. Rows with a rate of 0 have no empty bins, which would be written too; nor have rows whose times are
   within CLOCK_BINS of an even clock, which is slower than its stamps.
2. The bins are *counted* if all rates are whole numbers of packets of one size, and two successive rows are equal, as
   in no list of changes. Sizes that are a rounded decimal in the file's unit show nothing.
3. Otherwise the user has to choose if more than MISSING of the time is without capacity in one reading only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weir_traces.formats.units import RateUnit

GRID = 0.1
CLOCK_BINS = 1.5
MISSING = 0.02
_FEWEST_ROWS, _FEWEST_HOLES = 20, 3
_SMALLEST_PACKET_BYTES, _LARGEST_PACKET_BYTES = 40, 9216
_WHOLE = 0.1
# Rounded decimals: 1, 2 or 5 times a power of ten.
_DECIMALS = (1.0, 2.0, 5.0, 10.0)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class EmptyBins:
    """Bins of ``bin_s`` seconds, ``count`` of which have no row. ``packet_bytes`` is None unless they are counted."""

    bin_s: float
    count: int
    packet_bytes: float | None


def grid_step(times_s: Array) -> float | None:
    """The length of the bins on whose grid rising times are, s; None if they are on none."""
    steps = np.diff(times_s)
    if not steps.size:
        return None
    bins = np.rint(steps / steps.min())
    step = float(np.sum(steps) / np.sum(bins))
    return step if np.all(np.abs(steps - bins * step) <= GRID * step) else None


def empty_bins(times_s: Array, numbers: Array, unit: RateUnit) -> EmptyBins | None:
    """The bins without a row (rules 1 and 2); None if there are none.

    Args:
        times_s: [n], rising.
        numbers: [n], rates or amounts in ``unit``.
        unit: that of the numbers.
    """
    step = grid_step(times_s)
    if step is None or times_s.size < _FEWEST_ROWS or np.any(numbers <= 0):
        return None
    bins = np.rint(np.diff(times_s) / step)
    even = np.linspace(times_s[0], times_s[-1], times_s.size)
    if np.count_nonzero(bins > 1) < _FEWEST_HOLES or np.abs(times_s - even).max() <= CLOCK_BINS * step:
        return None
    packet_bytes = None
    if np.any((np.diff(numbers) == 0) & (bins == 1)) and (packet := _common_measure(numbers)) is not None:
        size = packet * unit.bps / 8 * (1.0 if unit.is_amount else step)
        packet_bytes = size if _SMALLEST_PACKET_BYTES <= size <= _LARGEST_PACKET_BYTES else None
    return EmptyBins(step, int(np.sum(bins - 1)), packet_bytes)


def _common_measure(numbers: Array) -> float | None:
    """The largest number of which all are whole multiples; None if there is none, or if it is a rounded decimal."""
    levels = np.unique(numbers)
    if levels.size < 3:
        return None
    measure = float(min(levels[0], np.diff(levels).min()))
    counts = np.rint(levels / measure)
    for _ in range(3):
        measure = float(np.sum(levels) / np.sum(counts))
        counts = np.rint(levels / measure)
    if np.any(np.abs(levels / measure - counts) > _WHOLE):
        return None
    mantissa = measure / 10 ** np.floor(np.log10(measure))
    return None if any(abs(mantissa - decimal) < 0.01 for decimal in _DECIMALS) else measure
