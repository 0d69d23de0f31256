"""Measures played audio with ViSQOL in speech mode, in windows as long as the speech that was sent.

The speech is a loop, so the reference of each window is the speech rotated to the maximum of the circular
cross-correlation. ViSQOL itself compensates time stretching by the jitter buffer within a window.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from weir_calls.call.media.wav import Samples, read_wav
from weir_cli.errors import ComponentFailed, MissingComponent
from weir_cli.installation import how_to_get
from weir_eval.runs.simulator_worker import begin_in_pool

# Modules and the packages that provide them.
SPEECH_PACKAGES = {"visqol": "visqol-python", "ai_edge_litert": "ai-edge-litert"}
_RATE_HZ = 16_000
_LOWEST_MOS, _HIGHEST_MOS = 1.0, 5.0
# -80 dB of full scale. Quieter audio is inaudible, and ViSQOL has no value for it.
_SILENCE = 1e-4
# Longer calls have this many windows, evenly spaced.
_MOST_WINDOWS = 12
_AT_ONCE = 2


def check_visqol() -> None:
    """Raises MissingComponent if ViSQOL is not installed."""
    missing = [package for module, package in SPEECH_PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise MissingComponent(f"ViSQOL is missing: {how_to_get('webrtc', *missing)}")


def measure_speech(received: Path, sent: Path) -> list[float]:
    """The MOS-LQO, 1 to 5, of each window of the received audio; empty if that is shorter than the speech.

    Args:
        received: a WAV file.
        sent: a WAV file of the speech, which was sent in a loop.

    Raises:
        InputError: a WAV file cannot be read.
        MissingComponent: ViSQOL is not installed.
        ComponentFailed: ViSQOL failed.
    """
    check_visqol()
    reference, heard = _resampled(sent), _resampled(received)
    if not 0 < len(reference) <= len(heard):
        return []
    heard = heard[min(np.argmax(heard != 0), len(heard) - len(reference)) :]
    pairs = [(aligned(reference, window), window) for window in windows(heard, len(reference))]
    try:
        with ProcessPoolExecutor(_AT_ONCE, initializer=_start_visqol) as pool:
            return list(pool.map(_mos, pairs))
    except BrokenProcessPool:
        raise ComponentFailed("ViSQOL did not start, or was killed") from None


def windows(heard: Samples, size: int) -> list[Samples]:
    """Evenly spaced windows from start to end, at most _MOST_WINDOWS; they may overlap or have gaps."""
    count = min(round(len(heard) / size), _MOST_WINDOWS) if len(heard) >= size else 0
    starts = np.linspace(0, len(heard) - size, count).astype(int)
    return [heard[start : start + size] for start in starts]


def aligned(reference: Samples, window: Samples) -> Samples:
    """The reference, rotated to be most similar to a window of the same length."""
    spectrum = np.fft.rfft(window) * np.conj(np.fft.rfft(reference))
    return np.roll(reference, int(np.argmax(np.fft.irfft(spectrum, len(reference)))))


def _resampled(path: Path) -> Samples:
    from scipy.signal import resample_poly  # takes a second

    samples, rate_hz = read_wav(path)
    return np.asarray(resample_poly(samples, _RATE_HZ, rate_hz)) if len(samples) else samples


# The instance of a process of the pool.
_visqol: Any = None


def _start_visqol() -> None:
    global _visqol
    begin_in_pool()
    # TensorFlow Lite and ViSQOL write messages to standard error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from visqol import VisqolApi

    _visqol = VisqolApi()
    _visqol.create(mode="speech", use_lattice_model=True)


def _mos(pair: tuple[Samples, Samples]) -> float:
    reference, degraded = pair
    if np.sqrt(np.mean(degraded**2)) < _SILENCE:
        return _LOWEST_MOS
    try:
        with np.errstate(all="ignore"):
            mos = float(_visqol.measure_from_arrays(reference, degraded, _RATE_HZ).moslqo)
    except Exception as error:
        raise ComponentFailed(f"ViSQOL failed: {error!r}") from None
    if not _LOWEST_MOS <= mos <= _HIGHEST_MOS:
        raise ComponentFailed(f"ViSQOL gave {mos}, which is no MOS")
    return mos
