"""Tables with a header: Weir's CSV, known data sets, and others with unambiguous names and units."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace, TraceFormat
from weir_traces.formats.reading import RateHolds, Reading
from weir_traces.formats.tables.headers import (
    GROUP_NAMES,
    is_duration,
    is_own,
    known_header,
    rate_columns,
    time_columns,
    time_unit_in_name,
    unit_in_name,
)
from weir_traces.formats.tables.rate_rows import trace_of_durations, trace_of_rows, trace_of_steps
from weir_traces.formats.tables.rows import RateRows
from weir_traces.formats.tables.table import Table
from weir_traces.formats.tables.timestamps import read_numbers, read_times
from weir_traces.formats.units import RateUnit, time_name
from weir_traces.formats.validation import Finding

_MISSING = {"", "-", "--", "?", "nan", "na", "n/a", "#n/a", "null", "none"}


@dataclass
class _Columns:
    """The columns of time and rate, and their units; ``time`` is None for rows of a fixed step."""

    time: int | None
    rate: int
    unit: RateUnit
    time_unit_s: float | None = None
    group: int | None = None
    holds: RateHolds | None = None
    is_own: bool = False
    format: TraceFormat = "csv"
    findings: list[Finding] = field(default_factory=list)


def read_header_table(table: Table, reading: Reading) -> ImportedTrace:
    """The trace of a table with a header.

    Raises:
        InputError: a column or unit is ambiguous, or a row is invalid.
    """
    columns = _choose(table, reading)
    source, name = table.source, table.name(columns.rate)
    wanted = [columns.rate if index is None else index for index in (columns.rate, columns.time, columns.group)]
    lines, (rates, times, groups) = table.cells(wanted)
    if columns.group is not None:
        _check_group(table, columns.group, lines, groups)
    kept = _kept(table, columns, lines, rates)
    end = times[kept[-1] + 1 :][:1] if columns.is_own and kept else []
    all_lines, all_times = lines, times
    lines, rates, times = ([cells[index] for index in kept] for cells in (lines, rates, times))  # type: ignore[assignment]
    if not lines:
        raise InputError(f"{source}: no row of data; add at least one time and rate")
    numbers = read_numbers(rates, name, source, lines)
    rows = RateRows(
        source, columns.format, np.zeros(0), numbers, columns.unit, [f"line {line}" for line in lines],
        f"{name} in {columns.unit}", holds=columns.holds, findings=columns.findings,
    )  # fmt: skip
    if columns.time is None:
        assert reading.step_s is not None
        return trace_of_steps(rows, reading.step_s)
    clock = table.name(columns.time)
    if is_duration(clock):
        if columns.time_unit_s is None:
            raise _doubt(table, f"has no unit of {clock}: add --unit UNIT, such as s or ms,kbps")
        rows.described = f"{clock} of each row in {time_name(columns.time_unit_s)}, {rows.described}"
        return trace_of_durations(rows, read_numbers(times, clock, source, lines) * columns.time_unit_s)
    if len(kept) < len(all_times) and not columns.is_own and len(lines) > 1:
        every = read_times(all_times, columns.time_unit_s, clock, source, all_lines)
        steps_s = np.diff(np.unique(every.seconds))
        rows.usual_step_s = float(np.median(steps_s)) if steps_s.size else None
    found = read_times(times + end, columns.time_unit_s, clock, source, [*lines, *lines[-1:]][: len(times + end)])
    rows.times_s, rows.first_s = found.seconds[: len(lines)], found.first_s
    rows.averages = found.is_coarse and not columns.is_own
    rows.described = f"{clock} {found.described}, {rows.described}"
    if found.warning:
        rows.findings.append(Finding("time_unit", "warning", source, rows.positions[0], found.warning))
    if end:
        rows.end_s = float(found.seconds[-1])
    return trace_of_rows(rows, reading)


def _choose(table: Table, reading: Reading) -> _Columns:
    """The columns given by statements and header. Raises InputError if these are ambiguous."""
    names = table.names
    if names is None:
        raise InputError(
            f"{table.source}: line {table.header_line}: a row of data, and no header above it; close the quotes of the "
            "header, and begin no name with #"
        )
    known = known_header(names)
    lower = [name.lower() for name in names]
    named = table.names_with_units()
    time, time_unit_s = _time_column(table, named, reading, lower.index(known.time) if known else None)
    rate, unit = _rate_column(table, named, reading, known.rates if known else {})
    if known and time is not None:
        time_unit_s = time_unit_s or known.time_unit_s
    group = next((lower.index(name) for name in GROUP_NAMES if name in lower), None)
    columns = _Columns(time, rate, unit, time_unit_s, group)
    if known and (time is None or lower[time] == known.time) and lower[rate] in known.rates:
        columns.holds = known.holds
        columns.format = known.name
    elif time is not None and is_own(names[time], names[rate]):
        columns.is_own, columns.holds = True, "after"
    return columns


def _time_column(
    table: Table, names: list[str], reading: Reading, known: int | None
) -> tuple[int | None, float | None]:
    if reading.step_s is not None:
        if reading.time_column is not None:
            raise InputError(
                f"{table.source}: --step and --time-column: rows have times or a step; omit one of the two"
            )
        return None, None
    if reading.time_column is not None:
        index = table.column(reading.time_column, "--time-column")
    elif known is not None:
        index = known
    else:
        candidates = time_columns(names)
        if len(candidates) != 1:
            fault = "names no column of times" if not candidates else "names more than one column of times"
            lasting = next((f"; --time-column {name}: how long each lasts" for name in names if is_duration(name)), "")
            raise _doubt(table, f"{fault}: add --time-column NAME, or --step SECONDS for rows of an even step{lasting}")
        index = candidates[0]
    unit_s = time_unit_in_name(names[index])
    if unit_s is not None and reading.time_unit_s not in (None, unit_s):
        raise InputError(
            f"{table.source}: the header has times in {time_name(unit_s)}; omit the unit of times in --unit, or "
            f"correct the header: {table.shown_header()}"
        )
    return index, unit_s or reading.time_unit_s


def _rate_column(table: Table, names: list[str], reading: Reading, known: dict[str, RateUnit]) -> tuple[int, RateUnit]:
    if reading.rate_column is not None:
        index = table.column(reading.rate_column, "--rate-column")
    else:
        found = [index for index, name in enumerate(names) if name.lower() in known][:1]
        found = found or rate_columns(names)
        if len(found) != 1:
            fault = "names no rate of a link with its unit" if not found else "names more than one rate"
            more = "" if reading.rate_unit else " and, unless its name has it, --unit UNIT"
            raise _doubt(table, f"{fault}: add --rate-column NAME{more}")
        index = found[0]
    unit = known.get(names[index].lower()) or unit_in_name(names[index])
    if unit is not None and reading.rate_unit not in (None, unit):
        raise InputError(
            f"{table.source}: {table.name(index)} is in {unit}, and --unit has {reading.rate_unit}; omit --unit, or "
            f"correct the header: {table.shown_header()}"
        )
    unit = unit or reading.rate_unit
    if unit is None:
        raise _doubt(table, f"{table.name(index)} has no unit: add --unit UNIT, such as kbps, Mbps or kB/s")
    return index, unit


def _doubt(table: Table, fault: str) -> InputError:
    return InputError(
        f"{table.source}: line {table.header_line}: the header {fault}. The header: {table.shown_header()}"
    )


def _check_group(table: Table, column: int, lines: list[int], cells: list[str]) -> None:
    other = next((line for line, cell in zip(lines, cells, strict=True) if cell != cells[0]), None)
    if other is not None:
        raise InputError(
            f"{table.source}: line {other}: another {table.name(column)} begins; keep the rows of one in a file"
        )


def _kept(table: Table, columns: _Columns, lines: list[int], rates: list[str]) -> list[int]:
    """The rows that have a rate, or all rows of durations. In Weir's CSV, only the last row may lack it."""
    if columns.is_own:
        missing = next((index for index, cell in enumerate(rates) if not cell.strip()), len(rates))
        if missing + 1 < len(rates):
            line = lines[missing + 1]
            raise InputError(f"{table.source}: line {line}: only the last row may have no rate; fill in the one above")
        return list(range(missing))
    if columns.time is not None and is_duration(table.name(columns.time)):
        return list(range(len(rates)))
    kept = [index for index, cell in enumerate(rates) if cell.strip().lower() not in _MISSING]
    if len(kept) < len(rates):
        first = next(index for index, cell in enumerate(rates) if cell.strip().lower() in _MISSING)
        text = f"{len(rates) - len(kept)} rows have no rate; the time of each counts to a row beside it"
        columns.findings.append(Finding("missing", "warning", table.source, f"line {lines[first]}", text))
    return kept
