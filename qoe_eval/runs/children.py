"""Child processes that do not outlive the process that started them."""

from __future__ import annotations

import ctypes
import signal

_PR_SET_PDEATHSIG = 1
# Loaded here: between fork and exec there is no time for it.
_libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """For `preexec_fn`: the child is killed when the thread that started it ends, however that happens."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
