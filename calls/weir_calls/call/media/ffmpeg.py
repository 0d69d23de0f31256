"""Runs ffmpeg on raw I420 frames: the recording of a call, and VMAF."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir_calls.call.media.progress import OnShare, ignore_share
from weir_calls.call.media.received_frames import ReceivedFrame
from weir_calls.call.media.source_video import FRAMES_PER_SECOND
from weir_calls.call.media.y4m import Y4m
from weir_calls.link.leftovers import ScratchFolder
from weir_calls.requirements import find_ffmpeg
from weir_cli.errors import ComponentFailed
from weir_eval.runs.interruption import check_interrupted
from weir_sim.child_process import die_with_parent, exit_text, last_words

Frames = Iterable[bytes]
THREADS = 2
MODEL = "vmaf_v0.6.1"
_LOG = "vmaf.json"
_QUALITY = "26"
# Limit of the time since ffmpeg last read a frame, also at the end.
_TIME_LIMIT_S = 60.0
_POLL_S = 0.5


def raw_input(descriptor: int, width: int, height: int, frames_per_second: float) -> list[str]:
    """Options of an input of I420 frames from a file descriptor."""
    options = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}", "-r", f"{frames_per_second:g}"]
    return [*options, "-i", f"pipe:{descriptor}"]


def run(inputs: Sequence[tuple[int, int, float, Frames]], options: Sequence[str], folder: Path) -> None:
    """Runs ffmpeg in a folder; every input (width, height, frames per second, frames) has its own pipe.

    Raises:
        ComponentFailed: ffmpeg failed.
        MissingComponent: ffmpeg is not installed.
    """
    command = [str(find_ffmpeg()), "-hide_banner", "-nostdin", "-y", "-loglevel", "error"]
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
            raise ComponentFailed(f"ffmpeg {exit_text(status)}{last_words(errors)}")


class _Progress:
    """The time at which ffmpeg last read a frame."""

    def __init__(self) -> None:
        self.at_s = time.monotonic()

    def note(self) -> None:
        self.at_s = time.monotonic()


def _wait(process: subprocess.Popen[bytes], progress: _Progress) -> int:
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_S)
        check_interrupted()
        if time.monotonic() - progress.at_s > _TIME_LIMIT_S:
            raise ComponentFailed(f"ffmpeg read no frame for {_TIME_LIMIT_S:g} s")


def _feed(descriptor: int, frames: Frames, progress: _Progress) -> None:
    """Writes frames to a pipe. Ignores a broken pipe: ffmpeg has ended, and its status shows the reason."""
    with suppress(BrokenPipeError), os.fdopen(descriptor, "wb", buffering=0) as pipe:
        for frame in frames:
            progress.note()
            view = memoryview(frame)
            while view:
                view = view[pipe.write(view) :]


def make_recording(
    received: Y4m,
    frames: Sequence[ReceivedFrame],
    span_us: tuple[int, int],
    path: Path,
    on_share: OnShare = ignore_share,
) -> Path | None:
    """Writes H.264 at 30 frames/s; each shows the last rendered frame, so that freezes are visible.

    Returns None if the file has no frame.

    Raises:
        ComponentFailed: ffmpeg failed.
        MissingComponent: ffmpeg is not installed.
    """
    start_us, end_us = span_us
    shown = [frame for frame in frames if frame.position is not None and frame.position < len(received)]
    if not shown or end_us <= start_us:
        return None
    ticks = max(1, round((end_us - start_us) * FRAMES_PER_SECOND / 1e6))

    def instants() -> Iterator[bytes]:
        index = 0
        for tick in range(ticks):
            now_us = start_us + (tick + 0.5) * 1e6 / FRAMES_PER_SECOND
            while index + 1 < len(shown) and shown[index + 1].render_time_us <= now_us:
                index += 1
            position = shown[index].position
            assert position is not None
            on_share(tick / ticks)
            yield received.frame(position)

    options = ["-c:v", "libx264", "-preset", "superfast", "-crf", _QUALITY, "-threads", "2", "-pix_fmt", "yuv420p"]
    part = path.with_name(path.name + ".part")
    # ffmpeg would follow a symbolic link.
    part.unlink(missing_ok=True)
    try:
        inputs = [(received.width, received.height, FRAMES_PER_SECOND, instants())]
        run(inputs, [*options, "-movflags", "+faststart", "-f", "mp4", str(part.absolute())], path.parent)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


@dataclass(frozen=True)
class Vmaf:
    """VMAF, 0 to 100: mean and 5th percentile, and each compared frame as (index in the pairs, value)."""

    mean: float
    p5: float
    frames: list[tuple[int, float]]


def measure_vmaf(
    received: Y4m, source: Y4m, pairs: Sequence[tuple[int, int]], on_share: OnShare = ignore_share
) -> Vmaf | None:
    """VMAF over pairs (index of a frame in `received`, in `source`) in the order of rendering; None without pairs.

    Frames are paired by number, so a frame that never arrived is a freeze and does not affect VMAF.

    Args:
        received: the received frames; scaled to the source's size (bicubic).
        source: the frames that were sent.
        pairs: frames that exist in both files.
        on_share: receives the progress.

    Raises:
        ComponentFailed: ffmpeg failed.
        MissingComponent: ffmpeg is not installed.
    """
    if not pairs:
        return None
    scale = f"[0:v]scale={source.width}:{source.height}:flags=bicubic[received]"
    compare = f"[received][1:v]libvmaf=log_fmt=json:log_path={_LOG}:n_threads={THREADS}"

    def compared() -> Iterator[bytes]:
        for count, (index, _) in enumerate(pairs):
            on_share(count / len(pairs))
            yield received.frame(index)

    with ScratchFolder() as folder:
        inputs = [
            (received.width, received.height, FRAMES_PER_SECOND, compared()),
            (source.width, source.height, FRAMES_PER_SECOND, (source.frame(index) for _, index in pairs)),
        ]
        run(inputs, ["-lavfi", f"{scale};{compare}", "-f", "null", "-"], folder)
        try:
            log = json.loads((folder / _LOG).read_text(encoding="utf-8"))
            frames = [(int(frame["frameNum"]), float(frame["metrics"]["vmaf"])) for frame in log["frames"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ComponentFailed(f"ffmpeg wrote no VMAF ({error!r})") from None
    values = [value for _, value in frames]
    if not values:
        return None
    return Vmaf(float(np.mean(values)), float(np.percentile(values, 5)), frames)
