"""What a summary says of the command that made it, under `run`."""

from __future__ import annotations

import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.input import parse_json, printable, read_text


def command_record(started_s: float) -> dict[str, Any]:
    """`command` as it was given, when it `finished` (now), and `wall_s`, the seconds since `started_s` of
    `time.monotonic`; the command's own entries come behind them.
    """
    return {
        "command": printable(shlex.join(["weir", *sys.argv[1:]])),
        "finished": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "wall_s": round(time.monotonic() - started_s, 1),
    }


def read_run(summary: Path) -> dict[str, Any]:
    """`run` of a summary that was written before; empty where there is none that can be read."""
    try:
        run = parse_json(read_text(summary), str(summary))["run"]
    except (InputError, KeyError, TypeError):
        return {}
    return run if isinstance(run, dict) else {}
