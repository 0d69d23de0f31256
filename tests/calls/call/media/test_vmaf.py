import subprocess

import pytest

from weir_calls.call.media.ffmpeg import make_recording, measure_vmaf, run
from weir_calls.call.media.progress import ignore_share
from weir_calls.call.media.received_frames import ReceivedFrame
from weir_calls.call.media.y4m import Y4m
from weir_calls.requirements import find_ffmpeg
from weir_cli.errors import ComponentFailed


@pytest.fixture(scope="module")
def coded(source, tmp_path_factory):
    """The first 90 frames of the source through an encoder, at half the size too."""
    folder = tmp_path_factory.mktemp("coded")
    fast = ["-deadline", "realtime", "-cpu-used", "-6"]

    def encode(name, *options):
        encoded, decoded = folder / f"{name}.webm", folder / f"{name}.y4m"
        make = [
            find_ffmpeg(),
            "-v",
            "error",
            "-i",
            source,
            "-frames:v",
            "90",
            "-c:v",
            "libvpx",
            *fast,
            *options,
            encoded,
        ]
        subprocess.run(make, check=True)
        subprocess.run([find_ffmpeg(), "-v", "error", "-i", encoded, "-pix_fmt", "yuv420p", decoded], check=True)
        return decoded

    return {
        "good": encode("good", "-b:v", "3M"),
        "bad": encode("bad", "-b:v", "60k", "-qmax", "63"),
        "small": encode("small", "-b:v", "1M", "-vf", "scale=160:90"),
    }


def vmaf(path, source, pairs, on_share=ignore_share):
    with Y4m(path) as received, Y4m(source) as sent:
        return measure_vmaf(received, sent, pairs, on_share)


def test_it_tells_good_from_bad(coded, source):
    pairs = [(index, index) for index in range(90)]
    shares = []
    good, bad, small = (vmaf(coded[name], source, pairs, shares.append) for name in ("good", "bad", "small"))
    assert shares == [index / 90 for index in range(90)] * 3
    assert good.mean > 95
    assert bad.mean < good.mean - 10
    assert bad.mean < small.mean < good.mean
    assert bad.p5 < bad.mean
    assert len(good.frames) == 90


def test_frames_that_never_came_do_not_count_and_alignment_does(coded, source):
    some = [(index, index) for index in range(90) if not 30 <= index < 60]
    assert vmaf(coded["good"], source, some).mean == pytest.approx(
        vmaf(coded["good"], source, [(index, index) for index in range(90)]).mean, abs=3
    )
    shifted = [(index, index + 20) for index in range(60)]
    assert vmaf(coded["good"], source, shifted).mean < 40


def test_nothing_to_compare(coded, source):
    assert vmaf(coded["good"], source, []) is None


def test_a_recording_shows_freezes(made_call, source, tmp_path):
    frames = [ReceivedFrame(i, None, 33_333 * i, None, 320, 180, i) for i in range(60)]
    frames += [ReceivedFrame(i, None, 33_333 * i, None, 320, 180, i) for i in range(120, 150)]
    with Y4m(source) as video:
        path = make_recording(video, frames, (0, 5_000_000), tmp_path / "recording.mp4")
        assert make_recording(video, [], (0, 5_000_000), tmp_path / "none.mp4") is None
    decoded = tmp_path / "decoded.y4m"
    subprocess.run([find_ffmpeg(), "-v", "error", "-i", path, decoded], check=True)

    with Y4m(decoded) as video:
        shown = [made_call.read_number(made_call.luma(video, index)) for index in range(len(video))]
    assert len(shown) == 150
    assert shown[30] in (29, 30)
    assert set(shown[61:119]) == {59}
    assert shown[130] in (129, 130)
    assert path.stat().st_size < 1_500_000
    assert [found.name for found in tmp_path.iterdir() if "part" in found.name] == []


def test_a_failing_ffmpeg_says_so_and_hangs_nobody(tmp_path):
    frames = (bytes(320 * 180 * 3 // 2) for _ in range(100_000))
    with pytest.raises(ComponentFailed, match="nonsense"):
        run([(320, 180, 30, frames)], ["-vf", "nonsense", "-f", "null", "-"], tmp_path)
