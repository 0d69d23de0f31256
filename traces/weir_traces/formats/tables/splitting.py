"""Splits text into rows, and rows into cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from weir_cli.errors import InputError
from weir_traces.formats.tables.cell_units import unit_of_cell
from weir_traces.formats.tables.timestamps import is_number, is_timestamp

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


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
    """True for a timestamp or a number, which may have a decimal comma or a unit."""
    return is_number(cell) or is_timestamp(cell) or bool(DECIMAL_COMMA.fullmatch(cell) or unit_of_cell(cell))


def separator_of(first: str) -> str | None:
    """The separator of a table with this first line; None: blanks."""
    # First try the separators between which numbers may have decimal commas.
    for mark in (";", None):
        cells = first.split(mark)
        if len(cells) > 1 and all(is_number(cell) or DECIMAL_COMMA.fullmatch(cell) for cell in cells):
            return "\t" if mark is None and "\t" in first and not is_number(first.split()[0]) else mark
    if (found := max(";,|", key=first.count)) in first:
        return found
    return "\t" if "\t" in first and not is_number(first.split()[0]) else None


def separator_in(text: str) -> str | None:
    """The separator of a text's first row; None: blanks."""
    return separator_of(next(content_lines(text), (0, ""))[1])


def rows_of(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of the rows that are neither empty nor comments, with the numbers of their last lines.

    Raises:
        InputError: a row is not valid CSV, or a row of data lacks the end of a quote.
    """
    separator = separator_in(text)
    if separator is None:
        yield from ((number, split_row(line, None)) for number, line in content_lines(text))
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    is_header, line = True, 0
    try:
        for row in reader:
            first, line = line + 1, reader.line_num
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                # Names may have line ends; a row of data with one lacks the end of a quote.
                if line > first and not is_header:
                    raise open_quote(source, first)
                yield line, row
                is_header = False
    except csv.Error as error:
        raise InputError(f"{source}: line {line + 1}: no CSV ({error}); fix the line, or close its quote") from None


def open_quote(source: str, line: int) -> InputError:
    """The error for a row without the end of a quote."""
    return InputError(f"{source}: line {line}: a quote opens that does not close on this line; close or delete it")
