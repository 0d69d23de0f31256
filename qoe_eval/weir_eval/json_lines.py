"""Logs of JSON lines. A killed process may leave a truncated last line, so each line is checked separately."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from weir_cli.errors import InputError
from weir_cli.files.input import open_file, printable, why
from weir_cli.files.output import opened

LONGEST_LINE = 4 << 20
MOST_LINES = 2_000_000
LARGEST_NUMBER = 1e18


class JsonLinesWriter:
    """Writes each object immediately, so that a crash of this process loses none."""

    def __init__(self, path: Path) -> None:
        """Raises InputError if the file cannot be written."""
        self._file: IO[str] = io.TextIOWrapper(io.BufferedWriter(opened(path)), encoding="utf-8", line_buffering=True)

    def write(self, value: dict[str, Any]) -> None:
        """Writes one line."""
        self._file.write(json.dumps(value, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def read_objects(path: Path, most_lines: int = MOST_LINES) -> Iterator[dict[str, Any]]:
    """Yields the objects in a file; skips lines that are not objects. A missing file yields nothing.

    Raises:
        InputError: the file cannot be read, or has over `most_lines` lines or one over LONGEST_LINE bytes.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read ({why(error)})") from None
    with file:
        for number in range(most_lines + 1):
            try:
                line = file.readline(LONGEST_LINE + 1)
            except OSError as error:
                raise InputError(f"{printable(path)}: cannot be read ({why(error)})") from None
            if not line:
                return
            if number == most_lines or len(line) > LONGEST_LINE:
                raise InputError(f"{printable(path)}: line {number + 1} is over the limit; no call writes such a log")
            if (value := parse_object(line)) is not None:
                yield value


def parse_object(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None if there is none, for example in a truncated line."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def number(value: Any, lowest: float = -LARGEST_NUMBER, highest: float = LARGEST_NUMBER) -> float | None:
    """Returns a finite number within bounds unchanged, and None for anything else, including booleans."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if lowest <= value <= highest and math.isfinite(value) else None
    except OverflowError:
        return None


def integer(value: Any, highest: int = 1 << 62) -> int | None:
    """Returns an integer from 0 to `highest`, and None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest else None
