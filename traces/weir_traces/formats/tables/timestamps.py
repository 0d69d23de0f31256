"""Times in the cells of tables: numbers in a unit, times since 1970, dates and times of day."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.formats.tables.clock_digits import spelled_out
from weir_traces.formats.tables.written_dates import as_iso, is_written_date
from weir_traces.formats.units import time_name

# ISO 8601, also with the separators of loggers: 2018.01.18_14.22.33, 2023-04-10 12:00:05 CDT.
_DATE = re.compile(
    r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})[T _](\d{1,2})[:.](\d{2})[:.](\d{2})([.,]\d{1,9})?"
    r"\s*(?:Z|[A-Z]{3,4}|([+-]\d{2}):?(\d{2}))?"
)
# 20240229120005 (a number instead if a unit is stated), 20240229_120005, 20240229T120005Z.
_COMPACT_DATE = re.compile(r"(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[T_-]?([01]\d|2[0-3])([0-5]\d)([0-5]\d)Z?")
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d{2}):(\d{2})([.,]\d{1,9})?")
# Lower and upper bound of times since 1970 for the years 2001 to 2100 in each unit, and the unit in s.
_EPOCHS = ((1e18, 4.1e18, 1e-9), (1e15, 4.1e15, 1e-6), (1e12, 4.1e12, 1e-3), (1e9, 4.1e9, 1.0))
# Whole numbers with steps up to the first are hardly milliseconds; numbers with steps above the second, hardly seconds.
LARGEST_WHOLE_STEP = 5.0
LARGEST_STEP = 20.0
# Numbers with smaller steps are hardly seconds: spreadsheets count days.
_SMALLEST_STEP = 1e-3
LARGEST_NUMBER = 1e20
_DAY_S = 86_400.0


@dataclass(frozen=True)
class Times:
    """``seconds`` [n], relative to the first row; ``described`` is the unit in the file, for people.

    ``first_s`` is the first time on the file's clock, None for dates and times since 1970. ``is_coarse``: these are in
    whole seconds. ``warning``: why the unit is doubtful; empty if it is plausible.
    """

    seconds: NDArray[np.float64]
    first_s: float | None
    described: str
    is_coarse: bool = False
    warning: str = ""


def is_number(cell: str) -> bool:
    """True for a finite number, but not with underscores, which loggers write in times."""
    if "_" in cell:
        return False
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False


def is_timestamp(cell: str) -> bool:
    """True for a date with a time, or a time of day."""
    text = cell.strip()
    return any(pattern.fullmatch(text) for pattern in (_DATE, _COMPACT_DATE, _TIME_OF_DAY)) or is_written_date(text)


def read_times(cells: list[str], unit_s: float | None, name: str, source: str, lines: list[int]) -> Times:
    """The times of a column.

    Args:
        cells: at least one, of the rows at ``lines``.
        unit_s: the unit of numbers in seconds; None if it is not stated.
        name: the name of the column.
        source: the file.
        lines: line numbers, for messages.

    Raises:
        InputError: a cell is not a time, or the unit is ambiguous.
    """
    cells = as_iso(cells, name, source)
    if unit_s is None:
        cells = spelled_out(cells, name, source)
    if is_timestamp(cells[0]) and (unit_s is None or not is_number(cells[0])):
        seconds = np.array([_timestamp(cell, name, source, line) for cell, line in zip(cells, lines, strict=True)])
        if _TIME_OF_DAY.fullmatch(cells[0].strip()):
            # At midnight, times of day go back by nearly a day.
            seconds[1:] += np.cumsum(np.diff(seconds) < -_DAY_S / 2) * _DAY_S
        return Times(seconds - seconds[0], None, "as dates", are_whole(seconds))
    if not is_number(cells[0]):
        raise InputError(
            f"{source}: line {lines[0]}: {name} is {cells[0].strip()[:40]!r}; it must be a number, or a date such as "
            "2024-02-29 12:00:05"
        )
    numbers = read_numbers(cells, name, source, lines)
    epoch_s = epoch_unit(float(numbers[0])) if unit_s is None else None
    if epoch_s is not None:
        seconds = (numbers - numbers[0]) * epoch_s
        step, warning = usual_step(seconds), ""
        if step >= LARGEST_STEP:
            warning = f"the usual step is {step:g} s; if the times do not count from 1970, state their unit: --unit ms"
        if step > _DAY_S:
            raise InputError(f"{source}: {name} is hardly {time_name(epoch_s)} since 1970: {warning}, us or ns")
        return Times(seconds, None, f"in {time_name(epoch_s)} since 1970", are_whole(seconds), warning)
    step = usual_step(numbers)
    unit_s = _inferred(numbers, name, source) if unit_s is None else unit_s
    warning = ""
    if unit_s == 1.0 and step >= LARGEST_STEP:
        warning = f"the usual step is {step:g} s; if the times are milliseconds, name the column time_ms"
    if unit_s == 1e-3 and 0 < step <= LARGEST_WHOLE_STEP and are_whole(numbers):
        warning = f"the usual step is {step:g} ms; if the times are seconds, name the column time_s"
    return Times((numbers - numbers[0]) * unit_s, float(numbers[0]) * unit_s, f"in {time_name(unit_s)}", False, warning)


def read_number(cell: str, name: str, source: str, line: int) -> float:
    """The finite number in a cell. Raises InputError for other text, and for a number above LARGEST_NUMBER."""
    value = float(cell) if is_number(cell) else np.nan
    if not abs(value) <= LARGEST_NUMBER:
        how = ", with a decimal point and without separators of thousands" if "," in cell else ""
        if is_number(cell):
            how = f" of at most {LARGEST_NUMBER:g}"
        raise InputError(
            f"{source}: line {line}: {name} is {cell.strip()[:40]!r}; it must be a finite number{how}; fix or delete "
            "the row"
        )
    return value


def read_numbers(cells: list[str], name: str, source: str, lines: list[int]) -> NDArray[np.float64]:
    """`read_number` for a column, [n]; its cells are in the rows at ``lines``."""
    return np.array([read_number(cell, name, source, line) for cell, line in zip(cells, lines, strict=True)])


def usual_step(times: NDArray[np.float64]) -> float:
    """The median step; 0 for a single time."""
    return float(np.median(np.diff(times))) if times.size > 1 else 0.0


def are_whole(numbers: NDArray[np.float64]) -> bool:
    """True for numbers without fractions."""
    return bool(np.all(numbers == np.rint(numbers)))


def epoch_unit(number: float) -> float | None:
    """The unit, in seconds, of a number that is plausible as a time since 1970; else None."""
    return next((unit_s for low, high, unit_s in _EPOCHS if low <= number <= high), None)


def _inferred(numbers: NDArray[np.float64], name: str, source: str) -> float:
    """The unit of numbers, s, inferred from their steps."""
    step = usual_step(numbers)
    if _SMALLEST_STEP <= step <= (LARGEST_WHOLE_STEP if are_whole(numbers) else LARGEST_STEP):
        return 1.0
    other = ""
    if 0 < step < _SMALLEST_STEP:
        other = "  days, as spreadsheets count: multiply them by 86400\n"
    elif step >= 1e3:
        other = "  microseconds: add --unit us\n" + ("  nanoseconds: add --unit ns\n" if step >= 1e6 else "")
    raise InputError(
        f"{source}: the column {name!r} has no unit, and its usual step is {step:g}; the times are\n"
        f"  seconds: add --unit s\n{other}  milliseconds: add --unit ms"
    )


def _timestamp(cell: str, name: str, source: str, line: int) -> float:
    text = cell.strip()
    try:
        if found := _COMPACT_DATE.fullmatch(text):
            year, month, day, hour, minute, second = map(int, found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
        if found := _DATE.fullmatch(text):
            year, month, day, hour, minute, second = map(int, found.groups()[:6])
            when = datetime(year, month, day, tzinfo=UTC) + timedelta(hours=hour, minutes=minute, seconds=second)
            offset_s = int(f"{found[8]}") * 3600 + int(f"{found[8][0]}{found[9]}") * 60 if found[8] else 0
            return when.timestamp() - offset_s + _fraction(found[7])
        if found := _TIME_OF_DAY.fullmatch(text):
            return int(found[1]) * 3600.0 + int(found[2]) * 60 + int(found[3]) + _fraction(found[4])
    except (ValueError, OverflowError):
        pass
    raise InputError(
        f"{source}: line {line}: {name} is {text[:40]!r}; it must be a date with a time, as in the rows before"
    )


def _fraction(text: str | None) -> float:
    return float("0." + text[1:]) if text else 0.0
