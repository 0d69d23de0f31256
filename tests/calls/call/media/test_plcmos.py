"""The score of concealed audio by PLCMOS."""

from importlib.util import find_spec

import numpy as np
import pytest

from weir_calls.call.media import plcmos
from weir_calls.call.media.plcmos import PACKAGE, check_plcmos, measure_concealment
from weir_calls.call.media.wav import write_wav
from weir_cli.errors import ComponentFailed, MissingComponent

needs_plcmos = pytest.mark.skipif(find_spec(PACKAGE) is None, reason="PLCMOS is not installed")
RATE_HZ = 16_000
PACKET_S = 0.02


def voice(seconds):
    """Syllables of a voice: harmonics of a gliding pitch through three formants, four a second, over quiet noise."""
    time_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    pitch_hz = 120 + 20 * np.sin(2 * np.pi * 0.5 * time_s)
    phase = 2 * np.pi * np.cumsum(pitch_hz) / RATE_HZ
    formants_hz = [500 + 200 * np.sin(2 * np.pi * 1.3 * time_s), 1500 + 500 * np.sin(2 * np.pi * 0.9 * time_s), 2500]
    sound = sum(
        np.sin(n * phase) * sum(np.exp(-(((n * pitch_hz - formant) / 120) ** 2)) for formant in formants_hz)
        for n in range(1, 40)
    )
    syllables = np.clip(np.sin(2 * np.pi * 4 * time_s) + 0.5, 0, None)
    return 0.06 * sound * syllables + 1e-4 * np.random.default_rng(1).standard_normal(len(time_s))


def without_packets(samples, loss_ratio):
    """The audio with the same packets of 20 ms missing at a lower loss ratio as at a higher one."""
    size = round(PACKET_S * RATE_HZ)
    drawn = np.random.default_rng(2).random(len(samples) // size)
    return samples * np.repeat(drawn >= loss_ratio, size)


@pytest.fixture
def score(tmp_path):
    def score(*parts):
        write_wav(tmp_path / "received.wav", np.concatenate(parts), RATE_HZ)
        return measure_concealment(tmp_path / "received.wav")

    return score


@needs_plcmos
def test_the_score_falls_with_the_loss_of_packets(score):
    speech = voice(10)
    none, few, some, many = score(*(without_packets(speech, ratio) for ratio in (0, 0.1, 0.2, 0.4)))
    assert none > few > some > many >= 1
    assert none > many + 1


@needs_plcmos
def test_silence_has_the_lowest_score_and_less_than_a_window_has_none(score):
    assert score(np.zeros(10 * RATE_HZ)) == [1.0]
    assert score(voice(9)) == []


@needs_plcmos
def test_the_score_is_the_same_again(score):
    np.random.seed(1)  # noqa: NPY002 - the library's own generator
    first = score(voice(10))
    assert score(voice(10)) == first


def test_without_its_package_there_is_no_score(monkeypatch, tmp_path):
    monkeypatch.setattr(plcmos, "find_spec", lambda name: None)
    with pytest.raises(MissingComponent, match=r"PLCMOS is missing: `(make webrtc|pip install speechmos)"):
        check_plcmos()
    with pytest.raises(MissingComponent):
        measure_concealment(tmp_path / "received.wav")


@pytest.mark.parametrize("output", [np.nan, np.inf])
def test_a_score_that_is_not_finite_is_an_error(monkeypatch, score, output):
    class Model:
        embed_rounds = 1
        session = property(lambda self: self)

        def stft_transform(self, window):
            return np.zeros((1, 257))

        def run(self, names, inputs):
            return [np.array(output)]

    monkeypatch.setattr(plcmos, "check_plcmos", lambda: None)
    monkeypatch.setattr(plcmos, "_model", Model)
    with pytest.raises(ComponentFailed, match="PLCMOS: it gave"):
        score(voice(10))
