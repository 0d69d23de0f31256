"""Measures of single runs that only `weir experiment policy` needs, from their time series (samples of 100 ms)."""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.measures.flow_series import FlowSeries

START_SHARE = 0.9
START_WINDOW_S = 0.3
RECOVERED_BELOW_MS = 50.0
RECOVERED_FOR_S = 1.0


def start_time_s(series: FlowSeries, rate_bps: float) -> float | None:
    """Seconds from the flow's start to the end of the first START_WINDOW_S whose mean receive rate is START_SHARE of
    `rate_bps` or more; nothing when it never is. The window keeps a burst of a few packets from passing for a rate.
    """
    received = series.receive_rate_bps[series.active]
    window = round(START_WINDOW_S / series.interval_s)
    means = np.convolve(received, np.full(window, 1 / window), mode="valid")
    reached = np.flatnonzero(means >= START_SHARE * rate_bps)
    return float(reached[0] + window) * series.interval_s if reached.size else None


def recovery_time_s(series: FlowSeries, base_ms: float, step_s: float) -> float | None:
    """Seconds from `step_s` to the beginning of the first RECOVERED_FOR_S in which the queueing delay of what arrives
    stays below RECOVERED_BELOW_MS; nothing when it never does. A sample in which nothing arrives is not below.

    The stretch begins where the queue that the step built has been drained, or at the step where it built none.
    """
    delay_ms = series.one_way_delay_mean_ms[round(step_s / series.interval_s) :] - base_ms
    below = np.nan_to_num(delay_ms, nan=np.inf) < RECOVERED_BELOW_MS
    hold = round(RECOVERED_FOR_S / series.interval_s)
    stays = np.convolve(below.astype(int), np.ones(hold, dtype=int), mode="valid") == hold
    first = np.flatnonzero(stays)
    return float(first[0]) * series.interval_s if first.size else None


def share_before_step(series: FlowSeries, step_s: float, over_s: float = 5.0) -> float | None:
    """Receive rate as a share of the capacity over the last seconds before a step: a flow that hardly used the link has
    nothing to drain. Nothing without a capacity.
    """
    if series.capacity_bps is None:
        return None
    end = round(step_s / series.interval_s)
    some = slice(end - round(over_s / series.interval_s), end)
    return float(series.receive_rate_bps[some].sum() / series.capacity_bps[some].sum())
