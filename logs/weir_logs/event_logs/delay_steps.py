"""Finds steps of a path's base delay, such as of a route change. A standing queue is less steady."""

from __future__ import annotations

import numpy as np

from weir_eval.measures.flow_series import Array

_WINDOW_S = 7
# The minimum delays in a window are within this time, or this share of the step, of each other, ignoring those above
# this percentile.
_CALM_S = 0.003
_CALM_SHARE = 0.1
_CALM_PERCENT = 75
_LEAST_STEP_S, _MOST_STEP_S = 0.015, 0.3
# A full queue is steady, too, but drops packets.
_MOST_LOSS = 0.02


def base_steps_s(sent_s: Array, delay_s: Array) -> Array:
    """The base delay minus its minimum, in each second from 0 on.

    Args:
        sent_s: send time of each packet, rising, in s, shape [n], n at least 1.
        delay_s: its delay minus the minimum, in s, NaN if it was lost, shape [n].

    Returns:
        The differences in s, shape [seconds].
    """
    second = sent_s.astype(int)
    arrived = np.isfinite(delay_s)
    least = np.full(second[-1] + 1, np.inf)
    np.minimum.at(least, second[arrived], delay_s[arrived])
    known = np.flatnonzero(np.isfinite(least))
    least = np.interp(np.arange(len(least)), known, least[known])
    count, lost = np.bincount(second), np.bincount(second, ~arrived)
    steps = np.zeros(len(least))
    for first in range(len(least) - _WINDOW_S + 1):
        window = slice(first, first + _WINDOW_S)
        low, high = least[window].min(), np.percentile(least[window], _CALM_PERCENT)
        is_calm = high - low <= max(_CALM_S, _CALM_SHARE * low)
        if is_calm and _LEAST_STEP_S <= low <= _MOST_STEP_S and lost[window].sum() <= _MOST_LOSS * count[window].sum():
            steps[window] = np.maximum(steps[window], low)
    for index in range(1, len(steps)):
        if abs(steps[index] - steps[index - 1]) < _CALM_S:
            steps[index] = steps[index - 1]
    return steps
