"""What a summary says of the command that made it, under `run`."""

from __future__ import annotations

import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from pydantic import ValidationError

from weir.errors import InputError
from weir.files.input import parse_json, printable, read_text
from weir.qoe_eval.records import RunAbout


class CommandRecord(TypedDict):
    """The command line, when it ended, and the seconds that it took."""

    command: str
    finished: str
    wall_s: float


def command_record(started_s: float) -> CommandRecord:
    """The command that runs, now; `started_s` is its start by `time.monotonic`."""
    return {
        "command": printable(shlex.join(["weir", *sys.argv[1:]])),
        "finished": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "wall_s": round(time.monotonic() - started_s, 1),
    }


def read_run(summary: Path) -> RunAbout:
    """`run` of an earlier summary; empty where there is none that can be read."""
    try:
        return RunAbout.model_validate(parse_json(read_text(summary), str(summary))["run"])
    except (InputError, KeyError, TypeError, ValidationError):
        return RunAbout()
