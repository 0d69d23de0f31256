"""ffmpeg in a thread that is interrupted."""

import threading

import pytest

from weir_calls.call.media import ffmpeg
from weir_eval.runs.interruption import interruptible


def test_an_interruption_ends_ffmpeg(tmp_path):
    interrupted, fed = threading.Event(), []

    def frames():
        for number in range(200_000):
            interrupted.set()
            fed.append(number)
            yield bytes(64 * 36 * 3 // 2)

    with pytest.raises(KeyboardInterrupt):
        interruptible(interrupted, ffmpeg.run)([(64, 36, 30.0, frames())], ["-f", "null", "-"], tmp_path)
    assert 0 < len(fed) < 200_000
