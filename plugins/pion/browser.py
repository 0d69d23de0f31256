"""An unmodified Chromium sends to a plug-in's receiver over an emulated link; `make -C plugins/pion test-browser`.

    browser.py [--out DIR]                        1.5, 0.6 and 1.5 Mbps, 20 s each: the goals below
    browser.py --held-out N [--out DIR]           N scenarios of the random domain between 0.3 and 5 Mbps, 30 s each,
                                                  against the stack's own way: Chromium's GCC over transport-cc

`--peer` names the receiving program (default: pion's), which speaks weir-peer's JSON lines, see
webrtc_patch/peer/README.md. The calls are `weir call`'s, so this needs root and resumes where it stopped. Status 1: a
goal was missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir.errors import InputError
from weir.qoe_eval.call.logs.file_names import LINK_LOG
from weir.qoe_eval.call.logs.link_log import LinkLog, read_link_log
from weir.qoe_eval.measures.metrics import challenge_parts
from weir.qoe_eval.runs.store import RunStore
from weir.traces.formats.plain_trace import scenario_from_capacity
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.scenario import Scenario

_BUILD = Path(__file__).resolve().parents[2] / "build" / "plugins"
_RATES_BPS = (1_500_000, 600_000, 1_500_000)
_PHASE_S = 20.0
# Left out at the beginning of a phase.
_SETTLING_S = 5.0
_DELIVERED = 0.9
_MEDIAN_QUEUE_MS = 40.0
_TIME_TO_SHARE_S = 3.0
_HELD_OUT_RATES_BPS = (0.3e6, 5e6)
_HELD_OUT_S = 30.0
_LARGEST_LOSS = 5.0


@dataclass(frozen=True)
class Call:
    """A call that was made: its controller, the path's own delay, and the link's log of the way that media takes."""

    controller: str
    one_way_delay_ms: float
    log: LinkLog

    def between(self, start_s: float, end_s: float) -> LinkLog:
        """The log of a part of the scenario, s since its beginning."""
        zero_us = self.log.scenario_start_us
        assert zero_us is not None
        return self.log.between(zero_us + 1e6 * start_s, zero_us + 1e6 * end_s)


def make_calls(scenario: Scenario, peer: Path, out: Path, *, compare: bool) -> Iterator[Call]:
    """Makes the calls that are not there yet, with `weir call`.

    Raises:
        subprocess.CalledProcessError: it failed; it has said why.
    """
    folder = out / scenario.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{scenario.name}.json"
    scenario.save(path)
    weir = Path(sys.executable).parent / "weir"
    command = [str(weir), "call", str(path), "--size", "640x360", "--duration", f"{scenario.duration_s:g}"]
    command += ["--max-bitrate", "5M" if compare else "2.5M", *(["--compare"] if compare else []), "--out", str(folder)]
    subprocess.run(command, env=os.environ | {"WEIR_PEER": str(peer)}, stdout=subprocess.DEVNULL, check=True)
    for record in RunStore(folder).read():
        log = read_link_log(folder / "calls" / record["call"]["folder"] / LINK_LOG, "forward")
        for why in record["call"]["disturbed"]:
            print(f"disturbed: {scenario.name}, {record['controller']}: {why}")
        yield Call(record["controller"], record["path"]["one_way_delay_ms"], log)


def steps() -> Scenario:
    """The three phases."""
    times_s = _PHASE_S * np.arange(len(_RATES_BPS), dtype=np.float64)
    capacity = CapacityTrace(times_s, np.array(_RATES_BPS, dtype=np.float64))
    made = scenario_from_capacity(capacity, "steps", one_way_delay_ms=25)
    return made.model_copy(update={"duration_s": _PHASE_S * len(_RATES_BPS)})


def check_steps(peer: Path, out: Path) -> bool:
    """Makes the call and prints each phase beside its goals; whether all were reached."""
    (call,) = make_calls(steps(), peer, out, compare=False)
    reached = True
    for number, rate_bps in enumerate(_RATES_BPS):
        begin_s = _PHASE_S * number
        settled = call.between(begin_s + _SETTLING_S, begin_s + _PHASE_S)
        delivered = settled.utilisation or 0.0
        median_ms = (settled.one_way_delay_percentile_ms(50) or 0.0) - call.one_way_delay_ms
        met = [delivered >= _DELIVERED, median_ms <= _MEDIAN_QUEUE_MS]
        shown = f"delivered {delivered:.0%} (goal {_DELIVERED:.0%}), median queue {median_ms:.0f} ms"
        shown += f" ({_MEDIAN_QUEUE_MS:g})"
        if number == 0 or rate_bps > _RATES_BPS[number - 1]:
            # After a fall the queue that is left fills the link by itself.
            needed_s = time_to_share(call, begin_s)
            met.append(needed_s <= _TIME_TO_SHARE_S)
            shown += f", {_DELIVERED:.0%} after {needed_s:.1f} s ({_TIME_TO_SHARE_S:g})"
        reached &= all(met)
        print(f"{rate_bps / 1e6:g} Mbps: {shown}: {'yes' if all(met) else 'NO'}")
    return reached


def time_to_share(call: Call, begin_s: float) -> float:
    """How long after the phase began the first second begins of which 90 % was delivered; its length if none does."""
    for tenth in range(round(10 * (_PHASE_S - 1))):
        start_s = begin_s + tenth / 10
        if (call.between(start_s, start_s + 1).utilisation or 0.0) >= _DELIVERED:
            return tenth / 10
    return _PHASE_S


def held_out(count: int) -> Iterator[Scenario]:
    """The first scenarios of the held-out domain with a mean capacity between 0.3 and 5 Mbps."""
    seed = 0
    while count:
        scenario = random_scenario(seed, split="held_out", duration_s=_HELD_OUT_S)
        capacity = scenario.forward.capacity
        assert capacity is not None
        lowest, highest = _HELD_OUT_RATES_BPS
        if lowest <= capacity.trace().mean_bps() <= highest:
            count -= 1
            yield scenario
        seed += 1


def challenge_score(call: Call) -> float:
    """The MMSys 2021 score (0 to 100) from what the link carried."""
    log = call.between(0, _HELD_OUT_S)
    lost = int(log.lost_packets.sum())
    sent = int(log.packets[log.packets > 0].sum()) + lost
    share = log.utilisation or 0.0
    p95_ms = log.one_way_delay_percentile_ms(95)
    delay, rate, loss = challenge_parts(sent, lost, p95_ms, call.one_way_delay_ms, share, 1.0)
    return (0.2 * (delay or 0.0) + 0.2 * (rate or 0.0) + 0.3 * (loss or 0.0)) / 0.7


def compare_held_out(count: int, peer: Path, out: Path) -> bool:
    """Prints both scores of each scenario, and their means; whether Weir is better in the mean and never 5 worse."""
    differences = []
    for scenario in held_out(count):
        scores = {call.controller: challenge_score(call) for call in make_calls(scenario, peer, out, compare=True)}
        differences.append(scores["weir"] - scores["gcc"])
        shown = ", ".join(f"{name} {score:.1f}" for name, score in sorted(scores.items()))
        print(f"{scenario.name} ({scenario.description}): {shown}", flush=True)
    mean, worst = sum(differences) / len(differences), min(differences)
    print(f"{count} scenarios: {mean:+.1f} in the mean (goal: above 0), {worst:+.1f} at worst (-{_LARGEST_LOSS:g})")
    return mean > 0 and worst >= -_LARGEST_LOSS


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, default=_BUILD / "pion-peer", metavar="PROGRAM")
    parser.add_argument("--held-out", type=int, default=0, metavar="N")
    parser.add_argument("--out", type=Path, default=_BUILD / "calls", metavar="DIR")
    arguments = parser.parse_args()
    try:
        if arguments.held_out:
            reached = compare_held_out(arguments.held_out, arguments.peer, arguments.out)
        else:
            reached = check_steps(arguments.peer, arguments.out)
    except InputError as error:
        print(f"browser.py: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
