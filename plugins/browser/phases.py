"""Chromium sends over a link of 1.5, 0.6 and 1.5 Mbps, 20 s each: a receiver has it filled, without a queue.

    python plugins/browser/phases.py PEER --out DIR

Exit status: 0 all goals reached; 1 one was missed, or there was no call; 3 something is missing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from calls import Call, make_calls, parser

from weir.errors import InputError
from weir.traces.formats.plain_trace import scenario_from_capacity
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.scenario import Scenario

RATES_BPS = (1_500_000, 600_000, 1_500_000)
PHASE_S = 20.0
SETTLING_S = 5.0
"""Left out at the beginning of a phase."""
LEAST_SHARE = 0.9
"""Of what the link could carry."""
LARGEST_MEDIAN_QUEUE_MS = 40.0
LONGEST_TIME_TO_SHARE_S = 3.0
_MAX_BITRATE = "2.5M"


def scenario() -> Scenario:
    """The three phases, 25 ms each way, behind a queue of 300 ms."""
    times_s = PHASE_S * np.arange(len(RATES_BPS), dtype=np.float64)
    capacity = CapacityTrace(times_s, np.array(RATES_BPS, dtype=np.float64))
    return scenario_from_capacity(capacity, "phases", duration_s=PHASE_S * len(RATES_BPS))


def goals(call: Call) -> Iterator[tuple[str, bool]]:
    """What was measured of each phase, beside what is asked in brackets; and whether that was reached."""
    for number, rate_bps in enumerate(RATES_BPS):
        begin_s = PHASE_S * number
        settled = call.between(begin_s + SETTLING_S, begin_s + PHASE_S)
        share = settled.utilisation or 0.0
        delay_ms = settled.one_way_delay_percentile_ms(50)
        queue_ms = float("inf") if delay_ms is None else delay_ms - call.record.path.one_way_delay_ms
        reached = share >= LEAST_SHARE and queue_ms <= LARGEST_MEDIAN_QUEUE_MS
        shown = f"delivered {share:.1%} ({LEAST_SHARE:.0%}), median queue {queue_ms:.0f} ms"
        shown += f" ({LARGEST_MEDIAN_QUEUE_MS:g})"
        if number == 0 or rate_bps > RATES_BPS[number - 1]:
            # After a fall the queue that is left fills the link by itself.
            needed_s = time_to_share_s(call, begin_s)
            reached &= needed_s <= LONGEST_TIME_TO_SHARE_S
            shown += f", {LEAST_SHARE:.0%} after {needed_s:.1f} s ({LONGEST_TIME_TO_SHARE_S:g})"
        yield f"{rate_bps / 1e6:g} Mbps: {shown}", reached


def time_to_share_s(call: Call, begin_s: float) -> float:
    """From the beginning of a phase to that of the first second in which LEAST_SHARE was delivered; never: PHASE_S."""
    for tenth in range(round(10 * (PHASE_S - 1))):
        start_s = begin_s + tenth / 10
        if (call.between(start_s, start_s + 1).utilisation or 0.0) >= LEAST_SHARE:
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
    found = list(goals(call))
    for shown, reached in found:
        print(f"{shown}: {'yes' if reached else 'NO'}")
    return 0 if all(reached for _, reached in found) else 1


if __name__ == "__main__":
    sys.exit(main())
