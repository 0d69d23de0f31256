"""CSV traces: a header ``time_s,rate_bps`` (or ``time_ms``, ``rate_kbps``, ``rate_mbps``), then a row per change.

Other columns are ignored, so that a session of Puffer's ``video_sent`` is read as it comes: ``time (ns GMT)`` and
``delivery_rate``, bytes a second, of one ``session_id``. A last row with an empty rate marks the end; without it, the
last rate holds for the median step. One single row holds for ever. Empty lines and lines that begin with ``#`` are
skipped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weir.errors import InputError
from weir.traces.formats import ImportedTrace, TraceFormat
from weir.traces.formats.validation import UNNAMED_USUAL_BPS, Finding, Samples, check
from weir.traces.schema.capacity import MAX_RATE_BPS, CapacityTrace

# By the names of columns: seconds, and bit/s.
_TIME_UNITS = {"time_s": 1.0, "time_ms": 1e-3, "time (ns gmt)": 1e-9}
_RATE_UNITS = {"rate_bps": 1.0, "rate_kbps": 1e3, "rate_mbps": 1e6, "delivery_rate": 8.0}
_ONE_OF = "session_id"


def read_csv(text: str, source: str) -> ImportedTrace:
    """A CSV trace; see the module's description of the format.

    Raises:
        InputError: header or a row is wrong; the message names the line.
    """
    rows = _rows(text, source)
    number, header = next(rows, (1, []))
    names = [cell.strip().lower() for cell in header]
    times = [index for index, name in enumerate(names) if name in _TIME_UNITS]
    rates = [index for index, name in enumerate(names) if name in _RATE_UNITS]
    if len(times) != 1 or len(rates) != 1:
        shown = ",".join(names)[:60]
        raise InputError(
            f"{source}: line {number}: the header is {shown!r}; name one time ({', '.join(_TIME_UNITS)}) and "
            f"one rate ({', '.join(_RATE_UNITS)}), as in time_s,rate_bps"
        )
    columns = _Columns(len(names), times[0], rates[0], names[times[0]], names[rates[0]])
    return _read_rows(rows, source, "csv", columns, names.index(_ONE_OF) if _ONE_OF in names else None)


def read_columns(text: str, source: str) -> ImportedTrace:
    """Two columns without a header, seconds and Mbps, apart by blanks or tabs: the form in which the traces of FCC,
    HSDPA, Oboe and Puffer are passed on since Pensieve.

    Raises:
        InputError: a row is wrong; the message names the line.
    """
    lines = enumerate(text.splitlines(), start=1)
    rows = ((number, line.split()) for number, line in lines if not _is_empty([line]))
    return _read_rows(rows, source, "columns", _Columns(2, 0, 1, "time_s", "rate_mbps"))


@dataclass(frozen=True)
class _Columns:
    """How many there are, and where and what time and rate are."""

    count: int
    time: int
    rate: int
    time_name: str
    rate_name: str


def _read_rows(
    rows: Iterator[tuple[int, list[str]]], source: str, kind: TraceFormat, columns: _Columns, one: int | None = None
) -> ImportedTrace:
    """The rows after the header; the column `one` has the same value in all."""
    times: list[float] = []
    rates: list[float] = []
    positions: list[str] = []
    findings: list[Finding] = []
    end: float | None = None
    seen: set[str] = set()
    time_unit, rate_unit = _TIME_UNITS[columns.time_name], _RATE_UNITS[columns.rate_name]
    for number, row in rows:
        if len(row) != columns.count:
            raise InputError(f"{source}: line {number}: {len(row)} fields; each row has {columns.count}")
        seen |= set() if one is None else {row[one]}
        if len(seen) > 1:
            raise InputError(f"{source}: line {number}: another {_ONE_OF} begins; keep the rows of one in a file")
        if end is not None:
            raise InputError(f"{source}: line {number}: only the last row may have no rate; fill in the one above")
        time = _csv_number(row[columns.time], columns.time_name, source, number) * time_unit
        if times and time <= times[-1]:
            text_ = f"{time:g} s is not later than {times[-1]:g} s"
            findings.append(
                Finding("non_monotone_time", "error", source, f"line {number}", text_, "the entry is dropped")
            )
            continue
        if not row[columns.rate].strip():
            end = time
            continue
        times.append(time)
        rates.append(_csv_number(row[columns.rate], columns.rate_name, source, number) * rate_unit)
        positions.append(f"line {number}")
    if not times:
        raise InputError(f"{source}: no row of data; add at least one time and rate")
    if times[0] != 0:
        text_ = f"the first time is {times[0]:g} s; all times are shifted so that it becomes 0"
        findings.append(Finding("shifted", "warning", source, positions[0], text_))
    start = np.array(times) - times[0]
    steps = np.diff(start)
    regular = median = None
    if steps.size:
        median = float(np.median(steps))
        if steps.size >= 10 and np.quantile(steps, 0.9) <= 1.5 * median:
            regular = median
        if kind == "csv" and time_unit == 1.0 and median >= 20:
            text_ = f"the usual step is {median:g} s; if the times are milliseconds, name the column time_ms"
            findings.append(Finding("time_unit", "warning", source, positions[0], text_))
    period = None
    if end is not None:
        period = end - times[0]
    elif median is not None:
        period = float(start[-1]) + median
    last = period - start[-1] if period is not None else 1.0
    samples = Samples(
        source,
        positions,
        np.append(steps, last),
        np.array(rates),
        # Nothing in the file names the unit of a column.
        UNNAMED_USUAL_BPS if kind == "columns" else MAX_RATE_BPS,
        rate_unit_bps=rate_unit,
        regular_s=regular,
    )
    found, repaired = check(samples)
    return ImportedTrace(source, kind, CapacityTrace(start, repaired.rates_bps, period), findings + found)


def write_csv(trace: CapacityTrace) -> str:
    """Text of a CSV trace; reading it gives the same trace back, bit for bit."""
    rows = [f"{time!r},{rate!r}" for time, rate in zip(trace.times_s.tolist(), trace.rates_bps.tolist(), strict=True)]
    if trace.period_s is not None:
        rows.append(f"{trace.period_s!r},")
    return "\n".join(["time_s,rate_bps", *rows]) + "\n"


def _rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            if not _is_empty(row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{source}: line {reader.line_num}: no CSV ({error}); fix the line") from None


def _is_empty(row: list[str]) -> bool:
    return not any(cell.strip() for cell in row) or row[0].lstrip().startswith("#")


def _csv_number(cell: str, column: str, source: str, line: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"{source}: line {line}: {column} is {cell.strip()[:40]!r}; it must be a finite number")
    return value
