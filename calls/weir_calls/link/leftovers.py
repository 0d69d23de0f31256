"""Cleanup that a cancelled or killed run cannot skip.

A temporary folder is locked while its owner lives, so that the namespace holder, or the next run, can detect that the
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
    """Completes the work even if the waiting task is cancelled; then raises the cancellation."""
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
    """A context manager of a temporary folder for one call. Its path is short, as sockets are made in it."""

    def __init__(self) -> None:
        remove_scratch_folders()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
            self._lock = _locked(self.path, fcntl.LOCK_EX)
            # Another run may have removed the folder before it was locked.
            if self.path.is_dir():
                return

    def remove(self) -> None:
        """Removes the folder with its contents; idempotent."""
        _remove(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_scratch_folders() -> None:
    """Removes the folders of dead runs of this user."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
        lock = _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is not None:
            _remove(folder)
            os.close(lock)


def _locked(folder: Path, operation: int) -> int | None:
    """Locks a folder of this user and returns its descriptor; None if it is locked, or there is no such folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, operation)
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _remove(folder: Path) -> None:
    """Removes a folder, retrying while a dying process still writes into it."""
    for _ in range(_REMOVE_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
