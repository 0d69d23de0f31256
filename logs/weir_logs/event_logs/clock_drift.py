"""Estimates the minimum one-way delay between two clocks that drift apart."""

from __future__ import annotations

import numpy as np

from weir_eval.measures.flow_series import Array

_WINDOW_S = 1.0
_MOST_DRIFT = 1e-4


def least_delay_s(sent_s: Array, delay_s: Array, times_s: Array) -> Array:
    """The minimum delay at each of the times: the closest line below all delays, after Moon et al. (INFOCOM 1999). Its
    slope is at most 100 ppm, the largest plausible clock drift: a queue is steeper.

    Args:
        sent_s: send time of each packet, rising, in s, shape [n], n at least 1.
        delay_s: from then to its arrival by the receiver's clock, in s, shape [n].
        times_s: times of the result, in s, shape [m].

    Returns:
        The minimum delays in s, shape [m].
    """
    begins = np.flatnonzero(np.diff(sent_s // _WINDOW_S, prepend=-np.inf))
    least_s, at_s = np.minimum.reduceat(delay_s, begins), sent_s[begins]

    def slope(first: int, second: int) -> float:
        return float((least_s[second] - least_s[first]) / (at_s[second] - at_s[first]))

    hull: list[int] = []
    for index in range(len(begins)):
        # A point on or above the line from its predecessor to the new point is not on the lower convex hull.
        while len(hull) > 1 and slope(hull[-2], index) <= slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append(index)
    drift = 0.0
    if len(hull) > 1:
        # The closest line is the edge of the hull at the mean time.
        edge = max(int(np.searchsorted(at_s[hull], at_s.mean())), 1)
        drift = float(np.clip(slope(hull[edge - 1], hull[edge]), -_MOST_DRIFT, _MOST_DRIFT))
    return float(np.min(delay_s - drift * sent_s)) + drift * times_s
