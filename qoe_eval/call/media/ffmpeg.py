"""Runs the ffmpeg that comes with imageio-ffmpeg, fed with raw I420 frames."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from weir.errors import MissingComponent

Frames = Iterable[bytes]
_TIME_LIMIT_S = 60.0
_TIME_LIMIT_PER_FRAME_S = 1.0


class FfmpegFailed(RuntimeError):
    """It ended with an error, or overstayed; the message holds its last words."""


def find_ffmpeg() -> str:
    """Its path.

    Raises:
        MissingComponent: it is not installed.
    """
    try:
        import imageio_ffmpeg

        return imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise MissingComponent("ffmpeg is missing: install the Python package imageio-ffmpeg") from None


def raw_input(descriptor: int, width: int, height: int, frames_per_second: float) -> list[str]:
    """The options of an input of I420 frames from a file descriptor."""
    options = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}", "-r", f"{frames_per_second:g}"]
    return [*options, "-i", f"pipe:{descriptor}"]


def run(inputs: Sequence[tuple[int, int, float, Frames]], options: Sequence[str], folder: Path, frames: int) -> None:
    """Feeds every input (width, height, frames per second, frames) to ffmpeg by a pipe of its own.

    Args:
        inputs: what `-i` reads, in order.
        options: what comes after the inputs, relative paths being in `folder`.
        folder: where it works.
        frames: how many there are about, which bounds its time.

    Raises:
        FfmpegFailed: it did not do it.
        MissingComponent: it is not installed.
    """
    command = [find_ffmpeg(), "-hide_banner", "-nostdin", "-y", "-loglevel", "error"]
    readers, writers, threads = [], [], []
    with tempfile.TemporaryFile() as errors:
        try:
            for width, height, frames_per_second, _ in inputs:
                reader, writer = os.pipe()
                readers.append(reader)
                writers.append(writer)
                command += raw_input(reader, width, height, frames_per_second)
            process = subprocess.Popen(
                [*command, *options],
                cwd=folder,
                pass_fds=readers,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            # It ends when its inputs do, hence also when this process dies.
            while readers:
                os.close(readers.pop())
            for (_, _, _, some), writer in zip(inputs, writers, strict=True):
                thread = threading.Thread(target=_feed, args=(writer, some), daemon=True)
                threads.append(thread)
                thread.start()
            writers.clear()
            try:
                status = process.wait(_TIME_LIMIT_S + _TIME_LIMIT_PER_FRAME_S * frames)
            except subprocess.TimeoutExpired:
                raise FfmpegFailed("ffmpeg overstayed its time") from None
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
                for thread in threads:
                    thread.join()
        finally:
            for descriptor in (*readers, *writers):
                os.close(descriptor)
        if status != 0:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 500))
            raise FfmpegFailed(f"ffmpeg ended with {status}: {errors.read().decode(errors='replace').strip()}")


def _feed(descriptor: int, frames: Frames) -> None:
    """A broken pipe is no error of the feeder: ffmpeg ended, and its status says why."""
    with suppress(BrokenPipeError), os.fdopen(descriptor, "wb", buffering=0) as pipe:
        for frame in frames:
            view = memoryview(frame)
            while view:
                view = view[pipe.write(view) :]
