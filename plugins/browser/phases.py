"""Chromium sends over a link of 1.5, 0.6 and 1.5 Mbps, 20 s each: a receiver has it filled, with a short queue.

    python plugins/browser/phases.py PEER --out DIR

Exit status: 0 all phases are within the limits of a receiver that works; 1 one is not, or there was no call; 3
something is missing. A missed goal is reported.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calls import Call, make_calls, parser
from weir_cli.errors import InputError
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Scenario

RATES_BPS = (1_500_000, 600_000, 1_500_000)
PHASE_S = 20.0
SETTLING_S = 5.0
"""Left out at the beginning of a phase."""


@dataclass(frozen=True)
class Limits:
    """Limits of a phase after its first SETTLING_S."""

    least_share: float
    """Share of the link's capacity."""
    largest_median_queue_ms: float
    longest_time_to_share_s: float


GOALS = Limits(0.9, 40.0, 3.0)
WORKS = Limits(0.65, 60.0, 6.0)
"""No receiver reaches all goals, weir-peer's included: see README.md."""
_MAX_BITRATE = "2.5M"


def scenario() -> Scenario:
    """The three phases, 25 ms each way, behind a queue of 300 ms."""
    times_s = PHASE_S * np.arange(len(RATES_BPS), dtype=np.float64)
    capacity = CapacityTrace(times_s, np.array(RATES_BPS, dtype=np.float64))
    return scenario_from_capacity(capacity, "phases", duration_s=PHASE_S * len(RATES_BPS))


def phases(call: Call) -> Iterator[tuple[str, bool, bool]]:
    """Measured values of each phase, with the goals in brackets; whether it reaches GOALS, and WORKS."""
    for number, rate_bps in enumerate(RATES_BPS):
        begin_s = PHASE_S * number
        settled = call.between(begin_s + SETTLING_S, begin_s + PHASE_S)
        share = settled.utilisation or 0.0
        delay_ms = settled.one_way_delay_percentile_ms(50)
        queue_ms = float("inf") if delay_ms is None else delay_ms - call.record.path.one_way_delay_ms
        # After a fall the queue that is left fills the link by itself.
        fell = number > 0 and rate_bps < RATES_BPS[number - 1]
        shown = f"delivered {share:.1%} ({GOALS.least_share:.0%}), median queue {queue_ms:.0f} ms"
        shown += f" ({GOALS.largest_median_queue_ms:g})"
        if not fell:
            needed_s = time_to_share_s(call, begin_s, GOALS.least_share)
            shown += f", {GOALS.least_share:.0%} after {needed_s:.1f} s ({GOALS.longest_time_to_share_s:g})"
        goals, works = (
            share >= limits.least_share
            and queue_ms <= limits.largest_median_queue_ms
            and (fell or time_to_share_s(call, begin_s, limits.least_share) <= limits.longest_time_to_share_s)
            for limits in (GOALS, WORKS)
        )
        yield f"{rate_bps / 1e6:g} Mbps: {shown}", goals, works


def time_to_share_s(call: Call, begin_s: float, share: float) -> float:
    """From the beginning of a phase to that of the first second in which the share was delivered; never: PHASE_S."""
    for tenth in range(round(10 * (PHASE_S - 1))):
        start_s = begin_s + tenth / 10
        if (call.between(start_s, start_s + 1).utilisation or 0.0) >= share:
            return tenth / 10
    return PHASE_S


def main() -> int:
    """The exit status."""
    arguments = parser(__doc__).parse_args()
    try:
        (call,) = make_calls(scenario(), arguments.peer, arguments.out, "--max-bitrate", _MAX_BITRATE)
    except InputError as error:
        print(f"phases.py: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    found = list(phases(call))
    for shown, goals, works in found:
        print(f"{shown}: {'yes' if goals else 'goal missed' if works else 'NO'}")
    return 0 if all(works for _, _, works in found) else 1


if __name__ == "__main__":
    sys.exit(main())
