"""Chromium sends to a receiver over a link of 1.5, 0.6 and 1.5 Mbps, and must fill it without a queue.

    python plugins/browser/phases.py --out DIR -- RECEIVER...

RECEIVER is a program that speaks weir-peer's messages, JSON lines on its standard input and output: `ready`; `offer`
and `candidate` in, `answer`, `candidate` and `state` out; `stop` ends it.

Exit status: 0 all goals reached, 1 not, 3 something is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from call import CallFailed, CallPlan, make_call

from weir.errors import MissingComponent
from weir.qoe_eval.call.logs.link_log import LinkLog
from weir.traces.schema.scenario import Scenario

PHASE_S = 20.0
RATES_BPS = (1.5e6, 0.6e6, 1.5e6)
SETTLING_S = 5.0
"""Of each phase, left out."""
LEAST_DELIVERED = 0.9
LARGEST_MEDIAN_QUEUE_MS = 40.0
LONGEST_START_S = 3.0
_START_WINDOW = 5
MAX_BITRATE_BPS = 2_500_000


def scenario() -> Scenario:
    """25 ms each way, a queue of 300 ms."""
    capacity = {"times_s": [PHASE_S * i for i in range(len(RATES_BPS))], "rates_bps": list(RATES_BPS)}
    return Scenario.make(
        name="phases",
        description="1.5, 0.6 and 1.5 Mbps",
        provenance={"source": "plugins/browser", "licence": "BSD-3-Clause"},
        duration_s=PHASE_S * len(RATES_BPS),
        forward={"capacity": capacity, "one_way_delay_ms": 25.0, "queue": {"milliseconds": 300.0}},
        flows=[{"kind": "rtp", "media": {"kind": "video", "max_rate_bps": MAX_BITRATE_BPS}}],
    )


def goals(log: LinkLog, started_us: float) -> Iterator[tuple[str, float, float, bool]]:
    """What is asked, what was measured, what is the goal, and whether it was reached; of one call."""
    for phase, rate_bps in enumerate(RATES_BPS):
        start_us = started_us + 1e6 * PHASE_S * phase
        part = log.between(start_us + 1e6 * SETTLING_S, start_us + 1e6 * PHASE_S)
        name = f"phase {phase + 1}, {rate_bps / 1e6:g} Mbps"
        delivered = part.utilisation or 0.0
        yield f"{name}: delivered", delivered, LEAST_DELIVERED, delivered >= LEAST_DELIVERED
        queue_ms = float(np.nanmedian(part.queueing_delay_ms))
        yield f"{name}: median queue, ms", queue_ms, LARGEST_MEDIAN_QUEUE_MS, queue_ms <= LARGEST_MEDIAN_QUEUE_MS
    start_s = seconds_to(log, LEAST_DELIVERED * RATES_BPS[0])
    yield "seconds to 90 % of the first", start_s, LONGEST_START_S, start_s <= LONGEST_START_S


def seconds_to(log: LinkLog, rate_bps: float) -> float:
    """From the first packet to the end of the first half second in which that much arrived; infinite: never."""
    first = int(np.flatnonzero(log.packets > 0)[0]) if np.any(log.packets > 0) else len(log.packets)
    rates_bps = 8 * np.nan_to_num(log.bytes) / log.interval_s
    for end in range(first + _START_WINDOW, len(rates_bps) + 1):
        if rates_bps[end - _START_WINDOW : end].mean() >= rate_bps:
            return float(log.time_us[end - 1] - log.time_us[first]) / 1e6 + float(log.interval_s[first])
    return float("inf")


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="takes the logs")
    parser.add_argument("receiver", nargs="+", metavar="COMMAND", help="the receiver, after --")
    arguments = parser.parse_args()
    plan = CallPlan(scenario(), arguments.receiver, arguments.out, PHASE_S * len(RATES_BPS), MAX_BITRATE_BPS)
    try:
        log = make_call(plan)
    except (CallFailed, MissingComponent) as error:
        print(f"phases: {error}", file=sys.stderr)
        return 3 if isinstance(error, MissingComponent) else 1
    reached = True
    for what, measured, goal, good in goals(log, log.scenario_start_us or 0.0):
        reached = reached and good
        print(f"{what:40} {measured:8.2f}   goal {goal:g}   {'reached' if good else 'NOT REACHED'}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
