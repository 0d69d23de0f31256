"""Chromium sends to a receiver over held-out scenarios of the random domain: Weir against the stack's own estimator.

    python plugins/browser/compare.py --out DIR --as weir [--seeds N] -- RECEIVER...
    python plugins/browser/compare.py --out DIR --as own [--seeds N] -- RECEIVER...

RECEIVER is as for phases.py. A call a scenario, 40 s each, is kept in the folder and not made again; where the folder
has those of both, they are compared by the challenge score (docs/replays.md) of what the link carried.

Exit status: 0 done, and where both were made all goals reached; 1 not, or calls are missing; 3 something is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from call import CallFailed, CallPlan, make_call

from weir.errors import MissingComponent
from weir.qoe_eval.call.logs.link_log import LinkLog
from weir.qoe_eval.call.measures.metrics import link_metrics
from weir.qoe_eval.measures.metrics import challenge_parts, utility
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.scenario import Scenario

NAMES = ("weir", "own")
DURATION_S = 40.0
LOWEST_BPS, HIGHEST_BPS = 0.3e6, 5e6
MAX_BITRATE_BPS = 5_000_000
WORST_DIFFERENCE = -5.0
_CHALLENGE_WEIGHTS = (2 / 7, 2 / 7, 3 / 7)
_RESULT = "result.json"


def scenarios() -> Iterator[Scenario]:
    """The held-out ones with a mean capacity between 0.3 and 5 Mbps, in the order of their seeds."""
    seed = 0
    while True:
        scenario = random_scenario(seed, split="held_out", duration_s=DURATION_S)
        if LOWEST_BPS <= (scenario.forward.mean_capacity_bps(DURATION_S) or 0) <= HIGHEST_BPS:
            yield scenario
        seed += 1


def score(log: LinkLog, scenario: Scenario) -> dict[str, float]:
    """The challenge score, 0 to 100, and its parts as the link saw them; a call of which nothing came has 0."""
    measured = link_metrics(log, scenario.forward.one_way_delay_ms)
    lost, packets = int(log.lost_packets.sum()), int(log.packets.sum())
    base_ms = scenario.forward.mean_one_way_delay_ms(DURATION_S)
    queue_ms, utilisation = measured.get("p95_queueing_delay_ms"), measured.get("utilisation") or 0.0
    delay, rate, loss = challenge_parts(
        packets + lost, lost, None if queue_ms is None else base_ms + queue_ms, base_ms, utilisation, 1.0
    )
    return {
        "score": utility(_CHALLENGE_WEIGHTS, rate, delay, loss) or 0.0,
        "utilisation": utilisation,
        "p95_queueing_delay_ms": queue_ms if queue_ms is not None else float("nan"),
        "loss_ratio": lost / max(1, packets + lost),
    }


def measured_call(scenario: Scenario, receiver: Sequence[str], folder: Path) -> dict[str, float]:
    """The score of a call, made now unless the folder has it."""
    result = folder / _RESULT
    if not result.is_file():
        log = make_call(CallPlan(scenario, receiver, folder, DURATION_S, MAX_BITRATE_BPS))
        result.write_text(json.dumps(score(log, scenario)), encoding="ascii")
    return json.loads(result.read_text(encoding="ascii"))


def differences(out: Path, names: Sequence[str]) -> list[float]:
    """Weir's score less the other's, of the scenarios of which the folder has both."""
    found = []
    for name in names:
        both = [out / one / name / _RESULT for one in NAMES]
        if all(path.is_file() for path in both):
            weir, own = (json.loads(path.read_text(encoding="ascii"))["score"] for path in both)
            found.append(weir - own)
    return found


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="takes the calls")
    parser.add_argument("--as", dest="name", choices=NAMES, required=True, help="whose the receiver's estimator is")
    parser.add_argument("--seeds", type=int, default=10, help="how many scenarios")
    parser.add_argument("receiver", nargs="+", metavar="COMMAND", help="the receiver, after --")
    arguments = parser.parse_args()
    chosen = list(islice(scenarios(), arguments.seeds))
    failed = False
    for scenario in chosen:
        try:
            found = measured_call(scenario, arguments.receiver, arguments.out / arguments.name / scenario.name)
        except MissingComponent as error:
            print(f"compare: {error}", file=sys.stderr)
            return 3
        except CallFailed as error:
            print(f"compare: {scenario.name}: {error}", file=sys.stderr)
            failed = True
            continue
        values = ", ".join(f"{name} {value:.3g}" for name, value in found.items())
        print(f"{scenario.name:22} {scenario.description:28} {arguments.name:5} {values}", flush=True)
    compared = differences(arguments.out, [scenario.name for scenario in chosen])
    if not compared:
        return int(failed)
    mean, worst = sum(compared) / len(compared), min(compared)
    print(f"Weir less the stack's own, {len(compared)} scenarios: mean {mean:+.1f} (goal above 0), ", end="")
    print(f"worst {worst:+.1f} (goal {WORST_DIFFERENCE:g})")
    return int(failed or mean <= 0 or worst < WORST_DIFFERENCE)


if __name__ == "__main__":
    sys.exit(main())
