import asyncio
import multiprocessing
import os
import signal
import subprocess

import numpy as np
import pytest

from weir_calls.call.media import frame_number, source_video
from weir_calls.call.media.y4m import Y4m
from weir_calls.requirements import find_ffmpeg
from weir_cli.errors import ComponentFailed, InputError
from weir_eval.runs.interruption import run_in_thread


def test_every_frame_has_its_number(made_call, source):
    with Y4m(source) as video:
        assert (video.width, video.height, len(video)) == (320, 180, 300)
        assert [made_call.read_number(made_call.luma(video, index)) for index in range(300)] == list(range(300))


def test_it_moves_and_loops_without_a_seam(made_call, source):
    with Y4m(source) as video:
        frames = [made_call.luma(video, index)[20:].astype(np.float32) for index in (299, 0, 1, 150)]

    def difference(a, b):
        return float(np.abs(a - b).mean())

    usual = difference(frames[1], frames[2])
    assert 1 < usual < 20
    assert difference(frames[0], frames[1]) == pytest.approx(usual, rel=0.2)
    assert difference(frames[1], frames[3]) > 2 * usual


def test_the_same_size_gives_the_same_bytes_and_is_made_once(source, tmp_path):
    path = source_video.make(tmp_path, 320, 180)
    assert path.read_bytes() == source.read_bytes()
    made = path.stat().st_mtime_ns
    assert source_video.make(tmp_path, 320, 180) == path
    assert path.stat().st_mtime_ns == made
    # A truncated or outdated file is made again.
    os.truncate(path, 1000)
    source_video.make(tmp_path, 320, 180)
    assert path.read_bytes() == source.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("rate", "low", "high"), [("3M", 2.4e6, 3.6e6), ("60k", 0, 130e3)])
def test_an_encoder_in_real_time_can_be_filled_and_starved(source, tmp_path, rate, low, high):
    encoded = tmp_path / "encoded.webm"
    options = ["-deadline", "realtime", "-cpu-used", "-6", "-lag-in-frames", "0", "-qmin", "2", "-qmax", "56"]
    command = [find_ffmpeg(), "-v", "error", "-i", source, "-t", "5", "-c:v", "libvpx", *options]
    subprocess.run([*command, "-b:v", rate, "-maxrate", rate, "-bufsize", rate, encoded], check=True)
    assert low <= 8 * encoded.stat().st_size / 5 <= high


@pytest.mark.parametrize(("size", "message"), [((321, 180), "multiple of 40"), ((8000, 4500), "too large")])
def test_sizes_that_cannot_be_made_are_refused(tmp_path, size, message):
    with pytest.raises(InputError, match=message):
        source_video.make(tmp_path, *size)


def test_a_folder_that_cannot_be_written_is_one_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the folder cannot be made"):
        source_video.make(tmp_path / "file" / "below", 320, 180)


def test_progress_rises_to_the_whole_video(tmp_path):
    shares = []
    source_video.make(tmp_path, 80, 46, shares.append)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] == 1


async def make_below_a_signal_handler(folder, on_progress):
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    return await run_in_thread(source_video.make, folder, 1280, 720, on_progress)


def test_killing_one_process_that_makes_it_is_an_error(tmp_path):
    killed = []

    def kill(share):
        if not killed:
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(ComponentFailed, match=r"could not be made: frames from .*: its process was killed by SIGKILL"):
        asyncio.run(make_below_a_signal_handler(tmp_path, kill))
    assert multiprocessing.active_children() == []
    assert list(tmp_path.iterdir()) == []


def test_sigterm_ends_the_processes_that_make_it(tmp_path):
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(make_below_a_signal_handler(tmp_path, lambda share: os.kill(os.getpid(), signal.SIGTERM)))
    assert multiprocessing.active_children() == []
    assert list(tmp_path.iterdir()) == []


def picture(width, height, number=None, seed=1):
    generator = np.random.default_rng(seed)
    shapes = [(height, width), (height // 2, width // 2), (height // 2, width // 2)]
    planes = [generator.integers(16, 235, shape, dtype=np.uint8) for shape in shapes]
    if number is not None:
        frame_number.write(*planes, number)
    return planes


def test_the_check_sum_is_the_published_one():
    assert frame_number.crc8(b"123456789") == 0xF4
    assert frame_number.crc8(b"") == 0


def test_the_layout_is_what_the_peer_draws():
    luma, u, v = picture(640, 360, 0b1000_0000_0000_0001)
    assert (luma[:48, :416] == 16).sum() + (luma[:48, :416] == 235).sum() == 48 * 416
    assert (luma[16:32, 16:32] == 235).all()  # the most significant bit
    assert (luma[16:32, 32:256] == 16).all()
    assert (luma[16:32, 256:272] == 235).all()  # the least significant bit
    check = [bool(luma[24, 16 * (1 + k) + 8] == 235) for k in range(16, 24)]
    assert check == [bool(frame_number.crc8(b"\x80\x01") >> (7 - bit) & 1) for bit in range(8)]
    assert (u[:24, :208] == 128).all()
    assert (v[:24, :208] == 128).all()
    before = picture(640, 360)
    assert (luma[48:] == before[0][48:]).all()
    assert (luma[:, 416:] == before[0][:, 416:]).all()


@pytest.mark.parametrize("size", [(642, 360), (100, 100), (640, 46), (40, 361), (0, 0)])
def test_sizes_without_room_for_it_are_refused(size):
    with pytest.raises(ValueError, match="multiple of 40"):
        frame_number.check_size(*size)


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="65536"):
        frame_number.write(*picture(640, 360), 65536)
