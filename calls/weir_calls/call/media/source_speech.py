"""The speech that a call sends: sentences in two voices of espeak-ng, a loop of ten seconds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from weir_calls.call.media.source_video import cache_folder
from weir_calls.call.media.wav import Samples, read_wav, write_wav
from weir_calls.link.leftovers import ScratchFolder
from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.output import make_folder

# weir-peer and Chromium send this rate; whole frames of 10 ms repeat without a gap.
RATE_HZ = 48_000
DURATION_S = 10
# Part of the name of the cached file. Increment it with the sentences.
_VERSION = 1
_SENTENCES = (
    ("en-us+f3", "The train left the valley, so we watched the river and talked about the harvest."),
    ("en-us+m3", "Could you call again in five minutes? Your voice is clear, but the picture froze."),
)
# 16 bits per sample, and the header.
_FILE_BYTES = 2 * DURATION_S * RATE_HZ + 44
_BETWEEN_S = 0.4
# Root mean square of the loop; peaks stay below full scale.
_LEVEL = 0.06
_TIME_LIMIT_S = 20.0


def source_speech_path() -> Path:
    """Returns the path of the speech in the user's cache, and makes the file (one second) if it is missing.

    Raises:
        MissingComponent: espeak-ng is missing or fails.
        InputError: the file cannot be written.
    """
    path = cache_folder() / f"speech-{_VERSION}.wav"
    if not path.is_file() or path.stat().st_size != _FILE_BYTES:
        make_folder(path.parent, "source speech:")
        write_wav(path, _speech(), RATE_HZ)
    return path


def _speech() -> Samples:
    pause = np.zeros(round(_BETWEEN_S * RATE_HZ))
    parts = [part for voice, text in _SENTENCES for part in (pause, _spoken(voice, text))]
    speech = np.concatenate(parts)[: DURATION_S * RATE_HZ]
    speech *= _LEVEL / np.sqrt(np.mean(speech**2))
    return np.pad(speech, (0, DURATION_S * RATE_HZ - len(speech)))


def _spoken(voice: str, text: str) -> Samples:
    with ScratchFolder() as folder:
        path = folder / "sentence.wav"
        try:
            command = ["espeak-ng", "-v", voice, "-w", str(path), text]
            subprocess.run(command, check=True, capture_output=True, timeout=_TIME_LIMIT_S)
            samples, rate_hz = read_wav(path)
        except (OSError, subprocess.SubprocessError, InputError) as error:
            raise MissingComponent(f"espeak-ng is missing or fails ({error}): apt-get install espeak-ng") from None
    from scipy.signal import resample_poly  # takes a second

    return np.asarray(resample_poly(samples, RATE_HZ, rate_hz))
