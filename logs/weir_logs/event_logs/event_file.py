"""Events of a recording as JSON lines in an unnamed temporary file: a long recording takes disk instead of memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO


class EventFile:
    """Lines of JSON, each with its line end. Removed with the object. Not for several readers at once."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        """Writes the lines. Raises OSError if the disk is full."""
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        with open(self._file.fileno(), "wb", closefd=False) as writer:
            writer.writelines(lines)

    def lines(self) -> Iterator[bytes]:
        """All lines, from the first on."""
        with open(self.for_process().fileno(), "rb", closefd=False) as reader:
            yield from reader

    def for_process(self) -> IO[bytes]:
        """The file at its begin, as the standard input or output of a process."""
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        return self._file
