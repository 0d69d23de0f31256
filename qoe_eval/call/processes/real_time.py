"""A call goes before whatever else this machine computes, or its timing is the machine's and not the path's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_PRIORITY = 1
LINK_PRIORITY = 2
"""The link keeps time for all others, and takes little of it."""


def run_in_real_time(processes: Iterable[int], priority: int = _PRIORITY) -> None:
    """Gives every thread of these processes the real-time class of the scheduler; threads and processes that they start
    later have it too. The kernel leaves a twentieth of the time to others. Where it is not allowed, nothing changes.
    """
    for process in processes:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{process}/task").iterdir():
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(priority))


def run_this_thread_in_real_time() -> None:
    """The same for the thread that calls."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))
