"""Synthetic capacity of radio links: cellular, Wi-Fi, outages, handovers. See `generators`."""

from __future__ import annotations

import numpy as np

from weir_cli.errors import InputError
from weir_traces.generate.drawing import Array, correlated, grid, make_trace, neighbour, require, with_mean
from weir_traces.schema.capacity import CapacityTrace

MCS_SHARES = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9, 1.0)
"""Rates of the eight one-stream 802.11n modulation and coding schemes, as shares of the highest (IEEE 802.11n)."""

MCS_MINIMUM_SNR_DB = (2.0, 5.0, 9.0, 11.0, 15.0, 18.0, 20.0, 25.0)
"""Signal-to-noise ratio from which each of these schemes is usable; customary receiver thresholds."""


def scheme_shares(snr_db: Array) -> Array:
    """MCS_SHARES of the fastest scheme whose threshold the signal-to-noise ratio meets, else of the slowest."""
    scheme = np.clip(np.searchsorted(MCS_MINIMUM_SNR_DB, snr_db, side="right") - 1, 0, None)
    return np.array(MCS_SHARES)[scheme]


def cellular(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    dwell_s: float = 2.0,
    fade_probability: float = 0.05,
    variation: float = 0.3,
    interval_s: float = 0.2,
) -> CapacityTrace:
    """A cellular link: a Markov chain over five load levels and a deep fade, with fast variation within each.

    The levels are 0.25, 0.5, 1, 1.5 and 2.2 (before scaling); each move goes to a neighboring level, or enters a
    fade of 0.03, which ends twice as fast and returns to the previous level. Within a level, the rate is log-normal
    and correlated over about three samples. The trace is scaled so that its mean over time is ``rate_bps``.

    Args:
        rate_bps: mean over time.
        dwell_s: mean time in a level, 0.5..10 s.
        fade_probability: share of moves that enter a fade, 0..0.3.
        variation: standard deviation of the logarithm of the fast variation, 0..0.8.
        interval_s: length of a sample.
    """
    require(duration_s, rate_bps)
    if not (dwell_s > 0 and 0 <= fade_probability <= 1 and variation >= 0):
        raise InputError("cellular: needs dwell_s > 0, 0 <= fade_probability <= 1 and variation >= 0")
    loads = (0.25, 0.5, 1.0, 1.5, 2.2)
    times = grid(duration_s, interval_s)
    move = 1 - np.exp(-interval_s / dwell_s)
    state, fading = int(rng.integers(len(loads))), False
    factors = np.empty(times.size)
    for index in range(times.size):
        if rng.random() < (min(1.0, 2 * move) if fading else move):
            if fading:
                fading = False
            elif rng.random() < fade_probability:
                fading = True
            else:
                state = neighbour(rng, state, len(loads))
        factors[index] = 0.03 if fading else loads[state]
    factors *= np.exp(variation * correlated(rng, times.size, 0.7))
    return with_mean(times, factors, rate_bps, duration_s)


def wifi(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    shadowing_db: float = 5.0,
    snr_db: float = 20.0,
    coherence_s: float = 1.5,
    contention: float = 0.3,
    interval_s: float = 0.1,
) -> CapacityTrace:
    """A Wi-Fi link: log-normal shadowing chooses the modulation and coding scheme, other stations take air time.

    The shadowing is Gaussian in decibels with an exponential autocorrelation (Gudmundson's model in time); the scheme
    is the fastest whose threshold the signal-to-noise ratio meets, else the slowest. The flow's share of air time is
    1 minus a uniform share of at most ``contention``. The trace is scaled so that its mean over time is ``rate_bps``.

    Args:
        rate_bps: mean over time.
        shadowing_db: standard deviation, 0..10 dB.
        snr_db: median signal-to-noise ratio, 5..35 dB.
        coherence_s: time in which the correlation of the shadowing falls to 1/e, 0.2..10 s.
        contention: largest share of air time that others take, 0..0.9.
        interval_s: length of a sample.
    """
    require(duration_s, rate_bps)
    if not (shadowing_db >= 0 and coherence_s > 0 and 0 <= contention < 1):
        raise InputError("wifi: needs shadowing_db >= 0, coherence_s > 0 and 0 <= contention < 1")
    times = grid(duration_s, interval_s)
    snr = snr_db + shadowing_db * correlated(rng, times.size, float(np.exp(-interval_s / coherence_s)))
    factors = scheme_shares(snr) * (1 - contention * rng.random(times.size))
    return with_mean(times, factors, rate_bps, duration_s)


def outage(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    gap_mean_s: float = 15.0,
    shortest_s: float = 0.5,
    longest_s: float = 3.0,
) -> CapacityTrace:
    """``rate_bps`` with at least one outage (no capacity), and none in the first or last tenth of the duration.

    Args:
        rate_bps: the rate outside outages.
        gap_mean_s: mean (exponential) time from one outage to the next, 2..60 s.
        shortest_s: shortest outage, 0.1..2 s.
        longest_s: longest outage, up to 15 s.
    """
    require(duration_s, rate_bps)
    if not (gap_mean_s >= 0.1 and 0 < shortest_s <= longest_s):
        raise InputError("outage: needs gap_mean_s >= 0.1 and 0 < shortest_s <= longest_s")
    first, last = 0.1 * duration_s, 0.9 * duration_s
    times, rates = [0.0], [rate_bps]
    start = first + min(rng.exponential(gap_mean_s), 0.5 * duration_s)
    while start < last:
        stop = min(start + rng.uniform(shortest_s, longest_s), last)
        # Round to milliseconds; the shortest outage is 1 ms.
        begin, end = round(start, 3), max(round(stop, 3), round(start, 3) + 0.001)
        times += [begin, end]
        rates += [0.0, rate_bps]
        start = end + max(0.1, rng.exponential(gap_mean_s))
    return make_trace(times, np.array(rates), duration_s)


def handover(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    gap_s: float = 15.0,
    fade_s: float = 3.0,
    edge: float = 0.3,
    interruption_s: float = 0.06,
    failure_probability: float = 0.15,
    interval_s: float = 0.1,
) -> CapacityTrace:
    """LTE handovers: the rate falls towards the cell's edge, drops to 0, and continues at the level of another cell.

    Args:
        rate_bps: median level of a cell; the levels are uniform between 0.5 and 1.5 times it.
        gap_s: mean time between handovers, 5..60 s, varied by up to half of it. At least one is within the duration.
        fade_s: time in which the rate falls from the level to ``edge`` times it, 0.5..10 s, less than ``gap_s`` / 2.
        edge: 0.05..1.
        interruption_s: time without capacity in a successful handover, 0.03..0.1 s.
        failure_probability: share of handovers that fail and are interrupted for 0.5 to 2 s instead.
        interval_s: step of the fade.
    """
    require(duration_s, rate_bps)
    if not (
        interval_s >= 0.001
        and 0 < fade_s < gap_s / 2
        and 0 < edge <= 1
        and interruption_s > 0
        and 0 <= failure_probability <= 1
    ):
        raise InputError(
            "handover: needs 0 < fade_s < gap_s / 2, 0 < edge <= 1, interruption_s > 0, interval_s >= 0.001 and "
            "0 <= failure_probability <= 1"
        )
    level = rate_bps * rng.uniform(0.5, 1.5)
    times, rates = [0.0], [level]
    at = min(gap_s * rng.uniform(0.5, 1.5), 0.6 * duration_s)
    while at < duration_s:
        fade_start = max(at - fade_s, times[-1] + interval_s)
        steps = max(1, int((at - fade_start) / interval_s))
        for index in range(steps):
            times.append(round(fade_start + index * interval_s, 3))
            rates.append(level * (1 - (1 - edge) * (index + 1) / steps))
        failed = rng.random() < failure_probability
        stop = at + (rng.uniform(0.5, 2.0) if failed else interruption_s)
        level = rate_bps * rng.uniform(0.5, 1.5)
        times += [round(at, 3), round(stop, 3)]
        rates += [0.0, level]
        at = stop + gap_s * rng.uniform(0.5, 1.5)
    keep = sum(time < duration_s for time in times)
    return make_trace(times[:keep], np.array(rates[:keep]), duration_s)
