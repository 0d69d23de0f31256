"""Who made something that outlives a killed process: a name that says so, in a way that others can check."""

from __future__ import annotations

import os
import re
from pathlib import Path

_NAME = re.compile(r"([0-9a-f]{8})-(\d+)-(\d+)-(\d+)")
PATTERN = _NAME.pattern


def this_process() -> str:
    """Boot of the machine, namespace of processes, number and start time of this process."""
    return f"{_boot()}-{_process_namespace()}-{os.getpid()}-{_start_time(os.getpid())}"


def is_dead(owner: str) -> bool:
    """Whether the process of that name has ended; False for what is no such name, and where it cannot be known."""
    match = _NAME.fullmatch(owner)
    if match is None:
        return False
    boot, process_namespace, process, start_time = match.groups()
    if boot != _boot():
        return True
    # Another container's processes cannot be seen from here.
    return int(process_namespace) == _process_namespace() and _start_time(int(process)) != int(start_time)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]


def _process_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _start_time(process: int) -> int | None:
    """In clock ticks since the boot; None when there is no such process, or nothing but its exit status."""
    try:
        # The name, in parentheses, may hold anything.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])
