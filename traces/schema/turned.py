"""A repeating series of values, begun at another of its moments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def turned(times_s: ArrayLike, period_s: float, start_s: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What was in force at ``start_s`` is so at 0, and the rest follows.

    Args:
        times_s: from when on each value holds, s, rising, the first 0.
        period_s: after which they repeat, s, later than the last time.
        start_s: s, >= 0; the periods in it do not count.

    Returns:
        The new times, s, the first 0, and of each the index of the value that holds from it on.
    """
    # In whole ns, the simulator's unit.
    period_ns, times_ns = round(period_s * 1e9), np.rint(np.asarray(times_s) * 1e9).astype(np.int64)
    start_ns = round(start_s * 1e9) % period_ns
    cut = int(np.searchsorted(times_ns, start_ns, side="right"))
    turned_ns = np.concatenate(([0], times_ns[cut:] - start_ns, times_ns[:cut] + period_ns - start_ns))
    held = np.concatenate((np.arange(cut - 1, len(times_ns)), np.arange(cut)))
    kept = turned_ns < period_ns
    return turned_ns[kept] / 1e9, held[kept]
