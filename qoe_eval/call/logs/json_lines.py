"""Reads logs of JSON lines that a killed process may have left torn: each line is bounded and checked by itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weir.errors import InputError

LONGEST_LINE = 4 << 20
MOST_LINES = 2_000_000
_LARGEST_NUMBER = 1e18


def read_objects(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file, in order; lines that are no object (a torn last one) are passed over. Nothing where there
    is no file.

    Raises:
        InputError: the file cannot be read, or is larger than any call's.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    with file:
        for number in range(MOST_LINES + 1):
            line = file.readline(LONGEST_LINE + 1)
            if not line:
                return
            if number == MOST_LINES or len(line) > LONGEST_LINE:
                raise InputError(f"{path}: line {number + 1} is too much; no call leaves so large a log")
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


def number(value: Any, lowest: float = -_LARGEST_NUMBER, highest: float = _LARGEST_NUMBER) -> float | None:
    """A finite number within bounds as it is; nothing for anything else (booleans too)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if lowest <= value <= highest and math.isfinite(value) else None
    except OverflowError:
        return None


def integer(value: Any, lowest: int = 0, highest: int = 1 << 62) -> int | None:
    """A whole number within bounds; nothing for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest else None
