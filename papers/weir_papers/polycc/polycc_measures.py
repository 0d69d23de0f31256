"""Measures of single TCP flows, from their series."""

from __future__ import annotations

import numpy as np

from weir_cli.errors import InputError
from weir_eval.records.run_record import RunRecord
from weir_eval.records.series import FlowColumns

CONVERGED_WINDOW_S = 1.0
"""A little more than a cycle of BBR's gains, eight round trips, whose probes go beyond any limit near 1.25."""


def _series_of(record: RunRecord) -> tuple[float, FlowColumns]:
    """The sample interval in seconds and the series of the only flow."""
    path, flow = record.series, record.flows[0].series
    if path is None or flow is None:
        raise InputError(f"result of {record.scenario}: has no time series")
    return path["interval_s"], flow


def goodput_bps(record: RunRecord, from_s: float, to_s: float) -> float:
    """Mean rate, bit/s, at which payload came to the application in order, between two times."""
    interval_s, flow = _series_of(record)
    samples = np.array(flow["goodput_bps"], dtype=float)
    return float(np.mean(samples[round(from_s / interval_s) : round(to_s / interval_s)]))


def converged_after_s(record: RunRecord, step_s: float, limit_bytes: float) -> float | None:
    """Seconds from `step_s` to the beginning of the first CONVERGED_WINDOW_S from which on, in every such window, the
    mean of what is in flight (the most in each sample) is at most `limit_bytes`; nothing when it does not stay.
    """
    interval_s, flow = _series_of(record)
    in_flight = np.array(flow["most_bytes_in_flight"], dtype=float)
    window = round(CONVERGED_WINDOW_S / interval_s)
    means = np.convolve(in_flight[round(step_s / interval_s) :], np.full(window, 1 / window), mode="valid")
    beyond = np.flatnonzero(means > limit_bytes)
    first = int(beyond[-1]) + 1 if beyond.size else 0
    return first * interval_s if first < len(means) else None
