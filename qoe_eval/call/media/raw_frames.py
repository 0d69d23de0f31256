"""The received frames of a call, gigabytes, for as long as somebody has them open."""

from __future__ import annotations

import os
from pathlib import Path


class RawFrames:
    """Takes the file's name away: who writes it goes on writing, and when the last who has it open ends, however that
    happens, the disk has its room again.
    """

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError: there is no such file."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        path.unlink()

    @property
    def path(self) -> Path:
        """By which this process can open it."""
        return Path(f"/proc/self/fd/{self._descriptor}")

    def close(self) -> None:
        """The file is gone; does nothing the second time."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
