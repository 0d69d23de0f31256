"""Measures played audio with ViSQOL in speech mode, in windows as long as the speech that was sent.

The speech is a loop, so the reference of each window is the speech rotated to the maximum of the circular
cross-correlation. ViSQOL itself compensates time stretching by the jitter buffer within a window.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from weir_calls.call.media.played_speech import (
    HIGHEST_MOS,
    LOWEST_MOS,
    RATE_HZ,
    is_silent,
    read_speech,
    window_count,
    windows,
    without_start,
)
from weir_calls.call.media.progress import OnShare, ignore_share
from weir_calls.call.media.wav import Samples, read_wav
from weir_cli.errors import ComponentFailed, MissingComponent
from weir_cli.installation import how_to_get
from weir_eval.runs.task_processes import Report, TaskFailure, run_tasks

# Modules and the packages that provide them.
SPEECH_PACKAGES = {"visqol": "visqol-python", "ai_edge_litert": "ai-edge-litert"}
_AT_ONCE = 2


def check_visqol() -> None:
    """Raises MissingComponent if ViSQOL is not installed."""
    missing = [package for module, package in SPEECH_PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise MissingComponent(f"ViSQOL is missing: {how_to_get('webrtc', *missing)}")


def measure_speech(received: Path, sent: Path, on_share: OnShare = ignore_share) -> list[float]:
    """The MOS-LQO, 1 to 5, of each window of the received audio; empty if that is shorter than the speech.

    Args:
        received: a WAV file.
        sent: a WAV file of the speech, which was sent in a loop.
        on_share: receives the progress.

    Raises:
        InputError: a WAV file cannot be read.
        MissingComponent: ViSQOL is not installed.
        ComponentFailed: ViSQOL failed.
    """
    check_visqol()
    lengths = [len(samples) / rate_hz for samples, rate_hz in map(read_wav, (sent, received))]
    if not 0 < lengths[0] <= lengths[1]:
        return []
    count = window_count(lengths[1], lengths[0])
    scores: dict[int, float] = {}
    begun = set[int]()

    def show(part: _Part, index: int) -> None:
        begun.add(index)
        on_share(min(1.0, (len(begun) - 1) / count))

    def finish(part: _Part, outcome: dict[int, float] | TaskFailure) -> None:
        if isinstance(outcome, TaskFailure):
            raise ComponentFailed(f"ViSQOL: {outcome.error}")
        scores.update(outcome)

    parts = [_Part(received, sent, first) for first in range(_AT_ONCE)]
    run_tasks(parts, _measure, _AT_ONCE, show, finish, stop_limit_s=0)
    return [scores[index] for index in sorted(scores)]


@dataclass(frozen=True)
class _Part:
    """Every _AT_ONCE-th window, from `first`, of a received WAV file."""

    received: Path
    sent: Path
    first: int

    @property
    def name(self) -> str:
        return f"windows from {self.first}"


def _measure(part: _Part, report: Report) -> dict[int, float]:
    """The MOS-LQO of windows by their index."""
    reference, heard = read_speech(part.sent), read_speech(part.received)
    size = len(reference)
    own = list(enumerate(windows(without_start(heard, size), size)))[part.first :: _AT_ONCE]
    visqol = _start_visqol() if own else None
    scores = {}
    for index, window in own:
        report(index)
        scores[index] = _mos(visqol, aligned(reference, window), window)
    return scores


def aligned(reference: Samples, window: Samples) -> Samples:
    """The reference, rotated to be most similar to a window of the same length."""
    spectrum = np.fft.rfft(window) * np.conj(np.fft.rfft(reference))
    return np.roll(reference, int(np.argmax(np.fft.irfft(spectrum, len(reference)))))


def _start_visqol() -> Any:
    # TensorFlow Lite and ViSQOL write messages to standard error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from visqol import VisqolApi

    visqol = VisqolApi()
    visqol.create(mode="speech", use_lattice_model=True)
    return visqol


def _mos(visqol: Any, reference: Samples, degraded: Samples) -> float:
    if is_silent(degraded):
        return LOWEST_MOS
    try:
        with np.errstate(all="ignore"):
            mos = float(visqol.measure_from_arrays(reference, degraded, RATE_HZ).moslqo)
    except Exception as error:
        raise ComponentFailed(f"{error!r}") from None
    if not LOWEST_MOS <= mos <= HIGHEST_MOS:
        raise ComponentFailed(f"it gave {mos}, which is no MOS")
    return mos
