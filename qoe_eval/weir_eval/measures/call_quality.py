"""The quality of a call, 0 to 100: what its viewer gets, in replays, virtual calls and real calls.

    call quality = 100 Q(A, V) (1 - frozen share) D

1. Picture, V: VMAF / 20 as in the call score (`call_score.py`), of the time in which the picture moves. Without
   pictures, VMAF is the estimate from the bitrate (`viewer.estimate_vmaf`).
2. Audio, A: as in the call score, from the share of concealed samples. Without that share, no audio is concealed.
3. Both, Q(A, V): ITU-T P.1203.3, clause 8.2, scaled to 0 to 1, as in the call score.
4. Freezes: nothing is seen while the picture is frozen, as in viewer's quality. The number of freezes does not count: a
   stall of P.1203.3 is a player that fills its buffer, but a freeze of W3C's webrtc-stats begins at 150 ms more than
   usual, and a count jumps at that bound.
5. Delay, D: the mean over seconds of the factor of ITU-T G.107's Idd (`call_score.delay_factor`) for the mean
   end-to-end delay of the frames that are rendered in the second. P.1203 rates seconds, too. Seconds without a frame
   are frozen, and have none. The factor is 1 up to 100 ms, 0.98 at 200, 0.87 at 300, 0.75 at 400, 0.45 at 1000, and
   never below 0.36, since Idd is at most 50.

The factors are those of the whole call. The four measures behind them (`vmaf_mean` or `video_quality`, `frozen_share`,
`delay_factor`, `concealed_share`) are in the record, so that each difference has its part.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from weir_eval.measures.call_score import audio_quality, audiovisual_quality, delay_factor, picture_quality

_SECOND_US = 1_000_000


def mean_delay_factor(rendered_us: ArrayLike, delays_ms: ArrayLike) -> float | None:
    """D of frames with these rendering times, in their order, and end-to-end delays, of one shape (n,). NaN is an
    unknown delay; None if none is known. The first frame begins the first second.
    """
    delays = np.asarray(delays_ms, dtype=np.float64)
    known = np.isfinite(delays)
    if not known.any():
        return None
    times_us = np.asarray(rendered_us, dtype=np.int64)
    _, window = np.unique((times_us[known] - times_us[0]) // _SECOND_US, return_inverse=True)
    means_ms = np.bincount(window, delays[known]) / np.bincount(window)
    return float(delay_factor(means_ms).mean())


def call_quality(measures: Mapping[str, float | None]) -> float | None:
    """The quality of a call from its measures, named as in `MEASURES`. None if picture, freezes or delay are unknown; 0
    for a call that showed nothing.
    """
    frozen_share = measures.get("frozen_share")
    if frozen_share is not None and frozen_share >= 1:
        return 0.0
    vmaf, delay = measures.get("vmaf_mean"), measures.get("delay_factor")
    if vmaf is None:
        vmaf = measures.get("video_quality")
    if vmaf is None or frozen_share is None or delay is None:
        return None
    audio = audio_quality(measures.get("concealed_share") or 0.0)
    return float(100 * audiovisual_quality(audio, picture_quality(vmaf)) * (1 - frozen_share) * delay)
