"""Measures of single TCP flows, from their series, and what a few seeds say of a mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.errors import InputError
from weir.qoe_eval.records import FlowColumns, RunRecord

CONVERGED_WINDOW_S = 1.0
"""A little more than a cycle of BBR's gains, eight round trips, whose probes go beyond any limit near 1.25."""


@dataclass(frozen=True)
class Mean:
    """Mean of `n` runs and half of its 95 % interval by Student's t; no interval of fewer than two."""

    mean: float
    half_interval: float | None
    n: int

    def show(self, decimals: int, scale: float = 1.0) -> str:
        """For tables: 1.82 ± 0.10."""
        text = f"{self.mean * scale:.{decimals}f}"
        return text if self.half_interval is None else f"{text} ± {self.half_interval * scale:.{decimals}f}"


def mean_of(values: Sequence[float]) -> Mean:
    """The mean over seeds; at least one value."""
    # Takes seconds to import.
    from scipy import stats

    n = len(values)
    if n < 2:
        return Mean(float(values[0]), None, n)
    half = stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return Mean(float(np.mean(values)), float(half), n)


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
