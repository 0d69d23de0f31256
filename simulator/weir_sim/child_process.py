"""Child processes that run a program of Weir: their end, how it is reported, and what they wrote last."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from typing import IO

_LAST_BYTES = 4096
_LAST_LINES = 5
_PR_SET_PDEATHSIG = 1
# Loaded here because a child must not load libraries between fork and exec.
_libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """For `preexec_fn`: the child is killed when the thread that started it ends, for any reason."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kills a child that leads a process group, and all that it has started, from any thread."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def end(child: subprocess.Popen[bytes], patience_s: float) -> int:
    """Waits for the end of a child, and kills it after `patience_s`. Returns its exit status."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(patience_s)
    kill(child)
    return child.wait()


def exit_text(status: int) -> str:
    """An exit status as a predicate; -N: killed by signal N."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def last_words(errors: IO[bytes]) -> str:
    """The last lines in the file that is a child's standard error, to be appended to a message."""
    with contextlib.suppress(OSError, ValueError):
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        if lines:
            return "; on standard error: " + " | ".join(lines)
    return "; nothing on standard error"
