"""The speech of calls, and its score by ViSQOL."""

import os
import shutil
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from weir_calls.call.media import visqol
from weir_calls.call.media.source_speech import RATE_HZ, source_speech_path
from weir_calls.call.media.visqol import SPEECH_PACKAGES, aligned, measure_speech
from weir_calls.call.media.wav import read_wav, write_wav
from weir_cli.errors import ComponentFailed, MissingComponent

needs_visqol = pytest.mark.skipif(not all(map(find_spec, SPEECH_PACKAGES)), reason="ViSQOL is not installed")


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def sent(cache):
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")
    return source_speech_path()


def test_the_speech_is_ten_seconds_of_sentences(sent):
    samples, rate_hz = read_wav(sent)
    assert (len(samples), rate_hz) == (480_000, RATE_HZ)
    assert 0.3 < np.abs(samples).max() < 1
    # Nothing is cut off at the end; each half, a voice, has as much of it.
    assert np.abs(samples[-4800:]).max() < 0.01
    first, second = (np.sqrt(np.mean(half**2)) for half in np.split(samples, 2))
    assert 0.5 < first / second < 2
    made_ns = sent.stat().st_mtime_ns
    assert source_speech_path().stat().st_mtime_ns == made_ns
    os.truncate(sent, 1000)
    np.testing.assert_array_equal(read_wav(source_speech_path())[0], samples)


def test_without_espeak_ng_there_is_no_speech(cache, monkeypatch):
    monkeypatch.setenv("PATH", str(cache))
    with pytest.raises(MissingComponent, match="apt-get install espeak-ng"):
        source_speech_path()
    assert list(cache.rglob("*.wav")) == []


def test_without_its_packages_there_is_no_score(monkeypatch, tmp_path):
    monkeypatch.setattr(visqol, "find_spec", lambda name: None)
    with pytest.raises(MissingComponent, match=r"ViSQOL is missing: `(make webrtc|pip install visqol-python)"):
        measure_speech(tmp_path / "received.wav", tmp_path / "sent.wav")


@needs_visqol
def test_speech_that_is_heard_at_the_end_only_is_scored(tmp_path):
    sent, received = tmp_path / "sent.wav", tmp_path / "received.wav"
    write_wav(sent, np.random.default_rng(1).uniform(-0.5, 0.5, 16_000), 16_000)
    write_wav(received, np.append(np.zeros(32_000), 0.01), 16_000)
    assert measure_speech(received, sent) == [1.0]


def test_a_killed_process_of_visqol_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "killed_visqol.py").write_text(
        "import os, signal\ndef measure(part, report): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(visqol, "_measure", import_module("killed_visqol").measure)
    monkeypatch.setattr(visqol, "check_visqol", lambda: None)
    write_wav(tmp_path / "audio.wav", np.zeros(1600), 16_000)
    with pytest.raises(ComponentFailed, match="ViSQOL: its process was killed by SIGKILL"):
        measure_speech(tmp_path / "audio.wav", tmp_path / "audio.wav")


@pytest.mark.parametrize("late", [0, 1, 31_000, 159_999])
def test_the_reference_is_rotated_to_the_window(late):
    noise = np.random.default_rng(1).standard_normal((2, 160_000))
    heard = np.roll(noise[0], late)
    # A third is missing, there is noise, and the last part comes 300 ms later.
    heard[20_000:73_000] = 0
    heard = np.concatenate([heard[:140_000], np.zeros(4_800), heard[140_000:-4_800]])
    np.testing.assert_array_equal(aligned(noise[0], heard + noise[1]), np.roll(noise[0], late))


@needs_visqol
def test_what_is_missing_or_noisy_scores_lower(sent, tmp_path):
    # Ten seconds from within a sentence.
    heard = np.roll(read_wav(sent)[0], -100_000)
    noise = np.random.default_rng(1).standard_normal(len(heard))

    def with_gaps(every_s):
        gaps = np.arange(len(heard)) % round(every_s * RATE_HZ) >= (every_s - 0.1) * RATE_HZ
        return np.where(gaps, 0, heard)

    played = [heard, with_gaps(2.0), with_gaps(0.4), heard + 0.02 * noise, 0 * heard]
    # A receiver plays zeros before the first packet.
    write_wav(tmp_path / "received.wav", np.concatenate([np.zeros(9_000), *played]), RATE_HZ)
    clean, few, many, noisy, nothing = measure_speech(tmp_path / "received.wav", sent)
    assert 4.3 < clean <= 5
    assert clean - 0.2 > few > many + 0.5
    assert clean - 0.5 > noisy > nothing
    assert nothing == 1.0
