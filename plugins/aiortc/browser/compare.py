"""Chromium sends to aiortc over held-out scenarios of the random domain: Weir against aiortc's own estimator.

    python browser/compare.py --out DIR [--seeds N] [--only aiortc|weir]

Every call is kept in the folder and not made again. Two calls a scenario, 40 s each; the challenge score (docs/replays.md)
by what the link carried. Exit status: 0 all goals reached, 1 not, or calls are missing, 3 something is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from call import CallFailed, CallPlan, make_call
from weir.errors import MissingComponent
from weir.qoe_eval.call.logs.link_log import LinkLog
from weir.qoe_eval.call.measures.metrics import link_metrics
from weir.qoe_eval.measures.metrics import challenge_parts, utility
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.values_over_time import DelayOverTime

ESTIMATORS = {"weir": [], "aiortc": ["--own"]}
"""With what the receiver is started."""
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
        if LOWEST_BPS <= scenario.forward.capacity.trace().mean_bps() <= HIGHEST_BPS:
            yield scenario
        seed += 1


def score(log: LinkLog, scenario: Scenario) -> dict[str, float]:
    """The challenge score, 0 to 100, and its parts as the link saw them; a call of which nothing came has 0."""
    measured = link_metrics(log, scenario.forward.one_way_delay_ms)
    lost, packets = int(log.lost_packets.sum()), int(log.packets.sum())
    base = scenario.forward.one_way_delay_ms
    base_ms = base.mean(DURATION_S) if isinstance(base, DelayOverTime) else base
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


def measured_call(scenario: Scenario, estimator: str, folder: Path) -> dict[str, float]:
    """The score of a call, made now unless the folder has it."""
    result = folder / _RESULT
    if not result.is_file():
        receiver = [sys.executable, str(Path(__file__).with_name("receiver.py")), *ESTIMATORS[estimator]]
        log = make_call(CallPlan(scenario, receiver, folder, DURATION_S, MAX_BITRATE_BPS))
        result.write_text(json.dumps(score(log, scenario)), encoding="ascii")
    return json.loads(result.read_text(encoding="ascii"))


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10, help="how many scenarios")
    parser.add_argument("--only", choices=tuple(ESTIMATORS), help="calls of one estimator, to go on later")
    arguments = parser.parse_args()
    complete = []
    for scenario in islice(scenarios(), arguments.seeds):
        found = {}
        for estimator in [arguments.only] if arguments.only else ESTIMATORS:
            try:
                found[estimator] = measured_call(scenario, estimator, arguments.out / f"{scenario.name}-{estimator}")
            except MissingComponent as error:
                print(f"compare: {error}", file=sys.stderr)
                return 3
            except CallFailed as error:
                print(f"compare: {scenario.name}, {estimator}: {error}", file=sys.stderr)
                continue
            values = ", ".join(f"{name} {value:.3g}" for name, value in found[estimator].items())
            print(f"{scenario.name:22} {scenario.description:28} {estimator:7} {values}", flush=True)
        if len(found) == len(ESTIMATORS):
            complete.append(found["weir"]["score"] - found["aiortc"]["score"])
    if not complete:
        return 1
    mean, worst = sum(complete) / len(complete), min(complete)
    print(f"Weir less aiortc's own, of {len(complete)} scenarios: mean {mean:+.1f} (goal above 0), ", end="")
    print(f"worst {worst:+.1f} (goal {WORST_DIFFERENCE:g})")
    return 0 if mean > 0 and worst >= WORST_DIFFERENCE and len(complete) == arguments.seeds else 1


if __name__ == "__main__":
    sys.exit(main())
