"""A folder for what a call needs only while it lasts. It never stays behind: the reaper removes what a killed run has
left, or the next run does.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

from weir.qoe_eval.call.processes.owner import is_dead, this_process

_PREFIX = "weir-call-"
_OWNER = ".owner"
_LONGEST_OWNER_BYTES = 200
_ATTEMPTS = 20


class ScratchFolder:
    """Lies where temporary files do; a context manager. Its path is short: sockets are made in it."""

    def __init__(self) -> None:
        remove_leftovers()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        (self.path / _OWNER).write_text(this_process(), encoding="ascii")

    def remove(self) -> None:
        """With all that is in it; does nothing the second time."""
        _remove(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_leftovers() -> None:
    """Removes the folders of runs that are dead: those of this user, that no other user can have put there."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if _is_leftover(folder):
                _remove(folder)


def _remove(folder: Path) -> None:
    # Who has just been killed may still have made a file in it.
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
    # To be known for what it is by those who try later.
    with contextlib.suppress(OSError):
        (folder / _OWNER).write_text(this_process(), encoding="ascii")


def _is_leftover(folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        with (folder / _OWNER).open("rb") as file:
            return is_dead(file.read(_LONGEST_OWNER_BYTES).decode("ascii"))
    return False
