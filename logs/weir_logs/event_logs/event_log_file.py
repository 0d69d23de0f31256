"""Runs `weir-event-log`, libwebrtc's parser of RTC event logs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from weir_cli.errors import InputError
from weir_cli.files.input import open_file, printable
from weir_logs.event_logs.packet_file import PCAPNG
from weir_sim.executables import find_event_log

LONGEST_READING_S = 300
# The first bytes: the field begin_log_events of a log, or stream of a log from before 2019.
_BEGIN_LOG = b"\x82\x01"
_LEGACY = b"\x0a"
_FIRST_BYTES = 4096


def is_event_log(path: Path) -> bool:
    """True for a file that begins like an RTC event log; False also for pipes and unreadable files."""
    try:
        with open_file(path) as file:
            start = file.read(_FIRST_BYTES)
    except OSError:
        return False
    return start.startswith(_BEGIN_LOG) or (
        start.startswith(_LEGACY) and not start.startswith(PCAPNG) and (b"\0" in start or not start.isascii())
    )


def event_log_lines(path: Path) -> bytes:
    """The events of a log as JSON lines; their types are in logs/event_log/README.md.

    Raises:
        InputError: it is not an event log, is damaged from its first event on, or is too large.
        MissingComponent: weir-event-log is not installed.
    """
    program = find_event_log()
    try:
        done = subprocess.run([program, path], capture_output=True, timeout=LONGEST_READING_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{printable(path)}: takes over {LONGEST_READING_S} s to read; save a shorter log") from None
    if done.returncode:
        message = printable(done.stderr.decode(errors="replace").strip().removeprefix("weir-event-log: "))
        # There is no message if a signal or one of libwebrtc's checks ended it.
        raise InputError(message if done.returncode > 0 and message else f"{printable(path)}: a damaged RTC event log")
    return done.stdout
