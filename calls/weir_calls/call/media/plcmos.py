"""Measures the concealment of lost audio with PLCMOS (Diener et al., Interspeech 2023), in windows of ten seconds.

PLCMOS needs no reference: it estimates the mean opinion of listeners on packet loss concealment. It was trained on
recorded speech; synthetic speech scores lower even without loss, so only calls with the same speech are comparable.
"""

from __future__ import annotations

import functools
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
    windows,
    without_start,
)
from weir_calls.call.media.wav import Samples
from weir_cli.errors import ComponentFailed, MissingComponent
from weir_cli.installation import how_to_get

PACKAGE = "speechmos"
_WINDOW_S = 10
# The model rates as one listener, a random vector of this size. The library draws it from NumPy's global generator,
# which is not reproducible in threads.
_LISTENER_SIZE = 64
_SEED = 1


def check_plcmos() -> None:
    """Raises MissingComponent if PLCMOS is not installed."""
    if find_spec(PACKAGE) is None:
        raise MissingComponent(f"PLCMOS is missing: {how_to_get('webrtc', PACKAGE)}")


def measure_concealment(received: Path) -> list[float]:
    """The MOS, 1 to 5, of each window of a WAV file of the received audio; empty if that is shorter than a window.

    Raises:
        InputError: the WAV file cannot be read.
        MissingComponent: PLCMOS is not installed.
        ComponentFailed: PLCMOS failed.
    """
    check_plcmos()
    size = _WINDOW_S * RATE_HZ
    return [_mos(window) for window in windows(without_start(read_speech(received), size), size)]


@functools.cache
def _model() -> Any:
    from speechmos.plcmos import PLCMOS

    return PLCMOS()


def _mos(window: Samples) -> float:
    if is_silent(window):
        return LOWEST_MOS
    try:
        model = _model()
        spectrum = np.asarray(model.stft_transform(window), np.float32)[None, None]
        listeners = np.random.default_rng(_SEED).standard_normal((model.embed_rounds, 1, _LISTENER_SIZE), np.float32)
        inputs = ({"degraded_audio": spectrum, "rater_embed": listener} for listener in listeners)
        mos = float(np.mean([model.session.run(None, each)[0] for each in inputs]))
    except Exception as error:
        raise ComponentFailed(f"PLCMOS: {error!r}") from None
    if not np.isfinite(mos):
        raise ComponentFailed(f"PLCMOS: it gave {mos}, which is no MOS")
    return min(max(mos, LOWEST_MOS), HIGHEST_MOS)
