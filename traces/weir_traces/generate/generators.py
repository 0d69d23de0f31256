"""Synthetic capacity, seeded: simple shapes, and the table of all generators by name.

Each takes a numpy ``Generator``, a duration in seconds (> 0) and a rate in bit/s (> 0), and returns a trace whose
period is the duration; the same generator state gives the same trace. Rates are whole bit/s. Each generator documents
the meaning of ``rate_bps`` and its other parameters with their usual ranges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir_cli.errors import InputError
from weir_traces.generate.drawing import Array, grid, log_uniform, make_trace, require
from weir_traces.generate.radio import cellular, handover, outage, wifi
from weir_traces.generate.wifi_mobility import wifi_mobility
from weir_traces.schema.capacity import CapacityTrace


def constant(rng: np.random.Generator, duration_s: float, rate_bps: float) -> CapacityTrace:
    """A constant ``rate_bps``; nothing is random."""
    require(duration_s, rate_bps)
    return CapacityTrace(np.zeros(1), np.array([np.round(rate_bps)]), duration_s)


def step(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    low: float = 0.4,
    high: float = 2.0,
    shortest_s: float = 5.0,
    longest_s: float = 15.0,
) -> CapacityTrace:
    """Levels log-uniform between ``low`` and ``high`` times ``rate_bps``, held for a uniform time.

    Consecutive levels differ by a factor of at least 1.25, so that each step is noticeable.

    Args:
        rate_bps: the rate that the factors multiply.
        low: smallest factor, 0.05..1.
        high: largest factor, 1..10, at least 1.6 times ``low``.
        shortest_s: shortest hold, 0.4..10 s.
        longest_s: longest hold, up to 60 s.
    """
    require(duration_s, rate_bps)
    if not (low > 0 and high >= 1.6 * low and 0 < shortest_s <= longest_s):
        raise InputError("step: needs 0 < low, high >= 1.6 low, and 0 < shortest_s <= longest_s")
    times, factors = [0.0], [log_uniform(rng, low, high)]
    while (start := times[-1] + rng.uniform(shortest_s, longest_s)) < duration_s:
        factor = log_uniform(rng, low, high)
        while 0.8 < factor / factors[-1] < 1.25:
            factor = log_uniform(rng, low, high)
        times.append(round(start, 3))
        factors.append(factor)
    return make_trace(times, rate_bps * np.array(factors), duration_s)


def ramp(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    low: float = 0.4,
    high: float = 1.6,
    cycle_s: float = 30.0,
    interval_s: float = 0.5,
) -> CapacityTrace:
    """A triangle between ``low`` and ``high`` times ``rate_bps``: up and down within ``cycle_s`` (5..120 s).

    It begins at a random phase and moves in steps of ``interval_s``.
    """
    if not (0 <= low <= high and cycle_s > 0):
        raise InputError("ramp: needs 0 <= low <= high and cycle_s > 0")
    times, phase = _cycles(rng, duration_s, rate_bps, cycle_s, interval_s)
    return make_trace(times, rate_bps * (low + (high - low) * (1 - np.abs(2 * phase - 1))), duration_s)


def sawtooth(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    low: float = 0.4,
    high: float = 1.6,
    tooth_s: float = 15.0,
    interval_s: float = 0.5,
) -> CapacityTrace:
    """Rises evenly from ``low`` to ``high`` times ``rate_bps`` within ``tooth_s`` (2..60 s), then falls at once.

    It begins at a random phase and moves in steps of ``interval_s``.
    """
    if not (0 <= low <= high and tooth_s > 0):
        raise InputError("sawtooth: needs 0 <= low <= high and tooth_s > 0")
    times, phase = _cycles(rng, duration_s, rate_bps, tooth_s, interval_s)
    return make_trace(times, rate_bps * (low + (high - low) * phase), duration_s)


def _cycles(
    rng: np.random.Generator, duration_s: float, rate_bps: float, cycle_s: float, interval_s: float
) -> tuple[Array, Array]:
    """Times, and the phase of the cycle at each (0..1); the first phase is random."""
    require(duration_s, rate_bps)
    times = grid(duration_s, interval_s)
    return times, (times / cycle_s + rng.random()) % 1.0


GENERATORS: dict[str, Callable[..., CapacityTrace]] = {
    "constant": constant,
    "step": step,
    "ramp": ramp,
    "sawtooth": sawtooth,
    "cellular": cellular,
    "wifi": wifi,
    "wifi_mobility": wifi_mobility,
    "outage": outage,
    "handover": handover,
}
"""All generators by name; each takes (rng, duration_s, rate_bps) and keyword parameters with defaults."""
