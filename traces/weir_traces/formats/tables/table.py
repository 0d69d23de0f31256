"""The rows of a text: the header if there is one, and the cells of chosen columns."""

from __future__ import annotations

import re
from itertools import chain

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_traces.formats.tables.cell_units import unit_of_cell, without_units
from weir_traces.formats.tables.headers import unit_at_end
from weir_traces.formats.tables.splitting import DECIMAL_COMMA, is_value, open_quote, rows_of, separator_in
from weir_traces.formats.tables.timestamps import is_timestamp

# About two months in steps of 1 s.
MOST_ROWS = 5_000_000
MOST_COLUMNS = 1000
LONGEST_NAME = 1000
_SHOWN_HEADER = 1000
# Could as well be a whole number with thousands separators.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")


class Table:
    """The rows of a text, split at the separator of its first row: commas, semicolons, bars, tabs or blanks.

    Empty lines and lines that begin with # are skipped. The first row is a header if none of its cells is a number or a
    time, with or without a unit. Rows can be read once, by ``cells``. Commas that do not separate cells may be decimal
    commas.
    """

    def __init__(self, text: str, source: str) -> None:
        """Reads the header and the first row.

        Raises:
            InputError: there is no row, or a row is not valid CSV.
        """
        self.source = source
        rows = rows_of(text, source)
        first = next(rows, None)
        if first is None:
            raise InputError(f"{source}: no row of data; add at least one time and rate")
        self.header_line, cells = first
        self.text, self.width, self.separator = text, len(cells), separator_in(text)
        if self.width > MOST_COLUMNS:
            raise InputError(
                f"{source}: line {self.header_line}: {self.width} columns; at most {MOST_COLUMNS} are read"
            )
        if max(map(len, cells)) > LONGEST_NAME:
            raise InputError(
                f"{source}: line {self.header_line}: a cell of over {LONGEST_NAME} characters; fix the line, or close "
                "its quote"
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
        if any("\n" in cell for cell in cells) and (self.names is None or len(self.first) != self.width):
            raise open_quote(source, self.header_line - sum(cell.rstrip("\n").count("\n") for cell in cells))
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
        if not found and re.fullmatch(r"\d{1,9}", text.strip()) and 1 <= int(text) <= self.width:
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

    def unit(self, index: int) -> str:
        """The unit beside the number of a column's first cell, or in the cell after it; empty if there is none."""
        if not self.first or index >= len(self.first):
            return ""
        return unit_of_cell(self._with_unit(self.first, index))

    def _with_unit(self, row: list[str], index: int) -> str:
        """A cell of a row, with the next one if the table has no header and that one is a unit in the first row."""
        if self.names is None and index + 1 < self.width and not unit_of_cell(self.first[index]):
            cell = f"{self.first[index]} {self.first[index + 1]}"
            if unit_of_cell(cell):
                return f"{row[index]} {row[index + 1]}"
        return row[index]

    def names_with_units(self) -> list[str]:
        """The names of a header; those without a unit have that of the cells below."""
        return [
            f"{name} ({unit})" if (unit := self.unit(index)) and not unit_at_end(name) else name
            for index, name in enumerate(self.names or [])
        ]

    def cells(self, columns: list[int]) -> tuple[list[int], list[list[str]]]:
        """Reads all rows; returns their line numbers, and the cells of each of these columns. Numbers with a unit are
        converted to the unit in the column's name, else to that of the first row.

        Raises:
            InputError: a row has more or fewer fields than the first, units do not agree, or there are too many rows.
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
                cells.append(self._with_unit(row, index))
        for place, index in enumerate(columns):
            if unit := self.unit(index):
                stated = unit_at_end(self.names[index]) if self.names is not None else ""
                found[place] = without_units(found[place], stated or unit, self.name(index), self.source, lines)
        return lines, _with_points(found)


def _with_points(columns: list[list[str]]) -> list[list[str]]:
    """Replaces decimal commas by points. Commas are decimal if all cells with a comma have one between digits, and not
    all of these could be thousands separators; otherwise returns the columns unchanged.
    """
    commas = [cell for cells in columns for cell in cells if "," in cell and not is_timestamp(cell)]
    if not commas or not all(map(DECIMAL_COMMA.fullmatch, commas)) or all(map(_THOUSANDS.fullmatch, commas)):
        return columns
    return [[cell if is_timestamp(cell) else cell.replace(",", ".") for cell in cells] for cells in columns]
