"""Reads y4m files (I420) frame by frame. Ignores an incomplete last frame, for example of a killed writer."""

# Own code instead of PyAV 18.1 (103 MB): a seek there lands one frame early, reading takes 12 times as long, and odd
# sizes and frames with parameters are accepted.
from __future__ import annotations

import mmap
from pathlib import Path

from weir_cli.errors import InputError

_MAGIC = b"YUV4MPEG2 "
_FRAME = b"FRAME\n"
_LONGEST_HEADER = 1024
LARGEST_SIDE = 16384


class Y4m:
    """An open file; `len()` is its number of complete frames.

    Raises:
        InputError: the file is missing, or is not a y4m file of 8-bit 4:2:0 frames.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        try:
            header = self._file.readline(_LONGEST_HEADER)
            self.width, self.height = _size(path, header)
            self._offset = len(header)
            self._stride = len(_FRAME) + self.width * self.height * 3 // 2
            size = path.stat().st_size
            self._count = max(0, (size - self._offset) // self._stride)
            self._map = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return self._count

    def frame(self, index: int) -> bytes:
        """Returns the planes of a frame in succession.

        Raises:
            IndexError: the file has no such complete frame.
            InputError: the frame's header is damaged, or has parameters, which Weir never writes.
        """
        if not 0 <= index < self._count:
            raise IndexError(f"{self.path}: no frame {index}; it has {self._count}")
        start = self._offset + index * self._stride
        if self._map[start : start + len(_FRAME)] != _FRAME:
            raise InputError(f"{self.path}: frame {index} does not begin with FRAME; the file is damaged")
        return self._map[start + len(_FRAME) : start + self._stride]

    def close(self) -> None:
        """Closes the file."""
        self._map.close()
        self._file.close()

    def __enter__(self) -> Y4m:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _size(path: Path, header: bytes) -> tuple[int, int]:
    if not header.startswith(_MAGIC) or not header.endswith(b"\n"):
        raise InputError(f"{path}: not a y4m file")
    tags = {tag[:1]: tag[1:] for tag in header[len(_MAGIC) :].split()}
    try:
        width, height = int(tags[b"W"]), int(tags[b"H"])
    except (KeyError, ValueError):
        raise InputError(f"{path}: the y4m header has no size") from None
    colour = tags.get(b"C", b"420")
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE) or width % 2 or height % 2:
        raise InputError(f"{path}: frames of {width}x{height}; both sides must be even, and at most {LARGEST_SIDE}")
    if not colour.startswith(b"420") or colour.startswith(b"420p"):
        raise InputError(f"{path}: colour format {colour.decode(errors='replace')}; only 8-bit 4:2:0 is read")
    return width, height
