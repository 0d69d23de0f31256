"""On which side of its row a rate holds: until the next row, or since the row before it.

A log of what arrived since the last row has rates of the time before its rows; a list of changes has rates of the time
after them. With even steps both are the same trace. With uneven steps they are not: a row 13 s after the one before it,
at 820 bit/s, is a stall of 13 s, or 13 s at the rate before it. Then the file must show which:

1. A step is *doubtful* if it is longer than LONG_STEPS usual ones and the rates at its ends differ by DIFFERENT_RATES.
2. Without doubtful steps the readings are alike, as long as their means are (within ALIKE_MEANS). A rate then holds
   until the next row, with a warning if many steps differ from the usual one by half of it.
3. Doubtful steps are stalls if one of their ends has the lower rate in MOST_STEPS of them, which over the step is no
   more than a usual row brings, and these rates are so low among those of all rows that chance does it in at most
   LIKELY_CHANCE. At the row after a step, rates hold before their rows; at the row before it, after them.
4. Else a user has to choose, and always where a step is longer than SHORTEST_BREAK_S and BREAK_STEPS usual ones:
   perhaps another recording begins, with a rate that is low as long as its download ramps up. A row that brings some
   bytes, but no more than usual rows do, shows a stall, up to LONGEST_STALL_S.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from weir.errors import InputError
from weir.traces.formats.reading import RateHolds

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
    """Where rates hold; ``shown``: uneven steps matter, and show it. ``warning``: they are, and hardly matter."""

    holds: RateHolds
    shown: bool = False
    warning: str = ""


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
        InputError: it matters and the file does not show it; the message has both readings.
    """
    steps = np.diff(times_s)
    if steps.size < 2:
        return Side("after")
    starts, ends = rates_bps[:-1], rates_bps[1:]
    usual_s, longest = float(np.median(steps)), int(np.argmax(steps))
    usual_bits = USUAL_AMOUNTS * float(np.median(rates_bps)) * usual_s
    stalls = (steps <= LONGEST_STALL_S) & (ends > 0) & (ends * steps <= usual_bits)
    breaks = bool(np.any((steps > max(SHORTEST_BREAK_S, BREAK_STEPS * usual_s)) & ~stalls))
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    doubtful = np.flatnonzero((steps > LONG_STEPS * usual_s) & (high > DIFFERENT_RATES * low))
    # The last rate has no row after it and the first none before it: each holds for a usual step.
    length_s = float(np.sum(steps)) + usual_s
    after_bps = float(np.sum(steps * starts) + usual_s * rates_bps[-1]) / length_s
    before_bps = float(np.sum(steps * ends) + usual_s * rates_bps[0]) / length_s
    alike = abs(after_bps - before_bps) <= ALIKE_MEANS * max(after_bps, before_bps)
    if not breaks:
        if doubtful.size == 0 and alike:
            uneven = (np.abs(steps - usual_s) > UNEVEN * usual_s) & (starts != ends)
            warning = (
                f"steps are uneven, and a rate holds until the next row; mean {after_bps / 1e6:.4g} Mbps, and "
                f"{before_bps / 1e6:.4g} Mbps with --rate-holds before"
            )
            return Side("after", warning=warning if np.mean(uneven) > MANY else "")
        before, after = ends[doubtful], starts[doubtful]
        if _are_stalls(before, after, steps[doubtful], rates_bps, usual_bits):
            return Side("before", shown=True)
        if _are_stalls(after, before, steps[doubtful], rates_bps, usual_bits):
            return Side("after", shown=True)
        if doubtful.size:
            longest = int(doubtful[np.argmax(steps[doubtful])])
    perhaps = ", perhaps in another recording: then keep one in a file" if breaks else ""
    raise InputError(
        f"{source}: the steps between its rows are uneven, and the file does not show which step a rate belongs to; "
        f"{positions[longest + 1]} comes {steps[longest]:.4g} s after the one before it{perhaps}. Choose one:\n"
        f"  --rate-holds before: a rate belongs to the time before its row; mean {before_bps / 1e6:.4g} Mbps, "
        f"{_stalled_s(steps, ends):.4g} s below 100 kbps\n"
        f"  --rate-holds after: a rate holds until the next row; mean {after_bps / 1e6:.4g} Mbps, "
        f"{_stalled_s(steps, starts):.4g} s below 100 kbps"
    )


def _are_stalls(
    held: NDArray[np.float64],
    others: NDArray[np.float64],
    steps_s: NDArray[np.float64],
    rates_bps: NDArray[np.float64],
    usual_bits: float,
) -> bool:
    """True if the rates at one end of doubtful steps are too low for chance; `others` are those at the other end."""
    if held.size == 0 or np.mean((held < others) & (held * steps_s <= usual_bits)) < MOST_STEPS:
        return False
    shares = np.searchsorted(np.sort(rates_bps), held, side="right") / rates_bps.size
    # Shares by chance are uniform, so that this sum is a gamma variable.
    total = max(-float(np.sum(np.log(shares))), 1e-9)
    terms = [k * np.log(total) - total - lgamma(k + 1) for k in range(held.size)]
    return bool(np.sum(np.exp(terms)) <= LIKELY_CHANCE)


def _stalled_s(steps: NDArray[np.float64], rates_bps: NDArray[np.float64]) -> float:
    return float(np.sum(steps[rates_bps < STALL_BPS]))
