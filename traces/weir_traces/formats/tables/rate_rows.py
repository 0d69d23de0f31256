"""Converts rows of times and rates to a trace, based on their order, steps and units and how long each rate holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats import ImportedTrace
from weir_traces.formats.reading import Reading
from weir_traces.formats.tables.amounts import are_packets, in_windows, since_row_before
from weir_traces.formats.tables.empty_bins import grid_step
from weir_traces.formats.tables.row_order import put_in_order
from weir_traces.formats.tables.row_side import regular_step, side_of_rows
from weir_traces.formats.tables.rows import RateRows
from weir_traces.formats.tables.write_bursts import refuse_bursts
from weir_traces.formats.validation import Finding, Samples, check
from weir_traces.schema.capacity import CapacityTrace


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
        InputError: the times are those of writing, the side on which rates hold is ambiguous, or the only row has no
            time before it.
    """
    if reading.rate_holds is None and (not rows.unit.is_amount or rows.unit.is_total):
        refuse_bursts(rows.times_s, is_coarse=rows.averages, source=rows.source, positions=rows.positions)
    _take_differences(rows)
    put_in_order(rows)
    times, numbers, unit = rows.times_s, rows.numbers, rows.unit
    steps = np.diff(times)
    median = rows.usual_step_s or (float(np.median(steps)) if steps.size else None)
    side = side_of_rows(rows, reading)
    if side.holds == "step":
        return _held_for_steps(rows, grid_step(times) or median)
    if side.holds == "before":
        return _held_before(rows, median, f"{rows.described}, each rate since the row before")
    if rows.end_s is not None and rows.end_s <= times[-1]:
        raise InputError(f"{rows.source}: the last row, which ends the trace, is not later than {rows.positions[-1]}")
    _find_shift(rows, rows.first_s or 0.0)
    regular = None if side.shown else regular_step(times)
    period = rows.end_s if rows.end_s is not None else None if median is None else float(times[-1]) + median
    edges = np.append(times, period if period is not None else times[-1] + 1.0)
    described = f"{rows.described}, each rate until the next row"
    return _checked(rows, numbers * unit.bps, edges, described, regular, endless=period is None)


def _held_for_steps(rows: RateRows, step_s: float | None) -> ImportedTrace:
    """The trace of rows that each last a step, with no capacity in the rest of the time."""
    if step_s is None:
        raise InputError(f"{rows.source}: one row alone shows no step; give at least two, or --step SECONDS")
    times, first_s = rows.times_s, rows.first_s or 0.0
    # Times near 0 are those of the ends of bins.
    _find_shift(rows, 0.0 if abs(first_s - step_s) < step_s / 2 else first_s)
    ends = np.append(times[1:], times[-1] + step_s)
    is_hole = ends - times > 1.5 * step_s
    rates = rows.numbers * rows.unit.bps / (step_s if rows.unit.is_amount else 1.0)
    place = np.flatnonzero(is_hole) + 1
    edges = np.insert(np.append(times, ends[-1]), place, times[is_hole] + step_s)
    rows.positions = np.repeat(rows.positions, 1 + is_hole).tolist()
    described = f"{rows.described}, each rate for {step_s:.6g} s, and no capacity without a row"
    return _checked(rows, np.insert(rates, place, 0.0), np.round(edges, 9), described, None)


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
