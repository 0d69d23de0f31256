"""Estimates the picture's quality from its bitrate alone.

VMAF of one encoder and one video grows about linearly with the logarithm of the bitrate, until it saturates. The line
here is fitted to real calls: an unmodified Chromium sending `call/media/source_video.py` as VP8 at 1280x720 over four
paths, three seeds each, under Weir and under its own GCC. It is an estimate for that encoder, size and video: another
one has another line, and what losses or a low resolution do to a picture it does not know. Four single calls of 30 s
that are not in the fit had 9.0, -0.1, 0.7 and -10.6 points of VMAF more than their bitrate says; in the last one the
browser had lowered its resolution to 854x480 at 2 Mbps.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Received bitrate in kbps, mean VMAF of the rendered frames: means of three calls each, from `weir experiment calls`.
CALLS: Final = (
    (1501, 85.0), (1464, 84.6), (606, 72.8), (367, 60.4), (368, 64.8), (248, 56.5), (79, 38.5), (85, 41.1),
)  # fmt: skip
_LOG_RATES = np.log2([kbps for kbps, _ in CALLS])
_VMAF = np.array([vmaf for _, vmaf in CALLS])
# By least squares: 10.9 points more for twice the bitrate; 0 at 6.5 kbps, 100 at 3,850 kbps, both far from any call.
_SLOPE, _INTERCEPT = (float(value) for value in np.polyfit(_LOG_RATES, _VMAF, 1))
# How far the calls lie from the line, in points of VMAF: 1.6, two of the eight being spent on the line itself.
STANDARD_ERROR: Final = float(np.sqrt(((_INTERCEPT + _SLOPE * _LOG_RATES - _VMAF) ** 2).sum() / (len(CALLS) - 2)))


def estimate_vmaf(bitrate_bps: ArrayLike) -> NDArray[np.float64]:
    """VMAF-like quality, 0 to 100, of video payload at these rates; 0 where there is none."""
    rate_kbps = np.maximum(np.asarray(bitrate_bps, dtype=np.float64) / 1e3, 1.0)
    return np.clip(_INTERCEPT + _SLOPE * np.log2(rate_kbps), 0.0, 100.0)
