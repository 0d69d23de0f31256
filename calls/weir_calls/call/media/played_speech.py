"""Played audio at the sampling rate of models of speech quality, and its windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from weir_calls.call.media.wav import Samples, read_wav

RATE_HZ = 16_000
# -80 dB of full scale. Quieter audio is inaudible, and models have no meaningful value for it.
SILENCE = 1e-4
LOWEST_MOS, HIGHEST_MOS = 1.0, 5.0
# Longer calls have this many windows, evenly spaced.
_MOST_WINDOWS = 12


def read_speech(path: Path) -> Samples:
    """The samples of a WAV file, at most one hour, at RATE_HZ.

    Raises:
        InputError: the file cannot be read.
    """
    from scipy.signal import resample_poly  # takes a second

    samples, rate_hz = read_wav(path)
    return np.asarray(resample_poly(samples, RATE_HZ, rate_hz)) if len(samples) else samples


def without_start(heard: Samples, size: int) -> Samples:
    """The audio from its first sample that is not 0, which a receiver plays before the first packet; at least the last
    `size` samples, or all of fewer.
    """
    return heard if len(heard) <= size else heard[min(np.argmax(heard != 0), len(heard) - size) :]


def window_count(heard: float, size: float) -> int:
    """The number of `windows` in audio of this length, in any unit."""
    return min(round(heard / size), _MOST_WINDOWS) if heard >= size else 0


def windows(heard: Samples, size: int) -> list[Samples]:
    """Evenly spaced windows from start to end, at most _MOST_WINDOWS; they may overlap or have gaps."""
    starts = np.linspace(0, len(heard) - size, window_count(len(heard), size)).astype(int)
    return [heard[start : start + size] for start in starts]


def is_silent(window: Samples) -> bool:
    """True if nothing in the window can be heard."""
    return bool(np.sqrt(np.mean(window**2)) < SILENCE)
