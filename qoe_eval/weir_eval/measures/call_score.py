"""A single score of a call, 0 to 100, from its picture, freezes, audio and delay.

1. Picture, V: VMAF / 20, at least 1. VMAF's authors map "bad" (1) to 20 and "excellent" (5) to 100, linearly (Li et
   al., "VMAF: The Journey Continues", 2018).
2. Audio, A = MOS(93.2 - Ie,eff): the E-model (ITU-T G.107, 06/2015) with its defaults (clause 7.7) and MOS (Annex B).
   Ie,eff = 95 Ppl / (Ppl + Bpl) is from the loss (clause 7.5, Ie = 0, BurstR = 1).
3. Both, Q(A, V) = a1 + a2 A + a3 V + a4 A V (ITU-T P.1203.3, 10/2017, clause 8.2). An A below 2 reduces it, to nothing
   at 1 (Amendment 1, clause 8.2).
4. Freezes, S = exp(-n / s1 - share / s2) (P.1203.3, clause 8.4): n freezes, which last this share of the time.
5. Delay, D = (MOS(93.2 - Idd) - 1) / (MOS(93.2) - 1): Idd is from the one-way delay (G.107, clause 7.4, sT = 1,
   mT = 100 ms).
6. Score = 100 S D (Q(A, V) - Q(1, 1)) / (Q(MOS(93.2), 5) - Q(1, 1)).

Choices of the project that affect conclusions:

- Step 6 spans 0 to 100. P.1203.3 bounds Q at 5 instead, which a VMAF of 80 already reaches.
- Delay impairs the whole call, as in a telephone call. It is the median of video, from capture to rendering; it ignores
  the lag of audio behind video, which is seconds after an outage.
- n is per minute. P.1203.3 counts the stalls of a session of 1 to 5 minutes; here a short freeze is a stall.
- Ppl is the share of concealed samples. Opus, which G.107 lacks, has the robustness of G.711 with concealment, Bpl =
  25.1 (G.113, Appendix I).
- Omitted are the terms of P.1203.3 for the position of stalls, quality variation and memory, and its random forest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

_HIGHEST_RATING = 93.2
_LOSS_ROBUSTNESS = 25.1
_AUDIOVISUAL = (-0.00069084, 0.15374283, 0.97153861, 0.02461776)
_FREEZES, _FROZEN_SHARE = 9.35158684, 0.91890815


def delay_impairment(delay_ms: ArrayLike) -> NDArray[np.float64]:
    """Idd of G.107."""
    x = np.log2(np.maximum(delay_ms, 100.0) / 100)
    return np.asarray(25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2))


def loss_impairment(lost_share: float) -> float:
    """Ie,eff of G.107; `lost_share` from 0 to 1."""
    percent = 100 * lost_share
    return 95 * percent / (percent + _LOSS_ROBUSTNESS)


def mean_opinion(rating: ArrayLike) -> NDArray[np.float64]:
    """MOS, 1 to 4.5, of a rating R of G.107."""
    r = np.clip(rating, 0.0, 100.0)
    return np.asarray(np.maximum(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6))


def picture_quality(vmaf: ArrayLike) -> NDArray[np.float64]:
    """V, 1 to 5, of a VMAF."""
    return np.clip(np.asarray(vmaf, dtype=np.float64) / 20, 1.0, 5.0)


def audio_quality(concealed_share: float) -> float:
    """A, 1 to 4.5, of the share of concealed samples, 0 to 1."""
    return float(mean_opinion(_HIGHEST_RATING - loss_impairment(concealed_share)))


def audiovisual_quality(audio: float, video: ArrayLike) -> NDArray[np.float64]:
    """The joint quality: 0 if both MOS are 1, 1 if both have their highest value."""
    lowest, highest = _joined(1.0, 1.0), _joined(audio_quality(0.0), 5.0)
    heard = 1 - max(0.0, 2 - audio)
    return np.asarray(heard * (_joined(audio, video) - lowest) / (highest - lowest))


def freeze_factor(freezes_per_minute: float, frozen_share: float) -> float:
    """1 without freezes, falling with more freezes."""
    return math.exp(-freezes_per_minute / _FREEZES - frozen_share / _FROZEN_SHARE)


def delay_factor(delay_ms: ArrayLike) -> NDArray[np.float64]:
    """1 up to 100 ms, falling above."""
    return np.asarray((mean_opinion(_HIGHEST_RATING - delay_impairment(delay_ms)) - 1) / (audio_quality(0.0) - 1))


def call_score(metrics: Mapping[str, float | None], duration_s: float) -> float | None:
    """The score of a call from its measures; None if a required measure is undefined."""
    names = ("vmaf_mean", "concealed_share", "freeze_count", "frozen_share", "end_to_end_delay_ms_p50")
    known = [value for name in names if (value := metrics.get(name)) is not None]
    if len(known) < len(names) or duration_s <= 0:
        return None
    vmaf, concealed_share, freezes, frozen_share, delay_ms = known
    quality = audiovisual_quality(audio_quality(concealed_share), picture_quality(vmaf)) * delay_factor(delay_ms)
    return float(100 * freeze_factor(60 * freezes / duration_s, frozen_share) * quality)


def _joined(audio: float, video: ArrayLike) -> NDArray[np.float64]:
    constant, of_audio, of_video, of_both = _AUDIOVISUAL
    v = np.asarray(video, dtype=np.float64)
    return constant + of_audio * audio + of_video * v + of_both * audio * v
