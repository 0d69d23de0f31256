"""Tables of numbers without a header: seconds and Mbps, milliseconds and kbps, or units that the user states.

Two conventions need no statement. Since Pensieve, the traces of FCC, HSDPA and Puffer circulate in seconds and Mbps;
Oboe's are in milliseconds and kbps. The usual (median) step distinguishes them. Numbers that are plausible in another
unit too are refused with all plausible readings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.reading import Reading
from weir_traces.formats.tables.clock_digits import spelled_out
from weir_traces.formats.tables.comments import units_in_comments
from weir_traces.formats.tables.rate_rows import RateRows, trace_of_rows, trace_of_steps
from weir_traces.formats.tables.table import Table
from weir_traces.formats.tables.timestamps import (
    are_whole,
    epoch_unit,
    is_timestamp,
    read_numbers,
    read_times,
    usual_step,
)
from weir_traces.formats.units import RateUnit, time_name
from weir_traces.formats.validation import SMALLEST_PLAUSIBLE_PEAK_BPS, UNNAMED_USUAL_BPS, Finding
from weir_traces.schema.capacity import MAX_RATE_BPS

# Times are in seconds if the usual step is below LONGEST_STEP_S (whole numbers: LONGEST_WHOLE_STEP_S), and in
# milliseconds from SHORTEST_STEP_MS on. Between these, either is likely.
LONGEST_STEP_S = 20.0
LONGEST_WHOLE_STEP_S = 10.0
SHORTEST_STEP_MS = 100.0
# Numbers in kbps that never reach this rate could as well be those of a 5G link in Mbps.
_LEAST_PEAK_BPS = 1e6
_UNITS = (RateUnit(1.0), RateUnit(1e3), RateUnit(1e6))
# The usual rate unit by the unit of times, s.
_USUAL = {1.0: RateUnit(1e6), 1e-3: RateUnit(1e3)}


def read_columns(table: Table, reading: Reading) -> ImportedTrace:
    """The trace of a table without a header.

    Raises:
        InputError: columns or units are ambiguous, or a row is invalid.
    """
    time, rate = _columns(table, reading)
    lines, (times, rates) = table.cells([rate if time is None else time, rate])
    name = table.name(rate)
    numbers = read_numbers(rates, name, table.source, lines)
    rows = RateRows(
        table.source, "columns", np.zeros(0), numbers, RateUnit(1.0), [f"line {line}" for line in lines], "",
    )  # fmt: skip
    if time is None or reading.step_s is not None:
        if reading.step_s is None or reading.rate_unit is None:
            raise InputError(f"{table.source}: rows without times need --step SECONDS and --unit UNIT")
        rows.unit, rows.described = reading.rate_unit, f"{name} in {reading.rate_unit}"
        return trace_of_steps(rows, reading.step_s)
    if reading.time_unit_s is None:
        times = spelled_out(times, table.name(time), table.source)
    time_unit_s, rows.unit = _units(table, times, numbers, lines, reading)
    found = read_times(times, time_unit_s, table.name(time), table.source, lines)
    rows.times_s, rows.first_s, rows.averages = found.seconds, found.first_s, found.is_coarse
    rows.described = f"time {found.described}, rate in {rows.unit}"
    if found.warning:
        rows.findings.append(Finding("time_unit", "warning", table.source, rows.positions[0], found.warning))
    if reading.rate_unit is None:
        rows.usual_bps = UNNAMED_USUAL_BPS
    return trace_of_rows(rows, reading)


def _columns(table: Table, reading: Reading) -> tuple[int | None, int]:
    """The columns of time and rate."""
    time = None if reading.time_column is None else table.column(reading.time_column, "--time-column")
    rate = None if reading.rate_column is None else table.column(reading.rate_column, "--rate-column")
    if reading.step_s is not None:
        time = None
    elif time is None and table.width == 2 and rate in (None, 1):
        time = 0
    if rate is None and table.width == 2 and time != 1:
        if reading.step_s is not None and all(cell.isdigit() for cell in table.first) and table.separator == ",":
            raise InputError(
                f"{table.source}: {','.join(table.first)} is a rate with a decimal comma, or two columns; write it "
                "with a point, or add --rate-column N"
            )
        rate = 1
    if rate is None or (time is None and reading.step_s is None):
        raise InputError(
            f"{table.source}: line {table.header_line}: {table.width} columns without a header; add --time-column N "
            f"(or --step SECONDS), --rate-column N and --unit s,Mbps or another. The first row: {table.shown_header()}"
        )
    return time, rate


def _units(
    table: Table, times: list[str], numbers: NDArray[np.float64], lines: list[int], reading: Reading
) -> tuple[float | None, RateUnit]:
    """The units of times (s; None: inferred from the cells) and rates. Raises InputError if they are ambiguous."""
    named = reading.time_column is not None or reading.rate_column is not None or is_timestamp(times[0])
    if reading.rate_unit is not None:
        return reading.time_unit_s or (None if named else _time_unit(table, times, lines, reading)), reading.rate_unit
    if named:
        raise InputError(f"{table.source}: the rates have no unit; add --unit UNIT, such as Mbps or s,kbps")
    time_unit_s = reading.time_unit_s or _time_unit(table, times, lines, reading)
    positive = numbers[numbers > 0]
    median = float(np.quantile(positive, 0.5, method="lower")) if positive.size else 0.0
    usual = _USUAL.get(time_unit_s)
    # No convention uses ms since 1970, and a comment may state another unit.
    found = _numbers(table, times, lines)
    is_epoch = epoch_unit(float(found[0])) is not None
    stated = units_in_comments(table.text)
    if (
        usual is None
        or (is_epoch and time_unit_s != 1.0)
        or (stated and usual not in stated)
        or (positive.size and not _is_usual(float(positive.max()), median, usual))
    ):
        raise _unit_doubt(
            table, median, usual_step(found), [time_unit_s] if reading.time_unit_s or is_epoch else [1.0, 1e-3]
        )
    return time_unit_s, usual


def _is_usual(peak: float, median: float, unit: RateUnit) -> bool:
    """True for plausible rates in this unit. Low rates are plausible in Mbps, but those in kbps may be in Mbps."""
    return (unit.bps >= 1e6 or peak * unit.bps >= _LEAST_PEAK_BPS) and median * unit.bps <= UNNAMED_USUAL_BPS


def _unit_doubt(table: Table, median: float, step: float, times: list[float]) -> InputError:
    rates = [(seconds, str(unit), median * unit.bps) for seconds in times for unit in _UNITS]
    rates += [(seconds, "bytes", 8 * median / (step * seconds)) for seconds in times if step]
    likely = [reading for reading in rates if SMALLEST_PLAUSIBLE_PEAK_BPS <= reading[2] < MAX_RATE_BPS] or rates
    readings = "".join(
        f"\n  --unit {time_name(seconds)},{unit}: the median is {bps / 1e6:.4g} Mbps" for seconds, unit, bps in likely
    )
    return InputError(f"{table.source}: nothing names the units of times and rates; choose one:{readings}")


def _numbers(table: Table, times: list[str], lines: list[int]) -> NDArray[np.float64]:
    return read_numbers(times, "the time", table.source, lines)


def _time_unit(table: Table, times: list[str], lines: list[int], reading: Reading) -> float:
    """The unit of times, inferred from the usual step, s; milliseconds only if rates can be in kbps, as in Oboe."""
    numbers = _numbers(table, times, lines)
    epoch_s = epoch_unit(float(numbers[0]))
    if epoch_s is not None:
        return epoch_s
    step = usual_step(numbers)
    if step < (LONGEST_WHOLE_STEP_S if are_whole(numbers) else LONGEST_STEP_S):
        return 1.0
    if step >= SHORTEST_STEP_MS and reading.rate_unit in (None, _USUAL[1e-3]):
        return 1e-3
    raise InputError(
        f"{table.source}: nothing names the unit of the times, and the usual step is {step:g}; choose one:\n"
        f"  --unit s,UNIT: the rows span {numbers[-1] - numbers[0]:g} s\n"
        f"  --unit ms,UNIT: the rows span {(numbers[-1] - numbers[0]) / 1e3:g} s\n"
        "  where UNIT is that of the rates, such as kbps or Mbps"
    )
