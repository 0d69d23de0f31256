"""How fast a call has its rate back after a dip of the path.

A dip begins when the path carries, over a second, less than half of what the call received in the three seconds
before; it ends when the path has carried that rate again for a second. The call has recovered when it receives
RECOVERED_SHARE of that rate over a second. A dip after which the path falls below that rate again before the call has
recovered tells nothing, and one that the call does not recover from counts until the call's end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir.qoe_eval.link.log import LinkLog

RECOVERED_SHARE = 0.8
DIP_SHARE = 0.5
_BEFORE_S = 3.0
_WINDOW_S = 1.0


def mean_recovery_time_s(link: LinkLog) -> float | None:
    """Mean time from the end of a dip to the recovery; None without a dip that tells anything."""
    interval_s = float(np.median(link.interval_s)) if len(link.time_us) else 0.0
    if interval_s <= 0:
        return None
    window, before = round(_WINDOW_S / interval_s), round(_BEFORE_S / interval_s)
    if window < 1:
        return None
    rates_bps = 8 * np.nan_to_num(link.bytes) / interval_s
    received_bps, usual_bps = _trailing_means(rates_bps, window), _trailing_means(rates_bps, before)
    carries_bps = _trailing_means(np.nan_to_num(link.capacity_bps, nan=np.inf), window)
    times, index, end = [], before + window, len(received_bps)
    while index < end:
        usual = usual_bps[index - window]
        index += 1
        if not carries_bps[index - 1] < DIP_SHARE * usual:
            continue
        over = _first(carries_bps >= usual, index)
        recovered = _first(received_bps >= RECOVERED_SHARE * usual, over)
        if over < end and (carries_bps[over : recovered + 1] >= usual).all():
            times.append((recovered - over) * interval_s)
        index = max(index, recovered)
    return float(np.mean(times)) if times else None


def _trailing_means(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The mean of each value and the `count` - 1 before it; zeros stand for those before the first."""
    padded = np.concatenate((np.zeros(count - 1), values))
    return np.lib.stride_tricks.sliding_window_view(padded, count).mean(axis=1) if len(values) else values


def _first(wanted: NDArray[np.bool_], start: int) -> int:
    """The first place from `start` on that is wanted, or the length."""
    found = np.flatnonzero(wanted[start:])
    return start + int(found[0]) if len(found) else len(wanted)
