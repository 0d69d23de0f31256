"""Determines whether a rate holds until the next row or since the previous row.

The rates of a log of bytes since the last row apply to the time before its rows; those of a list of changes, to
the time after them. With even steps both readings give the same trace. With uneven steps they differ: a row 13 s after
the previous one, at 820 bit/s, is a stall of 13 s, or 13 s at the previous rate. Then the file must show which:

1. A step is *doubtful* if it is longer than LONG_STEPS usual (median) steps and the rates at its ends differ by a
   factor above DIFFERENT_RATES.
2. Without doubtful steps the readings are alike if their means are within ALIKE_MEANS. A rate then holds until the next
   row, with a warning if more than MANY of the steps differ from the usual one by more than UNEVEN of it.
3. Doubtful steps are stalls if, in MOST_STEPS of them, the rate at one end is the lower one and brings over the step at
   most USUAL_AMOUNTS of a usual row, and if rates as low as these have a probability of at most LIKELY_CHANCE. If this
   end is the row after the step, rates hold before their rows; if it is the row before, after them.
4. Otherwise the user has to choose. The same is true if a step is longer than SHORTEST_BREAK_S and BREAK_STEPS usual
   ones: another recording may begin there, with a low rate while its download ramps up. Exempt is a stall up to
   LONGEST_STALL_S whose row brings some bytes, but at most USUAL_AMOUNTS of a usual row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_traces.formats.reading import RateHolds
from weir_traces.formats.tables.empty_bins import grid_step

LONG_STEPS = 3.0
DIFFERENT_RATES = 2.0
ALIKE_MEANS = 0.1
MOST_STEPS = 0.8
LIKELY_CHANCE = 0.01
STALL_BPS = 100e3
SHORTEST_BREAK_S = 120.0
LONGEST_STALL_S = 3600.0
BREAK_STEPS = 10.0
USUAL_AMOUNTS = 3.0
UNEVEN, MANY = 0.5, 0.1


@dataclass(frozen=True)
class Side:
    """The side on which rates hold; ``shown``: uneven steps determine it; ``warning``: they hardly matter."""

    holds: RateHolds
    shown: bool = False
    warning: str = ""


class _Steps:
    """The steps between rows, and the rates at their starts and ends; arrays of shape [n - 1]."""

    def __init__(self, times_s: NDArray[np.float64], rates_bps: NDArray[np.float64]) -> None:
        self.times_s, self.lengths_s, self.rates_bps = times_s, np.diff(times_s), rates_bps
        self.starts, self.ends = rates_bps[:-1], rates_bps[1:]
        self.usual_s = float(np.median(self.lengths_s))
        low, high = np.minimum(self.starts, self.ends), np.maximum(self.starts, self.ends)
        self.doubtful = np.flatnonzero((self.lengths_s > LONG_STEPS * self.usual_s) & (high > DIFFERENT_RATES * low))
        # The last rate has no next row, and the first no previous row: each holds for a usual step.
        length_s = float(np.sum(self.lengths_s)) + self.usual_s
        self.after_bps = float(np.sum(self.lengths_s * self.starts) + self.usual_s * rates_bps[-1]) / length_s
        self.before_bps = float(np.sum(self.lengths_s * self.ends) + self.usual_s * rates_bps[0]) / length_s

    def has_break(self) -> bool:
        """True if another recording may begin at one of the steps (rule 4)."""
        stalls = (self.ends > 0) & (self.ends * self.lengths_s <= self._usual_bits())
        stalls &= self.lengths_s <= LONGEST_STALL_S
        return bool(np.any((self.lengths_s > max(SHORTEST_BREAK_S, BREAK_STEPS * self.usual_s)) & ~stalls))

    def are_alike(self) -> bool:
        """True if both readings are about the same."""
        return self.doubtful.size == 0 and abs(self.after_bps - self.before_bps) <= ALIKE_MEANS * max(
            self.after_bps, self.before_bps
        )

    def are_uneven(self) -> bool:
        """True if many steps that have two rates differ from the usual one."""
        uneven = np.abs(self.lengths_s - self.usual_s) > UNEVEN * self.usual_s
        return bool(np.mean(uneven & (self.starts != self.ends)) > MANY)

    def shown(self) -> RateHolds | None:
        """The side that stalls indicate (rule 3); None if there is no indication."""
        before, after = self.ends[self.doubtful], self.starts[self.doubtful]
        if self._are_stalls(before, after):
            return "before"
        return "after" if self._are_stalls(after, before) else None

    def refusal(self, source: str, positions: list[str], why: str) -> InputError:
        """The error that describes the readings."""
        among = self.doubtful if self.doubtful.size and not self.has_break() else np.arange(self.lengths_s.size)
        longest = int(among[np.argmax(self.lengths_s[among])])
        perhaps = ", perhaps in another recording: then keep one in a file" if self.has_break() else ""
        return InputError(
            f"{source}: the steps between its rows are uneven, and {why}; {positions[longest + 1]} comes "
            f"{self.lengths_s[longest]:.4g} s after the one before it{perhaps}. Choose one:\n"
            f"  --rate-holds before: a rate belongs to the time before its row; mean {self.before_bps / 1e6:.4g} Mbps, "
            f"{self._stalled_s(self.ends):.4g} s below 100 kbps\n"
            f"  --rate-holds after: a rate holds until the next row; mean {self.after_bps / 1e6:.4g} Mbps, "
            f"{self._stalled_s(self.starts):.4g} s below 100 kbps\n{self._in_bins()}"
        )

    def _in_bins(self) -> str:
        """The reading as bins, of which some have no row."""
        step_s = grid_step(self.times_s) or self.usual_s
        length_s = float(np.sum(self.lengths_s)) + step_s
        empty_s = float(np.sum(np.where(self.lengths_s > 1.5 * step_s, self.lengths_s - step_s, 0.0)))
        mean_bps = float(np.sum(self.rates_bps)) * step_s / length_s
        low_s = empty_s + step_s * np.count_nonzero(self.rates_bps < STALL_BPS)
        return (
            f"  --rate-holds step: a rate holds for {step_s:.4g} s, and nothing arrives without a row; mean "
            f"{mean_bps / 1e6:.4g} Mbps, {low_s:.4g} s below 100 kbps"
        )

    def _usual_bits(self) -> float:
        return USUAL_AMOUNTS * float(np.median(self.rates_bps)) * self.usual_s

    def _stalled_s(self, rates_bps: NDArray[np.float64]) -> float:
        return float(np.sum(self.lengths_s[rates_bps < STALL_BPS]))

    def _are_stalls(self, held: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
        """True if rates at one end of doubtful steps are too low for chance; `others` are those at the other end."""
        usual = held * self.lengths_s[self.doubtful] <= self._usual_bits()
        if held.size == 0 or np.mean((held < others) & usual) < MOST_STEPS:
            return False
        shares = np.searchsorted(np.sort(self.rates_bps), held, side="right") / self.rates_bps.size
        # Ranks of random rates are uniform, so the sum of their negative logarithms is gamma-distributed.
        total = max(-float(np.sum(np.log(shares))), 1e-9)
        terms = [k * np.log(total) - total - lgamma(k + 1) for k in range(held.size)]
        return bool(np.sum(np.exp(terms)) <= LIKELY_CHANCE)


def side_of_rates(
    times_s: NDArray[np.float64], rates_bps: NDArray[np.float64], source: str, positions: list[str]
) -> Side:
    """The side on which rates hold.

    Args:
        times_s: [n], rising.
        rates_bps: [n], of the rows at ``positions``.
        source: the file.
        positions: for messages.

    Raises:
        InputError: the side matters and the file does not show it; the message has both readings.
    """
    if times_s.size < 3:
        return Side("after")
    steps = _Steps(times_s, rates_bps)
    if not steps.has_break():
        if steps.are_alike():
            warning = (
                f"steps are uneven, and a rate holds until the next row; mean {steps.after_bps / 1e6:.4g} Mbps, and "
                f"{steps.before_bps / 1e6:.4g} Mbps with --rate-holds before"
            )
            return Side("after", warning=warning if steps.are_uneven() else "")
        if holds := steps.shown():
            return Side(holds, shown=True)
    raise steps.refusal(source, positions, "the file does not show which step a rate belongs to")


def refusal(
    times_s: NDArray[np.float64], rates_bps: NDArray[np.float64], source: str, positions: list[str], why: str
) -> InputError:
    """The error that describes all readings of rows; ``why`` they are ambiguous. At least two rows."""
    return _Steps(times_s, rates_bps).refusal(source, positions, why)


def check_no_stalls(
    times_s: NDArray[np.float64], rates_bps: NDArray[np.float64], source: str, positions: list[str]
) -> None:
    """Refuses rows of a format in which rates hold until the next row if stalls indicate the opposite.

    Raises:
        InputError: they do; the message has both readings.
    """
    if times_s.size < 3:
        return
    steps = _Steps(times_s, rates_bps)
    if steps.shown() == "before":
        raise steps.refusal(source, positions, "its rates look measured over the time before their rows")
