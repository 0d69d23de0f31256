"""Removes what this process leaves when it is killed, which it cannot do itself: a child that waits for its end."""

from __future__ import annotations

import contextlib
import subprocess
import sys

_STOP_LIMIT_S = 5.0
_DONE = b"."
# Python alone waits, in a few MB; Weir is imported when there is something to remove.
_PROGRAM = """
import os, select, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
parent = os.pidfd_open(os.getppid())
if not sys.stdin.buffer.read():
    # Its files are closed before it is dead.
    select.select([parent], [], [], 10)
    from weir.qoe_eval.call.link import namespaces
    from weir.qoe_eval.call.processes import scratch_folder
    try:
        namespaces.remove_leftovers()
    finally:
        scratch_folder.remove_leftovers()
"""


class Reaper:
    """A context manager around what must not stay behind. Where the child cannot be started, or is killed itself, the
    next run removes what was left.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            # Its standard error is not the user's terminal, which may be gone by then.
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def process_id(self) -> int | None:
        """Of the child."""
        return self._child.pid if self._child else None

    def dismiss(self) -> None:
        """All is removed: it ends without doing anything."""
        if self._child is None:
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._child.communicate(_DONE, timeout=_STOP_LIMIT_S)
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()

    def __enter__(self) -> Reaper:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()
