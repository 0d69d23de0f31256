"""Splits text into rows of cells: the separator, the header if there is one, and the cells of chosen columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_traces.formats.tables.timestamps import is_number, is_timestamp

# About two months in steps of 1 s.
MOST_ROWS = 5_000_000
MOST_COLUMNS = 1000
_SHOWN_HEADER = 1000
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
# Could as well be a whole number with thousands separators.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")


class Table:
    """The rows of a text, split at the separator of its first row: commas, semicolons, bars, tabs or blanks.

    Empty lines and lines that begin with # are skipped. The first row is a header if none of its cells is a number or a
    time. Rows can be read once, by ``cells``. Commas that do not separate cells may be decimal commas.
    """

    def __init__(self, text: str, source: str) -> None:
        """Reads the header and the first row.

        Raises:
            InputError: there is no row, or a row is not valid CSV.
        """
        self.source = source
        rows = _rows(text, source)
        first = next(rows, None)
        if first is None:
            raise InputError(f"{source}: no row of data; add at least one time and rate")
        self.header_line, cells = first
        self.text, self.width, self.separator = text, len(cells), _separator_in(text)
        if self.width > MOST_COLUMNS:
            raise InputError(
                f"{source}: line {self.header_line}: {self.width} columns; at most {MOST_COLUMNS} are read"
            )
        self.names: list[str] | None = None
        if not any(is_value(cell) for cell in cells):
            self.names = [cell.strip() for cell in cells]
            first = next(rows, None)
        self.first: list[str] = [] if first is None else first[1]
        if self.names is not None and len(self.first) == self.width + 1 and any(map(is_value, self.first)):
            # Rows that end with a separator, and rows numbered by R, have one cell more than the header.
            if not self.first[-1].strip():
                self.names, self.width = [*self.names, ""], self.width + 1
            elif self.separator is None and '"' in text:
                self.names, self.width = ["", *self.names], self.width + 1
        self._rows = chain([] if first is None else [first], rows)

    def shown_header(self) -> str:
        """The header, or the first row of a table without one, for messages; truncated if it is long."""
        cells = self.names if self.names is not None else [cell.strip() for cell in self.first]
        text = printable((self.separator or " ").join(cells))
        return text if len(text) <= _SHOWN_HEADER else text[:_SHOWN_HEADER] + "..."

    def column(self, text: str, option: str) -> int:
        """The index of a column that an option gives by name, or by number from 1 on.

        Raises:
            InputError: no column, or more than one, has this name.
        """
        found = [index for index, name in enumerate(self.names or []) if name.lower() == text.strip().lower()]
        if not found and text.strip().isdecimal() and 1 <= int(text) <= self.width:
            found = [int(text) - 1]
        if len(found) != 1:
            kind = "no column" if not found else "more than one column"
            raise InputError(
                f"{self.source}: {option} '{printable(text[:60])}': {kind} of this name; give a name or a number from "
                f"1 to {self.width}: {self.shown_header()}"
            )
        return found[0]

    def name(self, index: int) -> str:
        """The name of a column for messages."""
        return printable(self.names[index][:60]) if self.names is not None else f"column {index + 1}"

    def cells(self, columns: list[int]) -> tuple[list[int], list[list[str]]]:
        """Reads all rows; returns their line numbers, and the cells of each of these columns.

        Raises:
            InputError: a row has more or fewer fields than the first, or there are too many rows.
        """
        lines: list[int] = []
        found: list[list[str]] = [[] for _ in columns]
        for line, row in self._rows:
            if len(row) != self.width:
                raise InputError(
                    f"{self.source}: line {line}: {len(row)} fields; each row has {self.width}, as line "
                    f"{self.header_line}; fix the line, or delete a title above the header"
                )
            if len(lines) == MOST_ROWS:
                raise InputError(f"{self.source}: line {line}: over {MOST_ROWS:,} rows, more than are read")
            lines.append(line)
            for cells, index in zip(found, columns, strict=True):
                cells.append(row[index])
        return lines, _with_points(found)


def content_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(io.StringIO(text), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def is_row(line: str) -> bool:
    """True for a row of several cells that has a number or a time."""
    cells = split_row(line, separator_of(line))
    return len(cells) > 1 and any(map(is_value, cells))


def is_header(lines: list[str]) -> bool:
    """True if the first of these lines names columns: it has no number, and has separators or, give or take one, as
    many words as the second line.
    """
    separator = separator_of(lines[0]) if lines else None
    names = split_row(lines[0], separator) if lines else []
    if not lines or any(map(is_value, names)):
        return False
    if separator is not None:
        return True
    second = split_row(lines[1], None) if len(lines) > 1 else []
    return len(second) - len(names) in (0, 1) and is_value(second[-1])


def split_row(line: str, separator: str | None) -> list[str]:
    """The cells of a row; removes quotes."""
    if '"' not in line:
        return line.split(separator)
    if separator is None:
        line = line.replace("\t", " ").strip()
    try:
        return next(csv.reader([line], delimiter=separator or " ", skipinitialspace=separator is None), [])
    except csv.Error:
        return line.split(separator)


def is_value(cell: str) -> bool:
    """True for a timestamp or a number, which may have a decimal comma."""
    return is_number(cell) or is_timestamp(cell) or bool(_DECIMAL_COMMA.fullmatch(cell))


def _with_points(columns: list[list[str]]) -> list[list[str]]:
    """Replaces decimal commas by points. Commas are decimal if all cells with a comma have one between digits, and not
    all of these could be thousands separators; otherwise returns the columns unchanged.
    """
    commas = [cell for cells in columns for cell in cells if "," in cell and not is_timestamp(cell)]
    if not commas or not all(map(_DECIMAL_COMMA.fullmatch, commas)) or all(map(_THOUSANDS.fullmatch, commas)):
        return columns
    return [[cell if is_timestamp(cell) else cell.replace(",", ".") for cell in cells] for cells in columns]


def separator_of(first: str) -> str | None:
    """The separator of a table with this first line; None: blanks."""
    # First try the separators between which numbers may have decimal commas.
    for mark in (";", None):
        cells = first.split(mark)
        if len(cells) > 1 and all(is_number(cell) or _DECIMAL_COMMA.fullmatch(cell) for cell in cells):
            return "\t" if mark is None and "\t" in first and not is_number(first.split()[0]) else mark
    if (found := max(";,|", key=first.count)) in first:
        return found
    return "\t" if "\t" in first and not is_number(first.split()[0]) else None


def _separator_in(text: str) -> str | None:
    return separator_of(next(content_lines(text), (0, ""))[1])


def _rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    separator = _separator_in(text)
    if separator is None:
        yield from ((number, split_row(line, None)) for number, line in content_lines(text))
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{source}: line {reader.line_num}: no CSV ({error}); fix the line") from None
