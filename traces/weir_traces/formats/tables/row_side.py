"""The time to which the rates of rows apply: as stated, as the format defines it, or as the rows show it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir_traces.formats.reading import Reading
from weir_traces.formats.tables.amounts import are_packets
from weir_traces.formats.tables.empty_bins import MISSING, EmptyBins, empty_bins
from weir_traces.formats.tables.holding import STALL_BPS, Side, check_no_stalls, refusal, side_of_rates
from weir_traces.formats.tables.rows import RateRows
from weir_traces.formats.validation import GAP_STEPS, Finding

_EMPTY = "its rates look like packets counted in bins, and a bin without a packet has no row"


def side_of_rows(rows: RateRows, reading: Reading) -> Side:
    """The side of rows in order. Adds findings about it.

    Raises:
        InputError: it is ambiguous; the message has all readings.
    """
    times, rates = rows.times_s, rows.numbers * rows.unit.bps
    if rows.unit.is_total:
        return Side("before", shown=True)
    stated = reading.rate_holds
    if stated is not None:
        return Side("before" if rows.unit.is_amount and stated == "after" else stated, shown=True)
    is_capture = rows.unit.is_amount and times.size > 1 and are_packets(times)
    bins = None if is_capture else empty_bins(times, rows.numbers, rows.unit)
    if bins is not None and bins.packet_bytes is not None:
        if rows.holds is None or rows.unit.is_amount:
            _find_bins(rows, bins)
            return Side("step", shown=True)
        if rows.end_s is None:
            raise refusal(times, rates, rows.source, rows.positions, _EMPTY)
    if rows.unit.is_amount:
        return Side("before", shown=True)
    if rows.holds is not None:
        if rows.end_s is None:
            check_no_stalls(times, rates, rows.source, rows.positions)
        return Side(rows.holds)
    side = side_of_rates(times, rates, rows.source, rows.positions)
    if bins is not None and _hides_stops(bins, times, rates, side):
        raise refusal(times, rates, rows.source, rows.positions, "a row may be missing because nothing arrived")
    if side.warning:
        rows.findings.append(Finding("uneven", "warning", rows.source, rows.positions[0], side.warning))
    return side


def regular_step(times_s: NDArray[np.float64]) -> float | None:
    """The usual step of rows with a sample per step, s; None for others."""
    steps = np.diff(times_s)
    if steps.size < 10:
        return None
    median = float(np.median(steps))
    return median if np.quantile(steps, 0.9) <= 1.5 * median else None


def _find_bins(rows: RateRows, bins: EmptyBins) -> None:
    text = (
        f"the rates are whole numbers of packets of {bins.packet_bytes:.4g} bytes in bins of {bins.bin_s:.4g} s, and "
        f"{bins.count} bins have no row; they have no capacity (else add --rate-holds after)"
    )
    rows.findings.append(Finding("empty_bins", "warning", rows.source, rows.positions[0], text))


def _hides_stops(bins: EmptyBins, times_s: NDArray[np.float64], rates_bps: NDArray[np.float64], side: Side) -> bool:
    """True if time without a row is long, and has a capacity in this reading (rule 3 of `empty_bins`)."""
    steps = np.diff(times_s)
    regular = None if side.shown else regular_step(times_s)
    if regular is not None and steps.max() > GAP_STEPS * regular:
        return False  # an error, which has this reading in its repair
    held = rates_bps[1:] if side.holds == "before" else rates_bps[:-1]
    hidden_s = float(np.sum((steps - bins.bin_s)[held >= STALL_BPS]))
    return hidden_s > MISSING * float(np.sum(steps))
