"""Converts rows of times and rates to a trace, based on their order, steps and units and how long each rate holds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats import ImportedTrace, TraceFormat
from weir_traces.formats.reading import RateHolds, Reading
from weir_traces.formats.tables.amounts import are_packets, in_windows, since_row_before
from weir_traces.formats.tables.holding import check_no_stalls, side_of_rates
from weir_traces.formats.units import RateUnit
from weir_traces.formats.validation import Finding, Samples, check
from weir_traces.schema.capacity import MAX_RATE_BPS, CapacityTrace


@dataclass
class RateRows:
    """Rows of a table, in order.

    Args:
        times_s: [n], s, relative to the first row.
        numbers: [n], in ``unit``; ``positions`` locate them in messages.
        described: columns and units, for people.
        first_s: time of the first row on the file's clock; None for dates.
        end_s: end of the last rate, if the file has it.
        holds: the side of a row on which its rate holds, if the format defines it.
        usual_bps: a median above it is doubtful.
        averages: rows of equal times are merged to their mean. Amounts are always merged, to their sum.
    """

    source: str
    format: TraceFormat
    times_s: NDArray[np.float64]
    numbers: NDArray[np.float64]
    unit: RateUnit
    positions: list[str]
    described: str
    first_s: float | None = 0.0
    end_s: float | None = None
    holds: RateHolds | None = None
    usual_bps: float = MAX_RATE_BPS
    averages: bool = False
    findings: list[Finding] = field(default_factory=list)


def trace_of_steps(rows: RateRows, step_s: float) -> ImportedTrace:
    """The trace of rows that each last ``step_s``."""
    # Round to a nanosecond to remove the error of binary fractions.
    edges = np.round(np.arange(rows.numbers.size + 1) * step_s, 9)
    return _between(rows, edges, f"{rows.described}, a row for {step_s:g} s")


def trace_of_durations(rows: RateRows, durations_s: NDArray[np.float64]) -> ImportedTrace:
    """The trace of rows with durations. Raises InputError if one is 0 s or less, or if they look like times."""
    if durations_s.size > 2 and np.all(np.diff(durations_s) > 0):
        raise InputError(f"{rows.source}: the durations rise throughout, as times do; if they are, rename the column")
    if (none := np.flatnonzero(durations_s <= 0)).size:
        raise InputError(f"{rows.source}: {rows.positions[none[0]]}: it lasts 0 s or less; fix or delete the row")
    return _between(rows, np.append(0.0, np.round(np.cumsum(durations_s), 9)), rows.described)


def _between(rows: RateRows, edges_s: NDArray[np.float64], described: str) -> ImportedTrace:
    """The trace of rows that last from edge to edge."""
    _take_differences(rows)
    if rows.unit.is_total:
        rows.numbers, rows.positions = rows.numbers[1:], rows.positions[1:]
        edges_s = np.round(edges_s[1:] - edges_s[1], 9)
    if not rows.numbers.size:
        raise InputError(f"{rows.source}: one row of a counter alone has no bytes of a step; give at least two")
    rates = rows.numbers * rows.unit.bps / (np.diff(edges_s) if rows.unit.is_amount else 1.0)
    return _checked(rows, rates, edges_s, described, None)


def trace_of_rows(rows: RateRows, reading: Reading) -> ImportedTrace:
    """The trace of rows with times.

    Raises:
        InputError: the side on which rates hold is ambiguous, or the only row has no time before it.
    """
    _take_differences(rows)
    _put_in_order(rows)
    times, numbers, unit = rows.times_s, rows.numbers, rows.unit
    steps = np.diff(times)
    median = float(np.median(steps)) if steps.size else None
    holds, shown = rows.holds, False
    if unit.is_amount:
        holds = "before"
    elif reading.rate_holds is not None:
        holds = reading.rate_holds
    elif holds is None:
        side = side_of_rates(times, numbers * unit.bps, rows.source, rows.positions)
        holds, shown = side.holds, side.shown
        if side.warning:
            rows.findings.append(Finding("uneven", "warning", rows.source, rows.positions[0], side.warning))
    elif rows.end_s is None:
        check_no_stalls(times, numbers * unit.bps, rows.source, rows.positions)
    described = f"{rows.described}, each rate {'since the row before' if holds == 'before' else 'until the next row'}"
    if holds == "before":
        return _held_before(rows, median, described)
    _find_shift(rows, rows.first_s or 0.0)
    regular = None
    stated = shown or reading.rate_holds is not None
    if not stated and median is not None and steps.size >= 10 and np.quantile(steps, 0.9) <= 1.5 * median:
        regular = median
    period = rows.end_s if rows.end_s is not None else None if median is None else float(times[-1]) + median
    edges = np.append(times, period if period is not None else times[-1] + 1.0)
    return _checked(rows, numbers * unit.bps, edges, described, regular, endless=period is None)


def _held_before(rows: RateRows, median: float | None, described: str) -> ImportedTrace:
    if median is None:
        raise InputError(f"{rows.source}: one row alone has no time before it; give at least two")
    times, first_s = rows.times_s, rows.first_s
    if rows.unit.is_amount and are_packets(times):
        edges, rates, first_rows = in_windows(times, rows.numbers * rows.unit.bps)
        rows.positions = [rows.positions[index] for index in first_rows]
        return _checked(rows, rates, edges, f"{described}, in windows of {DEFAULT_WINDOW_MS} ms", None)
    # If the log's clock starts near 0, the first time is the duration of the first row (dropped at 0); otherwise the
    # first row lasts a median step.
    first = first_s if first_s is not None and 0 <= first_s <= 2 * median else median
    first = 0.0 if rows.unit.is_total else first
    _find_shift(rows, 0.0 if first_s is None else first_s - first)
    edges = np.append(-first, times) if first > 0 else times
    numbers = rows.numbers if first > 0 else rows.numbers[1:]
    rows.positions = rows.positions if first > 0 else rows.positions[1:]
    rates = numbers * rows.unit.bps / (np.diff(edges) if rows.unit.is_amount else 1.0)
    return _checked(rows, rates, edges - edges[0], described, None)


def _take_differences(rows: RateRows) -> None:
    rows.numbers, warning = since_row_before(rows.numbers, rows.unit)
    if warning:
        rows.findings.append(Finding("counter", "warning", rows.source, rows.positions[0], warning))


def _find_shift(rows: RateRows, start_s: float) -> None:
    if start_s != 0:
        text = f"the first time is {start_s:g} s; all times are shifted so that it becomes 0"
        rows.findings.append(Finding("shifted", "warning", rows.source, rows.positions[0], text))


def _checked(
    rows: RateRows,
    rates_bps: NDArray[np.float64],
    edges_s: NDArray[np.float64],
    described: str,
    regular_s: float | None,
    endless: bool = False,
) -> ImportedTrace:
    samples = Samples(
        rows.source,
        rows.positions,
        np.diff(edges_s),
        rates_bps,
        rows.usual_bps,
        rate_unit_bps=None if rows.unit.is_amount else rows.unit.bps,
        regular_s=regular_s,
    )
    found, repaired = check(samples)
    trace = CapacityTrace(edges_s[:-1], repaired.rates_bps, None if endless else float(edges_s[-1]))
    return ImportedTrace(rows.source, rows.format, trace, rows.findings + found, understood=described)


def _put_in_order(rows: RateRows) -> None:
    """Reverses rows that run from newest to oldest, merges rows of equal times if the format allows it, and drops other
    rows whose time is not later; adds a finding for each case.
    """
    steps = np.diff(rows.times_s)
    if steps.size > 1 and rows.end_s is None and np.all(steps <= 0) and np.any(steps < 0):
        text = "the rows run from the newest to the oldest"
        rows.findings.append(Finding("unsorted", "warning", rows.source, rows.positions[1], text, "sorted by time"))
        first_s = float(rows.times_s[-1])
        rows.times_s, rows.numbers = rows.times_s[::-1] - first_s, rows.numbers[::-1]
        rows.positions = rows.positions[::-1]
        rows.first_s = None if rows.first_s is None else rows.first_s + first_s
        steps = np.diff(rows.times_s)
    if np.all(steps > 0):
        return
    keep = [0]
    merged = rows.numbers.copy()
    counts = np.ones(merged.size)
    same: list[int] = []
    for index in range(1, rows.times_s.size):
        step = rows.times_s[index] - rows.times_s[keep[-1]]
        if step > 0:
            keep.append(index)
        elif step == 0 and (rows.averages or rows.unit.is_amount):
            merged[keep[-1]] += merged[index]
            counts[keep[-1]] += 0 if rows.unit.is_amount else 1
            same.append(index)
        else:
            now, last = (rows.times_s[each] + (rows.first_s or 0.0) for each in (index, keep[-1]))
            text = f"{now:g} s is not later than {last:g} s"
            position = rows.positions[index]
            rows.findings.append(
                Finding("non_monotone_time", "error", rows.source, position, text, "the entry is dropped")
            )
    if same:
        how = "bytes are added" if rows.unit.is_amount else "rates are averaged"
        text = f"{len(same)} rows have the time of the row before; their {how}"
        rows.findings.append(Finding("same_time", "warning", rows.source, rows.positions[same[0]], text))
    if len(keep) < rows.times_s.size:
        rows.times_s, rows.numbers = rows.times_s[keep], (merged / counts)[keep]
        rows.positions = [rows.positions[index] for index in keep]
