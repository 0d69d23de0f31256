"""Logs of bytes since the last row: HSDPA in Norway (MMSys 2013), 4G in Ghent (2016).

Each row has six numbers: time since 1970 (s or ms), time since the start (ms), latitude, longitude, bytes received
since the previous row, and the time in ms that they took. The rate of a row applies to the time before it.
"""

from __future__ import annotations

import numpy as np

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.tables.table import Table
from weir_traces.formats.tables.timestamps import epoch_unit, is_number, read_numbers
from weir_traces.formats.validation import Finding, Samples, check
from weir_traces.schema.capacity import CapacityTrace

_COLUMNS = 6


def is_byte_log(first: str) -> bool:
    """True for a first row with these columns."""
    cells = first.split()
    if len(cells) != _COLUMNS or not all(map(is_number, cells)):
        return False
    since_1970, start_ms, latitude, longitude, count, took_ms = map(float, cells)
    return (
        epoch_unit(since_1970) is not None
        and abs(latitude) <= 90
        and abs(longitude) <= 180
        and all(number >= 0 and number.is_integer() for number in (start_ms, count, took_ms))
    )


def read_byte_log(text: str, source: str) -> ImportedTrace:
    """The trace of a log.

    Raises:
        InputError: a row is invalid, or no row lasts longer than 0 ms.
    """
    table = Table(text, source)
    lines, columns = table.cells([4, 5])
    received, took_ms = (
        read_numbers(cells, name, source, lines)
        for cells, name in zip(columns, ("the bytes", "the time since the row before"), strict=True)
    )
    findings = []
    lasting = took_ms > 0
    for index in np.flatnonzero(~lasting):
        text_ = f"the row took {took_ms[index]:g} ms"
        findings.append(Finding("bad_duration", "error", source, f"line {lines[index]}", text_, "the entry is dropped"))
    if not np.any(lasting):
        raise InputError(f"{source}: no row took longer than 0 ms; the last column has ms since the row before")
    seconds = took_ms[lasting] / 1e3
    positions = [f"line {lines[index]}" for index in np.flatnonzero(lasting)]
    found, repaired = check(Samples(source, positions, seconds, received[lasting] * 8 / seconds))
    trace = CapacityTrace.from_durations(seconds, repaired.rates_bps)
    return ImportedTrace(source, "byte log", trace, findings + found, understood="bytes since the row before, ms")
