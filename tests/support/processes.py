"""Processes of this machine: which of them run, and waiting for what they do."""

import time
from pathlib import Path


def wait_until(condition, what="the condition", limit_s=120.0):
    """Polls; returns the first value of the condition that is true. `what`, a text or a function, names what is late.

    For what another process or thread does, in real time. The limit is for what hangs; no busy machine needs it.
    """
    deadline_s = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline_s, f"not within {limit_s:g} s: {what() if callable(what) else what}"
        time.sleep(0.02)
    return found


def is_running(process):
    """False for one that is dead and only waits for its parent to take note."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def processes_with(text, *, first=False):
    """Those whose command line has the text, or begins with it; words end with a null character each."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            place = (entry / "cmdline").read_bytes().find(text.encode()) if entry.name.isdecimal() else -1
            if place == 0 or (place > 0 and not first):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
