"""Cells of a number and its unit, such as 30Mbps, 12.5 ms or 900 kbit/s."""

from __future__ import annotations

import re

from weir_cli.errors import InputError
from weir_traces.formats.tables.timestamps import is_number
from weir_traces.formats.units import rate_unit, time_unit

_WITH_UNIT = re.compile(r"\s*([+-]?[\d.,]{1,40}(?:[eE][+-]?\d{1,3})?)\s*([A-Za-zµ][A-Za-zµ/ ]{0,38})\s*")


def unit_of_cell(cell: str) -> str:
    """The unit of rates or times beside the number of a cell; empty if there is none."""
    found = None if is_number(cell) else _WITH_UNIT.fullmatch(cell)
    if not found or not is_number(found[1].replace(",", ".")):
        return ""
    return found[2].strip() if rate_unit(found[2]) or time_unit(found[2]) else ""


def without_units(cells: list[str], unit: str, name: str, source: str, lines: list[int]) -> list[str]:
    """The numbers of a column in ``unit``. Cells without a number remain as they are.

    Raises:
        InputError: a number other than 0 has no unit, or one of another kind.
    """
    return [_in_unit(cell, unit, name, source, line) for cell, line in zip(cells, lines, strict=True)]


def _in_unit(cell: str, unit: str, name: str, source: str, line: int) -> str:
    own = unit_of_cell(cell)
    if not own and (not is_number(cell) or float(cell) == 0):
        return cell
    if not own or (size := _size(own)) is None or (wanted := _size(unit)) is None or size[0] != wanted[0]:
        raise InputError(
            f"{source}: line {line}: {name} is {cell.strip()[:40]!r}; it must be a number with its unit, such as 1 "
            f"{unit}, as in the rows before; fix or delete the row"
        )
    number = cell.strip().removesuffix(own).strip()
    return number if size == wanted else repr(float(number.replace(",", ".")) * (size[1] / wanted[1]))


def _size(unit: str) -> tuple[str, float] | None:
    if (rate := rate_unit(unit)) is not None:
        return "rate", rate.bps
    return None if (seconds := time_unit(unit)) is None else ("time", seconds)
