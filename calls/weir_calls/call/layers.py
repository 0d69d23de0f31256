"""The layers of video that a viewer receives from a server, from the receiver's reports of getStats.

The layer is the height of the frames. Temporal layers of the same height are in the frame rate instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weir_eval.webrtc_stats import Array, StatsObject

KEPT_S: Final = 5.0
"""A layer that is left earlier counts as tried, not as kept."""

Values = dict[str, float | None]


def layer_metrics(video: Sequence[StatsObject], start_s: float, end_s: float) -> Values:
    """The measures of layers; undefined without `frameHeight`. Of several videos, the lowest and the slowest count, and
    all drops.

    Args:
        video: the received streams.
        start_s: the time from which drops count.
        end_s: the time of the last report that counts.
    """
    layers = [found for stream in video if len((found := _layers(stream, end_s))[0])]
    tops = [top for times, heights in layers if (top := _top(times, heights)) is not None]
    every = bool(tops) and len(tops) == len(layers)
    drops = sum(int((np.diff(heights[times >= start_s]) < 0).sum()) for times, heights in layers)
    known = bool(layers) and end_s > start_s
    return {
        "top_layer_height": min(height for height, _ in tops) if every else None,
        "time_to_top_layer_s": max(time_s for _, time_s in tops) if every else None,
        "layer_drops_per_minute": 60 * drops / (end_s - start_s) if known else None,
    }


def _layers(stream: StatsObject, end_s: float) -> tuple[Array, Array]:
    """The times of the reports since the first frame, and the heights; without those in which no frame came."""
    times, heights = stream.series("frameHeight")
    rate_times, rates = stream.series("framesPerSecond")
    kept = (times <= end_s) & (heights > 0) & ~np.isin(times, rate_times[rates == 0])
    return times[kept], heights[kept]


def _top(times: Array, heights: Array) -> tuple[float, float] | None:
    """The height of the highest layer that is kept for KEPT_S, and the time from the first frame to it; None if none is
    kept so long.
    """
    for height in sorted(set(heights), reverse=True):
        # The edges of the runs in which the picture has at least this height.
        edges = np.flatnonzero(np.diff(np.concatenate([[False], heights >= height, [False]])))
        for first, after in edges.reshape(-1, 2):
            if times[after - 1] - times[first] >= KEPT_S:
                return float(height), float(times[first] - times[0])
    return None
