"""Capacity over time: a piecewise constant rate, optionally periodic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weir_cli.errors import InputError

MAX_RATE_BPS = 10e9
"""The highest capacity a scenario may have, in bit/s."""
MAX_TIME_S = 1e9
"""The latest time in a scenario; in ns, it fits the simulator's 64 bits."""


@dataclass(frozen=True, eq=False)
class CapacityTrace:
    """A piecewise constant capacity: ``rates_bps[i]`` holds from ``times_s[i]`` to ``times_s[i + 1]``.

    Args:
        times_s: shape [n], seconds, the first 0, strictly increasing, at most MAX_TIME_S.
        rates_bps: shape [n], bit/s, each in 0..10 Gbps.
        period_s: seconds after which the trace repeats (later than the last time), or None: the last rate
            holds forever.

    Raises:
        InputError: a value is out of these bounds.
    """

    times_s: NDArray[np.float64]
    rates_bps: NDArray[np.float64]
    period_s: float | None = None

    def __post_init__(self) -> None:
        times = np.array(self.times_s, dtype=np.float64)
        rates = np.array(self.rates_bps, dtype=np.float64)
        if times.ndim != 1 or times.shape != rates.shape or times.size == 0:
            raise InputError(f"capacity: {times.size} times and {rates.size} rates; give as many of each, at least one")
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(rates))):
            raise InputError("capacity: every time and rate must be a finite number")
        if times[0] != 0.0:
            raise InputError(f"capacity: the first time is {times[0]:g} s; shift the trace so that it starts at 0")
        if max(times.max(), self.period_s or 0) > MAX_TIME_S:
            raise InputError(f"capacity: times and the period must be at most {MAX_TIME_S:g} s")
        # Compare in whole ns, the simulator's unit.
        steps = np.diff(np.rint(times * 1e9))
        if np.any(steps <= 0):
            index = int(np.argmax(steps <= 0)) + 1
            raise InputError(f"capacity: time {index} ({times[index]:g} s) is not later than the one before it")
        if np.any(rates < 0) or np.any(rates > MAX_RATE_BPS):
            index = int(np.argmax((rates < 0) | (rates > MAX_RATE_BPS)))
            raise InputError(f"capacity: rate {index} is {rates[index]:g} bit/s; it must lie in 0..10 Gbps")
        if self.period_s is not None and not np.rint(self.period_s * 1e9) > np.rint(times[-1] * 1e9):
            raise InputError(f"capacity: the period ({self.period_s:g} s) must be later than the last time, by 1 ns")
        times.setflags(write=False)
        rates.setflags(write=False)
        object.__setattr__(self, "times_s", times)
        object.__setattr__(self, "rates_bps", rates)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CapacityTrace)
            and self.period_s == other.period_s
            and np.array_equal(self.times_s, other.times_s)
            and np.array_equal(self.rates_bps, other.rates_bps)
        )

    @classmethod
    def constant(cls, rate_bps: float) -> CapacityTrace:
        """One rate, in bit/s, forever."""
        return cls(np.zeros(1), np.array([rate_bps]))

    @classmethod
    def from_durations(cls, durations_s: ArrayLike, rates_bps: ArrayLike) -> CapacityTrace:
        """A periodic trace of rates (bit/s) that each hold for a duration (s, > 0); both of shape [n]."""
        # Round to a nanosecond: sums of binary fractions give periods like 60.88900000000021 s.
        ends = np.round(np.cumsum(np.asarray(durations_s, dtype=np.float64)), 9)
        times = np.concatenate(([0.0], ends[:-1]))
        return cls(times, np.asarray(rates_bps, dtype=np.float64), float(ends[-1]))

    def rate_at(self, time_s: ArrayLike) -> NDArray[np.float64]:
        """The rate in bit/s at each time (s, >= 0); a change applies from its own instant on."""
        time = self._within_period(np.asarray(time_s, dtype=np.float64))[1]
        return self.rates_bps[np.searchsorted(self.times_s, time, side="right") - 1]

    def integrate(self, start_s: ArrayLike, stop_s: ArrayLike) -> NDArray[np.float64]:
        """The bits that the capacity carries between two times (s, >= 0); exact."""
        return self._bits_until(np.asarray(stop_s, np.float64)) - self._bits_until(np.asarray(start_s, np.float64))

    def mean_bps(self, duration_s: float | None = None) -> float:
        """The mean rate in bit/s: over one period when there is one, else over ``duration_s``.

        Without either, only a constant trace has a mean.

        Raises:
            InputError: the trace has no period, changes, and no duration was given.
        """
        if self.period_s is not None:
            return float(self.integrate(0.0, self.period_s)) / self.period_s
        if self.rates_bps.size == 1:
            return float(self.rates_bps[0])
        if duration_s is None or not duration_s > 0:
            raise InputError("capacity: a trace without a period has no mean without a duration; give one")
        return float(self.integrate(0.0, duration_s)) / duration_s

    def starting_at(self, start_s: float) -> CapacityTrace:
        """Shifts a periodic trace so that its time ``start_s`` (s, >= 0) becomes 0.

        Raises:
            InputError: the trace has no period.
        """
        if self.period_s is None:
            raise InputError("capacity: a trace without a period has no other starting point")
        times_s, held = rotated(self.times_s, self.period_s, start_s)
        return CapacityTrace(times_s, self.rates_bps[held], self.period_s)

    def clipped(self, low_bps: float, high_bps: float) -> CapacityTrace:
        """The trace with every rate clipped to low..high, bit/s."""
        return CapacityTrace(self.times_s, np.clip(self.rates_bps, low_bps, high_bps), self.period_s)

    def _within_period(self, time_s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.period_s is None:
            return np.zeros_like(time_s), time_s
        periods = np.floor(time_s / self.period_s)
        rest = time_s - periods * self.period_s
        # The remainder is slightly negative if the quotient rounds up to a whole number.
        return periods, np.maximum(rest, 0.0)

    def _bits_until(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        at_change = np.concatenate(([0.0], np.cumsum(self.rates_bps[:-1] * np.diff(self.times_s))))
        periods, rest = self._within_period(time_s)
        index = np.searchsorted(self.times_s, rest, side="right") - 1
        bits = at_change[index] + self.rates_bps[index] * (rest - self.times_s[index])
        if self.period_s is None:
            return bits
        whole = at_change[-1] + self.rates_bps[-1] * (self.period_s - self.times_s[-1])
        return bits + periods * whole


def rotated(times_s: ArrayLike, period_s: float, start_s: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rotates a periodic series so that its value at ``start_s`` holds at 0.

    Args:
        times_s: start time of each value, s, rising, the first 0.
        period_s: period of the series, s, later than the last time.
        start_s: s, >= 0; taken modulo the period.

    Returns:
        The new times, s, the first 0, and for each the index of the value that holds from then on.
    """
    # Calculate in whole ns, the simulator's unit.
    period_ns, times_ns = round(period_s * 1e9), np.rint(np.asarray(times_s) * 1e9).astype(np.int64)
    start_ns = round(start_s * 1e9) % period_ns
    cut = int(np.searchsorted(times_ns, start_ns, side="right"))
    rotated_ns = np.concatenate(([0], times_ns[cut:] - start_ns, times_ns[:cut] + period_ns - start_ns))
    held = np.concatenate((np.arange(cut - 1, len(times_ns)), np.arange(cut)))
    kept = rotated_ns < period_ns
    return rotated_ns[kept] / 1e9, held[kept]
