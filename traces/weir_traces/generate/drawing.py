"""Tools of the generators: time grids, correlated noise, and traces built from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.schema.capacity import MAX_RATE_BPS, CapacityTrace

Array = NDArray[np.float64]

_MOST_SAMPLES = 10_000_000


def require(duration_s: float, rate_bps: float) -> None:
    """Refuses a duration or a rate that no trace can have."""
    if not 0 < duration_s <= 1e6:
        raise InputError(f"duration of {duration_s:g} s: must be greater than 0 and at most 1,000,000 s")
    if not 0 < rate_bps <= MAX_RATE_BPS:
        raise InputError(f"rate of {rate_bps:g} bit/s: must be greater than 0 and at most 10 Gbps")


def grid(duration_s: float, interval_s: float) -> Array:
    """Times in [0, `duration_s`), `interval_s` apart: shape [n], in s."""
    if not (interval_s >= 0.001 and duration_s / interval_s <= _MOST_SAMPLES):
        raise InputError(
            f"interval_s of {interval_s:g} s: must be at least 0.001 s, and give at most 10 million samples"
        )
    return np.round(np.arange(max(1, int(np.ceil(duration_s / interval_s - 1e-9)))) * interval_s, 6)


def make_trace(times: Sequence[float] | Array, rates: Array, duration_s: float) -> CapacityTrace:
    """A trace of `rates` (bit/s) that start at `times`; rounds them, and clips them to the range of a trace."""
    within = np.asarray(times) < duration_s  # a time just before the end may have been rounded to it
    return CapacityTrace(np.asarray(times)[within], np.clip(np.round(rates), 0, MAX_RATE_BPS)[within], duration_s)


def with_mean(times: Array, factors: Array, rate_bps: float, duration_s: float) -> CapacityTrace:
    """A trace whose rates are proportional to `factors` and whose mean over time is `rate_bps`."""
    mean = np.average(factors, weights=np.diff(np.append(times, duration_s)))
    return make_trace(times, rate_bps * factors / mean, duration_s)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between `low` and `high`, whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def neighbour(rng: np.random.Generator, state: int, count: int) -> int:
    """A random neighbor of `state` among the states 0 to `count` - 1."""
    if state in (0, count - 1):
        return 1 if state == 0 else count - 2
    return state + (1 if rng.random() < 0.5 else -1)


def correlated(rng: np.random.Generator, count: int, correlation: float) -> Array:
    """A stationary Gauss-Markov sequence of unit variance, shape [count]."""
    rest, noise = np.sqrt(1 - correlation**2), rng.standard_normal(count)
    return np.array(list(accumulate(noise, lambda value, new: correlation * value + rest * new)))
