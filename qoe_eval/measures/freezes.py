"""Freezes by the definition of W3C webrtc-stats (`freezeCount`, `totalFreezesDuration`), from rendering times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_FRAMES_AVERAGED = 30
# Fewer say nothing about the usual time between frames; libwebrtc waits for as many.
_FEWEST_FRAMES = 5
_LONGER_BY_US = 150_000
_LONGER_BY_FACTOR = 3


@dataclass(frozen=True)
class Freeze:
    """From the rendering of one frame to that of the next, or to the end."""

    start_us: int
    duration_us: int


def find_freezes(render_times_us: Sequence[int], end_us: int) -> list[Freeze]:
    """The freezes among increasing rendering times. What stands still until `end_us` is one too, if it is long enough:
    a call that froze and ended was frozen.
    """
    times = [*render_times_us, end_us] if render_times_us and end_us > render_times_us[-1] else list(render_times_us)
    instants = np.array(times, dtype=np.int64)
    durations = np.diff(instants)
    index = np.arange(_FEWEST_FRAMES, len(durations))
    averaged_from = np.maximum(0, index - _FRAMES_AVERAGED)
    usual_us = (instants[index] - instants[averaged_from]) / (index - averaged_from)
    frozen = index[durations[index] >= np.maximum(_LONGER_BY_FACTOR * usual_us, usual_us + _LONGER_BY_US)]
    return [Freeze(times[at], int(durations[at])) for at in frozen]
