"""The command line of a result, for readers."""

from __future__ import annotations

import shlex
import sys
import time
from datetime import UTC, datetime

from typing_extensions import TypedDict  # pydantic does not accept that of typing before Python 3.12

from weir_cli.files.input import printable


class CommandRecord(TypedDict):
    """The command line, the time at which its results were complete, and the seconds until then, without the page."""

    command: str
    finished: str
    wall_s: float


def command_text() -> str:
    """The command line of the running command."""
    return printable(shlex.join(["weir", *sys.argv[1:]]))


def command_record(started_s: float) -> CommandRecord:
    """The record of the running command at this time; `started_s` is its start by `time.monotonic`."""
    return {
        "command": command_text(),
        "finished": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "wall_s": round(time.monotonic() - started_s, 1),
    }
