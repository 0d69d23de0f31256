"""Chromium sends over held-out scenarios of the random domain: a receiver with Weir against the same stack without.

    python plugins/browser/compare.py PEER --out DIR [--scenarios 10]

The first ones with a mean capacity between 0.3 and 5 Mbps, 30 s each, by the challenge score (docs/replays.md) of what
the link carried.

Exit status: 0 Weir is better in the mean, and nowhere more than 5 points worse; 1 not so, or calls are missing; 3
something is missing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from calls import Call, make_calls, parser
from weir_cli.errors import InputError
from weir_eval.measures.metrics import challenge_parts, challenge_score
from weir_traces.generate.random_domain import random_scenario
from weir_traces.schema.scenario import Scenario

DURATION_S = 30.0
LOWEST_BPS, HIGHEST_BPS = 0.3e6, 5e6
WORST_DIFFERENCE = -5.0
_MAX_BITRATE = "5M"
_MISSING_STATUS = 3


def scenarios() -> Iterator[Scenario]:
    """Those of the domain in which the mean capacity is within the bounds, in the order of their seeds; endless."""
    for seed in count():
        scenario = random_scenario(seed, split="held_out", duration_s=DURATION_S)
        if LOWEST_BPS <= (scenario.forward.mean_capacity_bps(DURATION_S) or 0) <= HIGHEST_BPS:
            yield scenario


def score(call: Call) -> float:
    """The challenge score, 0 to 100, of what the link saw of a call; 0 where nothing came."""
    lost = int(call.link.lost_packets.sum())
    sent = int(np.nansum(call.link.packets)) + lost
    base_ms = call.record.path.one_way_delay_ms
    queue_ms = call.record.measures["p95_queueing_delay_ms"]
    p95_ms = None if queue_ms is None else base_ms + queue_ms
    return challenge_score(*challenge_parts(sent, lost, p95_ms, base_ms, call.link.utilisation or 0.0, 1.0)) or 0.0


def reached(differences: list[float]) -> bool:
    """Prints the differences of the scores, and returns whether they reach the goal."""
    mean, worst = sum(differences) / len(differences), min(differences)
    shown = f"{mean:+.1f} in the mean (above 0), {worst:+.1f} at worst ({WORST_DIFFERENCE:g})"
    print(f"{len(differences)} scenarios: {shown}")
    return mean > 0 and worst >= WORST_DIFFERENCE


def main() -> int:
    """The exit status."""
    options = parser(__doc__)
    options.add_argument("--scenarios", type=int, default=10, metavar="N", help="how many")
    arguments = options.parse_args()
    differences: list[float] = []
    used: list[tuple[float, float]] = []
    complete = True
    for scenario in islice(scenarios(), arguments.scenarios):
        try:
            made = make_calls(scenario, arguments.peer, arguments.out, "--max-bitrate", _MAX_BITRATE, "--compare")
            calls = {call.record.controller: call for call in made}
        except InputError as error:
            print(f"compare.py: {error}", file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as error:
            if error.returncode == _MISSING_STATUS:
                return _MISSING_STATUS
            complete = False
            continue
        weir, other = calls["weir"], calls["gcc"]
        differences.append(score(weir) - score(other))
        used.append((weir.link.utilisation or 0.0, other.link.utilisation or 0.0))
        shown = f"{score(weir):.1f} ({score(other):.1f}), used {used[-1][0]:.0%} ({used[-1][1]:.0%})"
        print(f"{scenario.name} ({scenario.description}): {shown}", flush=True)
    if used:
        print("of the links were used {:.0%} ({:.0%})".format(*np.mean(used, axis=0)))
    return 0 if differences and reached(differences) and complete else 1


if __name__ == "__main__":
    sys.exit(main())
