"""Clean-up that a cancelled or killed run cannot skip.

Whatever outlives a killed process carries the name of its owner, so that the reaper, or the next run, can tell that the
owner is dead and remove it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

_OWNER = re.compile(r"([0-9a-f]{8})-(\d+)-(\d+)-(\d+)")
OWNER_PATTERN = _OWNER.pattern
_FOLDER_PREFIX = "weir-call-"
_OWNER_FILE = ".owner"
_LONGEST_OWNER_BYTES = 200
_REMOVE_ATTEMPTS = 20
_REAPER_STOP_LIMIT_S = 5.0
# The reaper waits with nothing but Python loaded, a few MB; it imports Weir when there is something to remove.
_REAPER_PROGRAM = """
import os, select, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
parent = os.pidfd_open(os.getppid())
if not sys.stdin.buffer.read():
    # The parent's files are closed before it is dead.
    select.select([parent], [], [], 10)
    from weir.qoe_eval.link import leftovers, namespaces
    try:
        namespaces.remove_leftovers()
    finally:
        leftovers.remove_scratch_folders()
"""


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


def this_process() -> str:
    """Identifies this process: boot of the machine, PID namespace, process id and start time."""
    return f"{_boot()}-{_process_namespace()}-{os.getpid()}-{_start_time(os.getpid())}"


def is_dead(owner: str) -> bool:
    """True if the process of that name has ended; False for other names, and where it cannot be determined."""
    match = _OWNER.fullmatch(owner)
    if match is None:
        return False
    boot, process_namespace, process, start_time = match.groups()
    if boot != _boot():
        return True
    # The processes of another container are not visible from here.
    return int(process_namespace) == _process_namespace() and _start_time(int(process)) != int(start_time)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]


def _process_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _start_time(process: int) -> int | None:
    """In clock ticks since the boot; None when there is no such process, or only its exit status is left."""
    try:
        # The name, in parentheses, may hold anything.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


class ScratchFolder:
    """A temporary folder for the time of a call; a context manager. Its path is short: sockets are made in it."""

    def __init__(self) -> None:
        remove_scratch_folders()
        self.path = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
        (self.path / _OWNER_FILE).write_text(this_process(), encoding="ascii")

    def remove(self) -> None:
        """Removes it with its contents; does nothing the second time."""
        _remove(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_scratch_folders() -> None:
    """Removes the folders of dead runs, but only those that this user made."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
            if _is_leftover(folder):
                _remove(folder)


def _remove(folder: Path) -> None:
    # A process that has just been killed may still have made a file in it.
    for _ in range(_REMOVE_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
    # Later attempts recognise it by its owner.
    with contextlib.suppress(OSError):
        (folder / _OWNER_FILE).write_text(this_process(), encoding="ascii")


def _is_leftover(folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        with (folder / _OWNER_FILE).open("rb") as file:
            return is_dead(file.read(_LONGEST_OWNER_BYTES).decode("ascii"))
    return False


class Reaper:
    """A child process that removes what this process leaves when it is killed; a context manager.

    If the child cannot be started, or is killed itself, the next run removes the leftovers.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            # Its standard error is not the user's terminal, which may be gone by then.
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _REAPER_PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def dismiss(self) -> None:
        """Ends the child; everything is removed."""
        if self._child is None:
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._child.communicate(b".", timeout=_REAPER_STOP_LIMIT_S)
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()

    def __enter__(self) -> Reaper:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()
