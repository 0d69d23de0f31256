"""Runs `weir-event-log`, libwebrtc's own parser of RTC event logs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from weir.errors import InputError
from weir.files.input import open_file, printable
from weir.qoe_eval.event_logs.packet_file import PCAPNG
from weir.simulator.executables import find_event_log

LONGEST_READING_S = 300
# The first bytes: the field begin_log_events of a log, or stream of one before 2019.
_BEGIN_LOG = b"\x82\x01"
_LEGACY = b"\x0a"
_FIRST_BYTES = 4096


def is_event_log(path: Path) -> bool:
    """True for a file that begins as an RTC event log does; False also for a pipe and what cannot be read."""
    try:
        with open_file(path) as file:
            start = file.read(_FIRST_BYTES)
    except OSError:
        return False
    return start.startswith(_BEGIN_LOG) or (
        start.startswith(_LEGACY) and not start.startswith(PCAPNG) and (b"\0" in start or not start.isascii())
    )


def event_log_lines(path: Path) -> bytes:
    """The events of a log as JSON lines; their types are in webrtc_patch/event_log/README.md.

    Raises:
        InputError: it is no event log, damaged from its first event on, or too large.
        MissingComponent: weir-event-log is not there.
    """
    program = find_event_log()
    try:
        done = subprocess.run([program, path], capture_output=True, timeout=LONGEST_READING_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{printable(path)}: takes over {LONGEST_READING_S} s to read; save a shorter log") from None
    if done.returncode:
        said = printable(done.stderr.decode(errors="replace").strip().removeprefix("weir-event-log: "))
        # Killed by a signal, or by libwebrtc's own checks.
        raise InputError(said if done.returncode > 0 and said else f"{printable(path)}: a damaged RTC event log")
    return done.stdout
