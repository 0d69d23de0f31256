"""Clean-up that a cancelled or killed run cannot skip.

A temporary folder is locked while its owner lives, so that the holder of namespaces, or the next run, can tell that the
owner is dead and remove it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

_FOLDER_PREFIX = "weir-call-"
_REMOVE_ATTEMPTS = 20


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Completes the work even if the waiting task is cancelled; raises the cancellation afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


class ScratchFolder:
    """A temporary folder for the time of a call; a context manager. Its path is short: sockets are made in it."""

    def __init__(self) -> None:
        remove_scratch_folders()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
            self._lock = _locked(self.path, fcntl.LOCK_EX)
            # Another run may have removed it before it was locked.
            if self.path.is_dir():
                return

    def remove(self) -> None:
        """Removes it with its contents; does nothing the second time."""
        _remove(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_scratch_folders() -> None:
    """Removes the folders of dead runs, but only those that this user made."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
        lock = _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is not None:
            _remove(folder)
            os.close(lock)


def _locked(folder: Path, how: int) -> int | None:
    """The descriptor of this user's folder with a lock on it; None if another has it, or there is no such folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, how)
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _remove(folder: Path) -> None:
    """Also while a dying process still writes into it."""
    for _ in range(_REMOVE_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
