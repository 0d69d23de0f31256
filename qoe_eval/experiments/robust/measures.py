"""Measures of single runs that only `weir experiment robust` needs, from their time series."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from weir.qoe_eval.measures.flow_series import FlowSeries

# Key frames and single frames make no dip of a second.
WINDOW_S = 1.0
BEFORE_S = 10.0
START_S = 5.0
RECOVERED_SHARE = 0.8
# A queue that drains is no recovery, though the link is busy with it; nor are the last packets of a rate of before.
RECOVERED_QUEUE_MS = 100.0
RECOVERED_FOR_S = 3.0


@dataclass(frozen=True)
class Dip:
    """How a receive rate did after a step, against the rate before: the seconds in all below 0.8 of it, and the longest
    stretch below half of it.
    """

    below_80_percent_s: float
    longest_below_half_s: float


def dip_after(series: FlowSeries, step_s: float) -> Dip | None:
    """The dip of a flow from `step_s` (s) to its end; nothing when nothing came in the BEFORE_S before.

    A rate is the mean over WINDOW_S, and stands for the middle of that time.
    """
    interval_s = series.interval_s
    received = series.receive_rate_bps[: series.active.stop]
    step, before = round(step_s / interval_s), round(BEFORE_S / interval_s)
    reference = float(received[step - before : step].mean()) if step >= before else 0.0
    if reference <= 0:
        return None
    window = round(WINDOW_S / interval_s)
    share = np.convolve(received[step:], np.full(window, 1 / window), mode="valid") / reference
    return Dip(
        below_80_percent_s=float(np.count_nonzero(share < 0.8)) * interval_s,
        longest_below_half_s=_longest(share < 0.5) * interval_s,
    )


def recovery_s(series: FlowSeries, fault_begins_s: float, fault_ends_s: float, base_ms: float) -> float | None:
    """Seconds from the end of a fault to the beginning of the first RECOVERED_FOR_S that are as before: in each
    WINDOW_S of them a flow receives RECOVERED_SHARE of its mean rate of the BEFORE_S before the fault, and the mean
    queueing delay, beyond `base_ms`, is at most RECOVERED_QUEUE_MS.

    Infinite when there are none up to the flow's end; nothing when nothing came before the fault.
    """
    interval_s = series.interval_s
    begin, end, window = (round(time_s / interval_s) for time_s in (fault_begins_s, fault_ends_s, WINDOW_S))
    before = series.receive_rate_bps[begin - round(BEFORE_S / interval_s) : begin].mean()
    if before <= 0:
        return None
    after = slice(end, series.active.stop)
    carried = sliding_window_view(series.receive_rate_bps[after], window).mean(axis=1) >= RECOVERED_SHARE * before
    # Where nothing arrives no delay is known; those seconds have not recovered.
    delays_ms = np.nan_to_num(series.one_way_delay_mean_ms[after], nan=base_ms)
    quick = sliding_window_view(delays_ms, window).mean(axis=1) - base_ms <= RECOVERED_QUEUE_MS
    seconds = round(RECOVERED_FOR_S / interval_s) - window + 1
    found = np.flatnonzero(sliding_window_view(carried & quick, seconds).all(axis=1))
    return float(found[0]) * interval_s if found.size else math.inf


def largest_queue_ms(series: FlowSeries, base_ms: float) -> float | None:
    """The largest queueing delay in the flow's first START_S, of means over samples of 100 ms; nothing when nothing
    arrived.
    """
    first = series.active.start
    delay_ms = series.one_way_delay_mean_ms[first : first + round(START_S / series.interval_s)]
    return None if np.isnan(delay_ms).all() else max(0.0, float(np.nanmax(delay_ms)) - base_ms)


def _longest(wanted: np.ndarray) -> int:
    """The length of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], wanted.astype(int), [0]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))
