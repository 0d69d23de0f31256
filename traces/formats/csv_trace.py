"""CSV traces: a header ``time_s,rate_bps`` (or ``time_ms``, ``rate_kbps``, ``rate_mbps``), then a row per change.

A last row with an empty rate marks the end; without it, the last rate holds for the median step. One single row holds
for ever. Empty lines and lines that begin with ``#`` are skipped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from weir.errors import InputError
from weir.traces.formats import ImportedTrace
from weir.traces.formats.validation import Finding, Samples, check
from weir.traces.schema.capacity import CapacityTrace


def read_csv(text: str, source: str) -> ImportedTrace:
    """A CSV trace; see the module's description of the format.

    Raises:
        InputError: header or a row is wrong; the message names the line.
    """
    rows = _rows(text, source)
    header: list[str] | None = None
    times: list[float] = []
    rates: list[float] = []
    positions: list[str] = []
    findings: list[Finding] = []
    end: float | None = None
    time_unit = rate_unit = 1.0
    for number, row in rows:
        if not row or row[0].lstrip().startswith("#") or not any(cell.strip() for cell in row):
            continue
        if header is None:
            header = [cell.strip().lower() for cell in row]
            time_units = {"time_s": 1.0, "time_ms": 1e-3}
            rate_units = {"rate_bps": 1.0, "rate_kbps": 1e3, "rate_mbps": 1e6}
            if len(header) != 2 or header[0] not in time_units or header[1] not in rate_units:
                raise InputError(f"{source}: line {number}: the first line must be the header time_s,rate_bps; add it")
            time_unit, rate_unit = time_units[header[0]], rate_units[header[1]]
            continue
        if len(row) != 2:
            raise InputError(f"{source}: line {number}: {len(row)} fields; each row has a time and a rate")
        if end is not None:
            raise InputError(f"{source}: line {number}: only the last row may have no rate; fill in the one above")
        time = _csv_number(row[0], header[0], source, number) * time_unit
        if times and time <= times[-1]:
            text_ = f"{time:g} s is not later than {times[-1]:g} s"
            findings.append(
                Finding("non_monotone_time", "error", source, f"line {number}", text_, "the entry is dropped")
            )
            continue
        if not row[1].strip():
            end = time
            continue
        times.append(time)
        rates.append(_csv_number(row[1], header[1], source, number) * rate_unit)
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
        if time_unit == 1.0 and median >= 20:
            text_ = f"the usual step is {median:g} s; if the times are milliseconds, name the column time_ms"
            findings.append(Finding("time_unit", "warning", source, positions[0], text_))
    period = None
    if end is not None:
        period = end - times[0]
    elif median is not None:
        period = float(start[-1]) + median
    last = period - start[-1] if period is not None else 1.0
    samples = Samples(
        source, positions, np.append(steps, last), np.array(rates), rate_unit_bps=rate_unit, regular_s=regular
    )
    found, repaired = check(samples)
    return ImportedTrace(source, "csv", CapacityTrace(start, repaired.rates_bps, period), findings + found)


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
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{source}: line {reader.line_num}: no CSV ({error}); fix the line") from None


def _csv_number(cell: str, column: str, source: str, line: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"{source}: line {line}: {column} is {cell.strip()[:40]!r}; it must be a finite number")
    return value
