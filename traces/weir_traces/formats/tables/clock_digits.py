"""Times of day written as digits, HHMMSS: 134659 is followed by 134700.

As numbers they jump by 41 at each minute. A column is detected as such if all cells are valid times of day, at most
half of the steps cross a minute, and these are uneven as numbers but even as times of day. If steps are uneven either
way, the user has to choose. Cells within one minute give the same trace either way, and remain numbers.
"""

from __future__ import annotations

import re

import numpy as np

from weir_cli.errors import InputError

_DIGITS = re.compile(r"\s*(\d{1,6})(\.\d{1,9})?\s*")
_EVEN = 1.5
_DAY_S = 86_400.0


def spelled_out(cells: list[str], name: str, source: str) -> list[str]:
    """The cells of a column without a unit, as HH:MM:SS if they are times of day in digits; otherwise unchanged.

    Raises:
        InputError: the steps do not show whether they are numbers or times of day; the message has both readings.
    """
    if not _as_clock(cells[0]) or not _as_clock(cells[-1]):
        return cells
    clock = [_as_clock(cell) for cell in cells]
    if not all(clock) or len(cells) < 3:
        return cells
    numbers = np.array(cells, dtype=np.float64)
    whole, fraction = np.divmod(numbers, 1)
    seconds = whole // 10_000 * 3600 + whole // 100 % 100 * 60 + whole % 100 + fraction
    as_numbers, as_clock = np.abs(np.diff(numbers)), np.abs(np.diff(seconds))
    as_clock = np.minimum(as_clock, _DAY_S - as_clock)
    between = np.abs(as_numbers - as_clock) > 1
    if not 0 < between.mean() <= 0.5 or as_numbers.max() <= _EVEN * np.median(as_numbers):
        return cells
    if as_clock[between].max() <= _EVEN * np.median(as_clock):
        return clock
    raise InputError(
        f"{source}: {name} is in seconds, or in digits of the time of day (HHMMSS), and its steps are uneven both "
        "ways; it has\n  seconds: add --unit s\n  times of day: write them with colons, as 13:46:59"
    )


def _as_clock(cell: str) -> str:
    """A cell as HH:MM:SS; empty if it is not a time of day in digits."""
    found = _DIGITS.fullmatch(cell)
    digits = found[1].zfill(6) if found else "990000"
    if found and digits[:2] < "24" and digits[2:4] < "60" and digits[4:] < "60":
        return f"{digits[:2]}:{digits[2:4]}:{digits[4:]}{found[2] or ''}"
    return ""
