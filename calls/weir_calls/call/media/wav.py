"""Reads and writes WAV files of 16-bit mono PCM. Truncated files are read as far as they go."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_cli.files.output import replacing

Samples = NDArray[np.float64]
"""From -1 to 1, shape [n]."""

_FULL_SCALE = 32768
_RATES_HZ = range(8_000, 48_001)
_MOST_SECONDS = 3600


def read_wav(path: Path) -> tuple[Samples, int]:
    """Returns the samples, of at most one hour, and their rate in Hz.

    Raises:
        InputError: the file is missing, or is not a WAV file of this kind.
    """
    try:
        with wave.open(str(path), "rb") as file:
            form, rate_hz = (file.getnchannels(), file.getsampwidth()), file.getframerate()
            if form != (1, 2) or rate_hz not in _RATES_HZ:
                raise InputError(f"{path}: only 16-bit mono PCM at 8 to 48 kHz is read")
            data = file.readframes(min(file.getnframes(), _MOST_SECONDS * rate_hz))
    except (OSError, EOFError, RuntimeError, wave.Error) as error:
        raise InputError(f"{path}: not a readable WAV file ({str(error) or 'truncated'})") from None
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2") / _FULL_SCALE, rate_hz


def write_wav(path: Path, samples: Samples, rate_hz: int) -> None:
    """Writes samples, clipped to -1..1.

    Raises:
        InputError: the file cannot be written.
    """
    values = np.clip(np.round(samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE - 1).astype("<i2")
    with replacing(path) as out, wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(values.tobytes())
