"""Runs the ffmpeg that comes with imageio-ffmpeg, fed with raw I420 frames."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from weir.errors import MissingComponent
from weir.qoe_eval.runs.simulator_worker import die_with_parent

Frames = Iterable[bytes]
# Without taking a frame; and after the last one.
_TIME_LIMIT_S = 60.0
_POLL_S = 0.5


class FfmpegFailed(RuntimeError):
    """It ended with an error, or stood still; the message holds its last words."""


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


def run(inputs: Sequence[tuple[int, int, float, Frames]], options: Sequence[str], folder: Path) -> None:
    """Feeds every input (width, height, frames per second, frames) to ffmpeg by a pipe of its own.

    Args:
        inputs: what `-i` reads, in order.
        options: what comes after the inputs, relative paths being in `folder`.
        folder: where it works.

    Raises:
        FfmpegFailed: it did not do it.
        MissingComponent: it is not installed.
    """
    command = [find_ffmpeg(), "-hide_banner", "-nostdin", "-y", "-loglevel", "error"]
    readers, writers, threads = [], [], []
    progress = _Progress()
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
                preexec_fn=die_with_parent,
            )
            while readers:
                os.close(readers.pop())
            for (_, _, _, some), writer in zip(inputs, writers, strict=True):
                thread = threading.Thread(target=_feed, args=(writer, some, progress), daemon=True)
                threads.append(thread)
                thread.start()
            writers.clear()
            try:
                status = _wait(process, progress)
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


class _Progress:
    """When ffmpeg last took a frame."""

    def __init__(self) -> None:
        self.at_s = time.monotonic()

    def note(self) -> None:
        self.at_s = time.monotonic()


def _wait(process: subprocess.Popen[bytes], progress: _Progress) -> int:
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_S)
        if time.monotonic() - progress.at_s > _TIME_LIMIT_S:
            raise FfmpegFailed(f"ffmpeg took no frame for {_TIME_LIMIT_S:g} s")


def _feed(descriptor: int, frames: Frames, progress: _Progress) -> None:
    """A broken pipe is no error of the feeder: ffmpeg ended, and its status says why."""
    with suppress(BrokenPipeError), os.fdopen(descriptor, "wb", buffering=0) as pipe:
        for frame in frames:
            progress.note()
            view = memoryview(frame)
            while view:
                view = view[pipe.write(view) :]
