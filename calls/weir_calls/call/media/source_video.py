"""The video that a call sends: moving textured scenery with grain, 300 frames at 30/s that loop without a seam.

Its detail needs several Mbps in a real-time encoder and still survives 100 kbps. Every frame carries its index as a
bar code. The same size gives the same bytes on every machine with the same numpy.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weir_calls.call.media import frame_number
from weir_cli.errors import ComponentFailed, InputError
from weir_cli.files.output import make_folder, replacing
from weir_eval.runs.interruption import check_interrupted
from weir_eval.runs.task_processes import Report, TaskFailure, run_tasks

FRAMES = 300
FRAMES_PER_SECOND = 30
# Part of the name of a cached file. Increment it with the scene.
_VERSION = 1
_SEED = 20210928
_GRAIN = 2.5
_MOST_PROCESSES = 8
_POLL_S = 0.2
_LARGEST_SIDE = 4096
_FRAME = b"FRAME\n"

Image = NDArray[np.float32]

_making = threading.Lock()


def make(folder: Path, width: int, height: int, on_progress: Callable[[float], None] | None = None) -> Path:
    """Returns the path of the y4m file (I420), and makes it if it is missing; 640x360 takes 100 MB and some seconds.

    Args:
        folder: folder of the file, which is named after its size.
        width: a multiple of 40, at most 4096.
        height: even, at least 3/40 of the width.
        on_progress: receives the share that is made, 0 to 1, a few times per second.

    Raises:
        InputError: the size is not supported, or the file cannot be written.
        ComponentFailed: a process that makes it was killed.
        KeyboardInterrupt: interrupted.
    """
    try:
        frame_number.check_size(width, height)
    except ValueError as error:
        raise InputError(f"source video: {error}") from None
    if max(width, height) > _LARGEST_SIDE:
        raise InputError(f"source video: {width}x{height} is too large; at most {_LARGEST_SIDE} a side")
    path = folder / f"source-{_VERSION}-{width}x{height}.y4m"
    header = f"YUV4MPEG2 W{width} H{height} F{FRAMES_PER_SECOND}:1 Ip A1:1 C420\n".encode()
    size = len(header) + FRAMES * _frame_bytes(width, height)
    with _one_at_a_time():
        if not path.is_file() or path.stat().st_size != size:
            _make(path, header, size, width, height, on_progress)
    return path


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two calls at once need the same video."""
    while not _making.acquire(timeout=_POLL_S):
        check_interrupted()
    try:
        yield
    finally:
        _making.release()


def _make(
    path: Path, header: bytes, size: int, width: int, height: int, on_progress: Callable[[float], None] | None
) -> None:
    make_folder(path.parent, "source video:")
    with replacing(path) as file:
        file.write(header)
        file.flush()
        # A full disk fails here, not in a process.
        os.posix_fallocate(file.fileno(), 0, size)
        # The file has no name until it is complete.
        _make_frames(f"/proc/{os.getpid()}/fd/{file.fileno()}", len(header), width, height, on_progress)


def _frame_bytes(width: int, height: int) -> int:
    return len(_FRAME) + width * height * 3 // 2


@dataclass(frozen=True)
class _Part:
    """Frames `first` up to `end` of a video; the first frame is at `offset` in the file `path`."""

    path: str
    offset: int
    width: int
    height: int
    first: int
    end: int

    @property
    def name(self) -> str:
        return f"frames from {self.first}"


def _make_frames(path: str, offset: int, width: int, height: int, on_progress: Callable[[float], None] | None) -> None:
    """Writes the frames on all cores."""
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    places = [FRAMES * index // processes for index in range(processes + 1)]
    parts = [_Part(path, offset, width, height, first, end) for first, end in pairwise(places)]
    made = dict.fromkeys(parts, 0)

    def show(part: _Part, frames: int) -> None:
        made[part] = frames
        if on_progress is not None:
            on_progress(sum(made.values()) / FRAMES)

    def finish(part: _Part, outcome: TaskFailure | None) -> None:
        if isinstance(outcome, TaskFailure):
            raise ComponentFailed(f"the source video could not be made: {outcome.describe()}")
        show(part, part.end - part.first)

    run_tasks(parts, _make_part, processes, show, finish, stop_limit_s=0)


def _make_part(part: _Part, report: Report) -> None:
    scene = _Scene(part.width, part.height)
    with open(part.path, "r+b") as file:
        file.seek(part.offset + part.first * _frame_bytes(part.width, part.height))
        for index in range(part.first, part.end):
            report(index - part.first)
            file.write(scene.frame(index))


class _Scene:
    """Sky, two ranges of hills and water, seen by a camera on a closed path, with balls that cross in front."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        generator = np.random.default_rng(_SEED)
        self.reach = (width // 10, height // 20)
        size = (height + 2 * self.reach[1] + 2, width + 2 * self.reach[0] + 2)
        self.layers = [
            _Layer(generator, size, share_above=0.0, brightness=172, contrast=12, roughness=1.9, tint=(150, 112)),
            _Layer(generator, size, share_above=0.42, brightness=122, contrast=14, roughness=1.5, tint=(132, 122)),
            _Layer(generator, size, share_above=0.58, brightness=88, contrast=24, roughness=1.35, tint=(112, 124)),
        ]
        water = (height // 4, width)
        self.waves = [_texture(generator, water, roughness=1.5) for _ in range(4)]
        side = height // 5
        y, x = np.mgrid[:side, :side] / (side - 1) * 2 - 1
        self.masks = [np.hypot(x, y * stretch) < 1 for stretch in (1.0, 1.4, 1.0)]
        light = 150 - 40 * np.hypot(x + 0.4, y + 0.4)
        self.things = [(light + 16 * _texture(generator, (side, side), roughness=1.2)) for _ in self.masks]

    def frame(self, index: int) -> bytes:
        """A frame with its header and bar code."""
        phase = 2 * np.pi * index / FRAMES
        planes = self.layers[0].planes(self._place(phase, 0.3), self.width, self.height)
        for layer, nearness in zip(self.layers[1:], (0.6, 1.0), strict=True):
            place = self._place(phase, nearness)
            mask = layer.mask(place, self.width, self.height)
            for plane, own in zip(planes, layer.planes(place, self.width, self.height), strict=True):
                visible = mask if plane.shape == mask.shape else mask[::2, ::2]
                plane[visible] = own[visible]
        weights = 0.5**0.5 * np.array([np.cos(3 * phase), np.sin(3 * phase), np.cos(5 * phase), np.sin(5 * phase)])
        waves = np.zeros_like(self.waves[0])
        for weight, wave in zip(weights, self.waves, strict=True):
            waves += np.float32(weight) * wave
        planes[0][-len(waves) :] = 96 + 15 * waves
        for plane, tint in zip(planes[1:], (146, 116), strict=True):
            plane[-(len(waves) // 2) :] = tint
        self._add_things(planes, phase)
        # Sensor-like grain: no two frames are equal, so that the loop has no seam.
        grain = np.random.default_rng((_SEED, index)).standard_normal(planes[0].shape, dtype=np.float32)
        planes[0] += np.float32(_GRAIN) * grain
        luma, u, v = (np.clip(plane + 0.5, 16, 235).astype(np.uint8) for plane in planes)
        frame_number.write(luma, u, v, index)
        return _FRAME + luma.tobytes() + u.tobytes() + v.tobytes()

    def _place(self, phase: float, nearness: float) -> tuple[float, float]:
        x, y = self.reach
        return x * (1 + nearness * np.sin(phase)), y * (1 + nearness * np.sin(2 * phase))

    def _add_things(self, planes: list[Image], phase: float) -> None:
        for order, (thing, mask) in enumerate(zip(self.things, self.masks, strict=True)):
            side = len(thing)
            turn = phase * (1 + order) + order * 1.7
            left = 2 * round((self.width - side) * (0.25 + 0.24 * np.cos(turn)))
            top = 2 * round((self.height - side) * (0.25 + 0.2 * np.sin(2 * turn + order)))
            planes[0][top : top + side, left : left + side][mask] = thing[mask]
            half = mask[::2, ::2]
            rows, columns = half.shape
            for plane, tint in zip(planes[1:], ((100, 162), (160, 104), (108, 112))[order], strict=True):
                plane[top // 2 : top // 2 + rows, left // 2 : left // 2 + columns][half] = tint


class _Layer:
    """One depth of the scenery: textured, and opaque below its ridge line."""

    def __init__(
        self,
        generator: np.random.Generator,
        size: tuple[int, int],
        share_above: float,
        brightness: float,
        contrast: float,
        roughness: float,
        tint: tuple[float, float],
    ) -> None:
        self.luma = brightness + contrast * _texture(generator, size, roughness)
        half = (size[0] // 2 + 1, size[1] // 2 + 1)
        self.chroma = [colour + 5 * _texture(generator, half, roughness=1.8) for colour in tint]
        ridge = _texture(generator, (1, size[1]), roughness=1.4)[0]
        lines = size[0] * (share_above + 0.07 * ridge if share_above else np.full(size[1], -1))
        self.opaque = np.arange(size[0])[:, None] >= lines[None, :]

    def planes(self, place: tuple[float, float], width: int, height: int) -> list[Image]:
        """Luma and chroma of the camera's view at a place (x, y)."""
        x, y = place
        chroma = [_shifted(plane, x / 2, y / 2, width // 2, height // 2) for plane in self.chroma]
        return [_shifted(self.luma, x, y, width, height), *chroma]

    def mask(self, place: tuple[float, float], width: int, height: int) -> NDArray[np.bool_]:
        """The pixels at which the layer hides those behind it."""
        x, y = (round(coordinate) for coordinate in place)
        return self.opaque[y : y + height, x : x + width]


def _texture(generator: np.random.Generator, shape: tuple[int, int], roughness: float) -> Image:
    """Noise with a spectrum of frequency ** -roughness, as in photographs; mean 0, standard deviation 1."""
    spectrum = np.fft.rfft2(generator.standard_normal(shape))
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1])[None, :])
    frequency[0, 0] = 1.0
    spectrum *= frequency**-roughness
    spectrum[0, 0] = 0
    image = np.fft.irfft2(spectrum, s=shape)
    return (image / image.std()).astype(np.float32)


def _shifted(image: Image, x: float, y: float, width: int, height: int) -> Image:
    """The part of an image that begins at (x, y), with bilinear interpolation."""
    left, top = int(x), int(y)
    right, down = np.float32(x - left), np.float32(y - top)
    part = image[top : top + height + 1, left : left + width + 1]
    rows = part[:-1] + down * (part[1:] - part[:-1])
    return rows[:, :-1] + right * (rows[:, 1:] - rows[:, :-1])


def source_video_path(width: int, height: int, on_progress: Callable[[float], None] | None = None) -> Path:
    """Returns the path of the video of a size in the user's cache, and makes it if it is missing. See `make`."""
    return make(cache_folder(), width, height, on_progress)


def cache_folder() -> Path:
    """The folder in the user's cache for the media that calls send."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"
