"""Tables as JSON: arrays of the same length under their names, or an array of objects with the same members."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.reading import Reading
from weir_traces.formats.tables.header_table import read_header_table
from weir_traces.formats.tables.table import Table, is_value

_FEWEST_COLUMNS, _FEWEST_ROWS = 2, 2
# Text that would end a cell, or turn the header into a comment or an empty line.
_NO_NAME = re.compile(r"\s*(?:#|$)|.*[;,|\"\r\n\t]", re.DOTALL)
_LINE = re.compile(r"\bline (\d+)")


def json_table(data: Any) -> str:
    """Converts parsed JSON to CSV if it is a table, ignoring shorter arrays and other members; else returns ""."""
    names: list[str] = []
    rows: list[Any] = []
    if isinstance(data, dict):
        arrays = {name: array for name, array in data.items() if _is_name(name) and _is_column(array)}
        count = max(map(len, arrays.values()), default=0)
        names = [name for name, array in arrays.items() if len(array) == count >= _FEWEST_ROWS]
        rows = list(zip(*(arrays[name] for name in names), strict=True))
    elif isinstance(data, list) and len(data) >= _FEWEST_ROWS and all(isinstance(entry, dict) for entry in data):
        names = [name for name in data[0] if _is_name(name) and all(_is_cell(entry.get(name)) for entry in data)]
        rows = [[entry.get(name) for name in names] for entry in data]
    if len(names) < _FEWEST_COLUMNS:
        return ""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()


def read_json_table(text: str, source: str, reading: Reading) -> ImportedTrace:
    """The trace of a table from `json_table`.

    Raises:
        InputError: see `read_header_table`; the message counts entries from 0.
    """
    try:
        trace = read_header_table(Table(text, source), reading)
    except InputError as error:
        raise InputError(_entries(str(error))) from None
    findings = [
        replace(finding, position=_entries(finding.position), message=_entries(finding.message))
        for finding in trace.findings
    ]
    return replace(trace, findings=findings)


def _is_name(text: str) -> bool:
    return not is_value(text) and not _NO_NAME.match(text)


def _is_column(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_cell, value))


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _entries(text: str) -> str:
    return _LINE.sub(lambda found: f"entry {int(found[1]) - 2}" if int(found[1]) > 1 else "names", text)
