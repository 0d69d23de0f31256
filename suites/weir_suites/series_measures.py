"""Metrics from the time series (samples of 100 ms) of the flow under test, the record's first: start, queue, dip,
recovery, and the share of others. The time of an event that never happens is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from weir_eval.measures.fairness import settled_rates_bps
from weir_eval.measures.flow_series import FlowSeries, read_flow_series
from weir_eval.records.run_record import RunRecord
from weir_traces.generate.families.call import AUDIO_ONLY_S

SeriesMetric = Callable[[RunRecord], float | None]

START_SHARE = 0.9
START_WINDOW_S = 0.3
DRAINED_BELOW_MS = 50.0
DRAINED_FOR_S = 1.0
SHARE_OVER_S = 5.0
# Averages out key frames and single frames.
WINDOW_S = 1.0
BEFORE_S = 10.0
FIRST_S = 5.0
RECOVERED_SHARE = 0.8
# A link that is busy draining its queue has not recovered; nor do the last packets sent at the previous rate count.
RECOVERED_QUEUE_MS = 100.0
RECOVERED_FOR_S = 3.0


def of_series(function: Callable[[FlowSeries, float], float | None]) -> SeriesMetric:
    """Makes a metric of a record from a function of its series and base delay in ms; None without series."""

    def metric(record: RunRecord) -> float | None:
        series = read_flow_series(record, record.flows[0])
        return None if series is None else function(series, record.flows[0].base_one_way_delay_ms)

    return metric


def start_time_s(series: FlowSeries, rate_bps: float) -> float:
    """Seconds from the flow's start to the end of the first START_WINDOW_S whose mean receive rate is START_SHARE of
    `rate_bps` or more. The window prevents a burst of a few packets from counting as a rate.
    """
    received = series.receive_rate_bps[series.active]
    window = round(START_WINDOW_S / series.interval_s)
    means = np.convolve(received, np.full(window, 1 / window), mode="valid")
    reached = np.flatnonzero(means >= START_SHARE * rate_bps)
    return float(reached[0] + window) * series.interval_s if reached.size else math.inf


def drain_time_s(series: FlowSeries, base_ms: float, step_s: float) -> float:
    """Seconds from `step_s` to the beginning of the first DRAINED_FOR_S in which the queueing delay of arriving packets
    stays below DRAINED_BELOW_MS. A sample without arrivals is not below.
    """
    delay_ms = series.one_way_delay_mean_ms[round(step_s / series.interval_s) :] - base_ms
    below = np.nan_to_num(delay_ms, nan=np.inf) < DRAINED_BELOW_MS
    hold = round(DRAINED_FOR_S / series.interval_s)
    first = np.flatnonzero(np.convolve(below.astype(int), np.ones(hold, dtype=int), mode="valid") == hold)
    return float(first[0]) * series.interval_s if first.size else math.inf


def share_before_step(series: FlowSeries, step_s: float) -> float | None:
    """Receive rate as a share of the capacity over the last SHARE_OVER_S before a step: a flow that hardly uses the
    link has no queue to drain. None for an unlimited link.
    """
    if series.capacity_bps is None:
        return None
    end = round(step_s / series.interval_s)
    some = slice(end - round(SHARE_OVER_S / series.interval_s), end)
    return float(series.receive_rate_bps[some].sum() / series.capacity_bps[some].sum())


def time_below_s(series: FlowSeries, step_s: float, part: float, *, longest: bool = False) -> float | None:
    """Seconds from `step_s` to the flow's end in which its receive rate is below `part` of the rate before: the total,
    or the longest interval. None if nothing arrived in the BEFORE_S before.

    A rate is the mean over WINDOW_S, and represents the middle of that time.
    """
    interval_s = series.interval_s
    received = series.receive_rate_bps[: series.active.stop]
    step, before = round(step_s / interval_s), round(BEFORE_S / interval_s)
    reference = float(received[step - before : step].mean()) if step >= before else 0.0
    if reference <= 0:
        return None
    window = round(WINDOW_S / interval_s)
    below = np.convolve(received[step:], np.full(window, 1 / window), mode="valid") / reference < part
    return float(_longest(below) if longest else np.count_nonzero(below)) * interval_s


def recovery_s(series: FlowSeries, fault_begins_s: float, fault_ends_s: float, base_ms: float) -> float | None:
    """Seconds from the end of a fault to the first RECOVERED_FOR_S in which the flow has recovered: in each WINDOW_S of
    them it receives RECOVERED_SHARE of its mean rate in the BEFORE_S before the fault, and the mean queueing delay,
    beyond `base_ms`, is at most RECOVERED_QUEUE_MS.

    None if nothing arrived before the fault.
    """
    interval_s = series.interval_s
    begin, end, window = (round(time_s / interval_s) for time_s in (fault_begins_s, fault_ends_s, WINDOW_S))
    before = series.receive_rate_bps[begin - round(BEFORE_S / interval_s) : begin].mean()
    if before <= 0:
        return None
    after = slice(end, series.active.stop)
    received = sliding_window_view(series.receive_rate_bps[after], window).mean(axis=1) >= RECOVERED_SHARE * before
    # The delay is unknown if nothing arrives; then the receive rate shows that the flow has not recovered.
    delays_ms = np.nan_to_num(series.one_way_delay_mean_ms[after], nan=base_ms)
    quick = sliding_window_view(delays_ms, window).mean(axis=1) - base_ms <= RECOVERED_QUEUE_MS
    seconds = round(RECOVERED_FOR_S / interval_s) - window + 1
    found = np.flatnonzero(sliding_window_view(received & quick, seconds).all(axis=1))
    return float(found[0]) * interval_s if found.size else math.inf


def largest_queue_ms(series: FlowSeries, base_ms: float) -> float | None:
    """The largest mean queueing delay of a sample in the flow's first FIRST_S; None if nothing arrived."""
    first = series.active.start
    delay_ms = series.one_way_delay_mean_ms[first : first + round(FIRST_S / series.interval_s)]
    return None if np.isnan(delay_ms).all() else max(0.0, float(np.nanmax(delay_ms)) - base_ms)


def share_of_half_link(kind: str) -> SeriesMetric:
    """A metric: the settled rate of the flow of a kind as a share of half the link."""

    def metric(record: RunRecord) -> float | None:
        rates, capacity_bps = settled_rates_bps(record), record.path.mean_capacity_bps
        own = [rates[flow.id] for flow in record.flows if flow.kind == kind and flow.id in rates]
        return own[0] / (capacity_bps / 2) if own and capacity_bps else None

    return metric


def rate_feedback_per_second(record: RunRecord) -> float | None:
    """Feedback messages (REMB or transport feedback) per second while only audio arrives."""
    sent = (record.flows[0].series or {}).get("rate_feedback_sent")
    if sent is None or record.series is None:
        return None
    first, last = (round(time_s / record.series["interval_s"]) for time_s in AUDIO_ONLY_S)
    return sum(value or 0 for value in sent[first:last]) / (AUDIO_ONLY_S[1] - AUDIO_ONLY_S[0])


def _longest(wanted: np.ndarray) -> int:
    """Length of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], wanted.astype(int), [0]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))
