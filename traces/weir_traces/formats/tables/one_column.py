"""One number per row: the times of Mahimahi's deliveries, or rates at a step that the user states.

Numbers are times of deliveries if they rise, are whole milliseconds (or a capture of 1 s or more), and give a plausible
rate. If there are fewer than 20, that rate must be 100 kbps or more, and they must begin within two mean steps of 0, or
at 1. A unit of rates without a step has no effect on 20 or more such numbers. Other numbers are refused without a
statement, as are NYU-METS's rows: a number and its unit each, and no time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats import ImportedTrace
from weir_traces.formats.mahimahi import DELIVERY_BITS, LATEST_START_MS, read_mahimahi
from weir_traces.formats.reading import AS_WRITTEN, Reading
from weir_traces.formats.tables.rate_rows import trace_of_steps
from weir_traces.formats.tables.rows import RateRows
from weir_traces.formats.tables.splitting import content_lines
from weir_traces.formats.tables.timestamps import LARGEST_NUMBER, are_whole, is_number, read_number
from weir_traces.formats.units import RateUnit, rate_unit
from weir_traces.formats.validation import ARTEFACT_BPS
from weir_traces.schema.capacity import MAX_RATE_BPS

# Limits of the mean distance of a capture's numbers below their running maximum, as a share of their range; the second
# is for fewer than _FEW rows.
_DISORDER, _DISORDER_OF_FEW, _FEW = 0.01, 0.05, 20
_SEEN_ROWS = 1000
# A short list of rates may rise by chance or by a test's design; a few deliveries at an even rate begin within two
# steps of 0.
_LATEST_START_OF_FEW_STEPS = 2
_SHORTEST_CAPTURE_MS = 1000.0
_SLOWEST_BPS, _SLOWEST_BPS_OF_FEW = 10e3, 100e3
_MS = 1e-3
_BPS = RateUnit(1.0)
_BETWEEN = re.compile(r"(?<=[\d.])(?=[kKMmGgb])")
_MAYBE_COMMA = re.compile(r"\d{1,20}(?:,\d{1,20})?", re.ASCII)
_DIGITS = frozenset("0123456789\n")


def is_one_column(first: str) -> bool:
    """True for a first row that is one number, or a number and the unit of a rate."""
    cells = _cells(first)
    return is_number(cells[0]) and (len(cells) == 1 or (len(cells) == 2 and rate_unit(cells[1]) is not None))


def has_decimal_commas(text: str) -> bool:
    """True for rows such as 3,97 whose integer parts sometimes fall, as times do not."""
    rows = [line for _, line in islice(content_lines(text), _SEEN_ROWS)]
    if not rows or not all(map(_MAYBE_COMMA.fullmatch, rows)):
        return False
    whole = [int(row.partition(",")[0]) for row in rows]
    return any("," in row for row in rows) and any(later < now for now, later in pairwise(whole))


def read_one_column(
    text: str, source: str, reading: Reading = AS_WRITTEN, *, window_ms: int = DEFAULT_WINDOW_MS
) -> ImportedTrace:
    """The trace of a file with one number per row.

    Raises:
        InputError: a statement is missing, or a row is invalid.
    """
    if has_decimal_commas(text):
        text = text.replace(",", ".")
    numbers, lines, has_units = _numbers(text, source)
    if has_units and reading.rate_unit is not None:
        raise InputError(f"{source}: each row has its unit; omit --unit")
    unit = _BPS if has_units else reading.rate_unit
    if reading.step_s is not None:
        if unit is None:
            raise InputError(f"{source}: --step: the rates have no unit; add --unit UNIT, such as kbps or Mbps")
        positions = [f"line {line}" for line in lines]
        described = "each row in its unit" if has_units else str(unit)
        rows = RateRows(source, "rates", np.zeros(0), numbers, unit, positions, described)
        return trace_of_steps(rows, reading.step_s)
    if not has_units and unit is not None and numbers.size >= _FEW and not _unlike_deliveries(numbers):
        # The units are those of other files of the command.
        deliveries = read_mahimahi(text, source, window_ms=window_ms)
        unused = reading.without_effect(source, "the format mahimahi")
        return replace(deliveries, findings=[*unused, *deliveries.findings])
    if unit is not None:
        mean = f"{numbers.mean() * unit.bps / 1e6:.4g} Mbps"
        raise InputError(
            f"{source}: {numbers.size} rates without times, mean {mean}; add --step SECONDS, the time between two rows "
            "(1 for NYU-METS)"
        )
    if reading.time_unit_s is None and (fault := _unlike_deliveries(numbers)):
        length_ms = max(float(numbers.max() - (numbers.min() if numbers.min() > LATEST_START_MS else 0)), 1.0)
        mean_bps = numbers.size * DELIVERY_BITS / length_ms * 1e3
        in_seconds = f"\n  --unit s: the same in seconds, mean {mean_bps / 1e9:.4g} Mbps"
        raise InputError(
            f"{source}: one number a row, and {fault}; choose what they are:\n"
            f"  --step SECONDS --unit UNIT: {numbers.size} rates, each for a step, mean {numbers.mean():.4g} UNIT "
            f"(kbps, Mbps or another)\n"
            f"  --unit ms: times of Mahimahi's deliveries, mean {mean_bps / 1e6:.4g} Mbps in {length_ms / 1e3:.4g} s"
            f"{'' if are_whole(numbers) else in_seconds}"
        )
    if reading.time_unit_s not in (None, _MS):
        rows_ms = [""] * lines[-1]
        for line, number in zip(lines, numbers.tolist(), strict=True):
            # Round to the precision of a double for times since 1970.
            rows_ms[line - 1] = str(int(round(number * reading.time_unit_s / _MS, 3)))
        text = "\n".join(rows_ms)
    return read_mahimahi(text, source, window_ms=window_ms)


def _numbers(text: str, source: str) -> tuple[NDArray[np.float64], list[int], bool]:
    """The numbers, their lines, and True if each row has a unit; then the numbers are in bit/s."""
    tokens = text.split()
    if len(tokens) == text.count("\n") + (not text.endswith("\n")) and _DIGITS.issuperset(text):
        # Fast path for plain files of deliveries, which may have millions of lines.
        plain = np.array(tokens, dtype=np.float64)
        if plain.max() <= LARGEST_NUMBER:
            return plain, list(range(1, len(tokens) + 1)), False
    numbers: list[float] = []
    lines: list[int] = []
    has_units = False
    for line, row in content_lines(text):
        cells = _cells(row)
        unit = rate_unit(cells[1]) if len(cells) == 2 else None
        if (len(cells) > 1 and unit is None) or not is_number(cells[0]):
            raise InputError(
                f"{source}: line {line}: {row[:40]!r} is no time in milliseconds and no rate; fix the line"
            )
        if lines and has_units != (unit is not None):
            raise InputError(f"{source}: line {line}: {row[:40]!r}: some rows have a unit and some none; fix the line")
        has_units = unit is not None
        numbers.append(read_number(cells[0], "the number", source, line) * (unit.bps if unit else 1.0))
        lines.append(line)
    return np.array(numbers), lines, has_units


def _unlike_deliveries(numbers: NDArray[np.float64]) -> str:
    """Why numbers cannot be times of deliveries; empty if they can."""
    if numbers.min() < 0:
        return ""  # neither times nor rates: the reader of deliveries reports the line
    highest = np.maximum.accumulate(numbers)
    spread = float(np.ptp(numbers))
    length_ms = spread if numbers[0] > LATEST_START_MS else float(highest[-1])
    disorder = float(np.mean(highest - numbers)) / spread if spread else 0.0
    few = numbers.size < _FEW
    if disorder > (_DISORDER_OF_FEW if few else _DISORDER):
        return "they do not rise"
    is_fast = length_ms > 0 and numbers.size * DELIVERY_BITS / length_ms * 1e3 > ARTEFACT_BPS
    if not are_whole(numbers) and (length_ms < _SHORTEST_CAPTURE_MS or is_fast):
        return "they have fractions"
    if numbers.size > 1 and spread == 0 and numbers[0] > 0:
        return "they are all equal"
    # The reader of deliveries reports a line that is too late.
    slowest_bps = _SLOWEST_BPS_OF_FEW if few else _SLOWEST_BPS
    if (
        0 < length_ms <= LATEST_START_MS
        and not slowest_bps <= numbers.size * DELIVERY_BITS / length_ms * 1e3 <= MAX_RATE_BPS
    ):
        return "as times they would be no plausible rate"
    late = numbers[0] * (numbers.size - 1) > _LATEST_START_OF_FEW_STEPS * spread
    if few and late and 1 < numbers[0] <= LATEST_START_MS:
        return "they are few and begin late"
    return ""


def _cells(row: str) -> list[str]:
    # Also splits 12.5Mbps, but not 1e6, which is a number.
    row = row if is_number(row) else _BETWEEN.sub(" ", row, count=1)
    return [cell.strip() for cell in row.replace(",", " ", 1).split(maxsplit=1)] or [""]
