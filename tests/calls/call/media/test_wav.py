import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_calls.call.media.wav import read_wav, write_wav
from weir_cli.errors import InputError


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("wav") / "tone.wav"
    write_wav(path, np.sin(np.arange(4800) / 20), 48_000)
    return path


def test_what_is_written_is_read(file):
    samples, rate_hz = read_wav(file)
    assert rate_hz == 48_000
    np.testing.assert_allclose(samples, np.sin(np.arange(4800) / 20), atol=1 / 30_000)


def test_what_is_too_loud_is_clipped(tmp_path):
    write_wav(tmp_path / "loud.wav", np.array([-2.0, 0.0, 2.0]), 16_000)
    assert read_wav(tmp_path / "loud.wav")[0].tolist() == [-1, 0, 32767 / 32768]


def test_a_truncated_file_has_the_samples_that_are_there(file, tmp_path):
    path = tmp_path / "truncated.wav"
    path.write_bytes(file.read_bytes()[: 44 + 2 * 1000 + 1])
    np.testing.assert_array_equal(read_wav(path)[0], read_wav(file)[0][:1000])


@pytest.mark.parametrize(
    "content", [b"", b"RIFF", b"YUV4MPEG2 W4 H4\n", b"RIFF\xff\xff\xff\xffWAVEdata\x00\x00\x00\x00"]
)
def test_what_is_no_wav_file_is_refused(tmp_path, content):
    (tmp_path / "no.wav").write_bytes(content)
    with pytest.raises(InputError, match=r"no\.wav: not a readable WAV file"):
        read_wav(tmp_path / "no.wav")
    with pytest.raises(InputError, match="gone"):
        read_wav(tmp_path / "gone.wav")


@settings(max_examples=300, deadline=None)
@given(changes=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=6), size=st.integers(0, 9700))
def test_a_damaged_file_is_read_or_refused(file, tmp_path_factory, changes, size):
    content = bytearray(file.read_bytes())
    for position, value in changes:
        content[position] = value
    path = tmp_path_factory.getbasetemp() / "damaged.wav"
    path.write_bytes(content[:size])
    try:
        samples, rate_hz = read_wav(path)
    except InputError:
        return
    assert len(samples) <= 4800
    assert 8_000 <= rate_hz <= 48_000
    assert np.abs(samples).max(initial=0) <= 1
