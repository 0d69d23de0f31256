"""`weir experiment robust --calls`: some scenarios of the families as real calls, and the same in replays.

Weir and Chromium's own GCC, by turns; 40 s each, so that a route changes, or TCP joins, in the middle. `small_grid` has
the reasons for two scenarios of each family. What a link cannot do to a browser is no call: set its clock (`clock`),
pause its media or choose its content (`mute`, `content`), or begin below its own 300 kbps (`start-100k`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from weir.executables import find_peer, find_simulator
from weir.qoe_eval.call import report as call_report
from weir.qoe_eval.call.plan import CallPlan, plan_calls
from weir.qoe_eval.call.run import run_calls
from weir.qoe_eval.experiments.call_plan import call_plan
from weir.qoe_eval.experiments.calls.experiment import with_delay, with_simulated_encoder
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.progress import run_with_progress
from weir.registry import PRESETS
from weir.traces.generate.families.families import FAMILIES
from weir.traces.generate.families.family import VIDEO_SHARE_OF_LINK, Family
from weir.traces.schema.scenario import Scenario

CALLS = "calls"
REPLAYS = "replays"
CONTROLLERS = ("weir", "gcc")
SMALL_SIZE = "640x360"
CALL_SIZES = (SMALL_SIZE, "1280x720")
_RATE_BPS = 4e6
_LONGEST_S = 40.0
_MAX_BITRATE_BPS = round(VIDEO_SHARE_OF_LINK * _RATE_BPS, -3)
# At 640x360 Chromium puts out all of its target: 0.96 to 1.02 of it, as `encoder_lag` fits it to such calls.
_OUTPUT_SHARE = 1.0
# Both sizes have the compared ones.
_COMPARED = {"route": "plus40", "jitter": "gaussian20", "loss": "random5", "tcp": "cubic-stays"}
_REPLAYED = {
    "route": ("plus40", "plus100"),
    "loss": ("random2", "random5"),
    "jitter": ("gaussian20", "spikes3s"),
    "tcp": ("cubic-stays", "bbr-stays"),
    "policer": ("burst15kB", "burst100ms"),
    "slots": ("20of100ms", "frames20ms"),
    "reverse": ("plus500", "loss10"),
    "start": ("300k",),
    # Those of its first that a link can do.
    "everything": ("4", "7"),
}


@dataclass(frozen=True)
class RobustCalls:
    """Records of calls by size, and of the replays of those of SMALL_SIZE; `compared` and `replayed` are the names of
    the scenarios that goals ask for.
    """

    compared: Sequence[str]
    replayed: Sequence[str]
    records: Mapping[str, Sequence[Mapping[str, Any]]]
    replays: Sequence[Mapping[str, Any]]
    failures: Sequence[str]


def call_scenarios() -> dict[str, list[Scenario]]:
    """By family: what is called at SMALL_SIZE and replayed, the family's video on 4 Mbps, cut to 40 s."""
    return {
        name: [family.scenario(case, _RATE_BPS, "video") for case in family.cases if case.name in cases]
        for name, cases in _REPLAYED.items()
        for family in (_cut(FAMILIES[name]()),)
    }


def _cut(family: Family) -> Family:
    return replace(family, duration_s=min(family.duration_s, _LONGEST_S))


def is_compared(scenario: Scenario) -> bool:
    """Whether a call's scenario is one on which Weir has to be no worse than Chromium's GCC."""
    return scenario.name in {f"{family}-{case}-{_RATE_BPS / 1e6:g}M-video" for family, case in _COMPARED.items()}


def make_calls(
    scenarios: Sequence[Scenario],
    sizes: Sequence[str],
    seeds: Sequence[int],
    model: Path,
    out: Path,
    console: Console,
    run: Mapping[str, Any],
    *,
    quiet: bool,
    repeat_disturbed: bool,
) -> RobustCalls:
    """Makes the calls and replays that are not there yet, and the report of `weir call` for each size.

    Args:
        scenarios: of `call_scenarios`.
        sizes: of CALL_SIZES.
        seeds: of calls and replays.
        model: the policy.
        out: the experiment's folder; calls go to `calls/SIZE/`.
        console: for progress and complaints.
        run: what the reports say was run.
        quiet: no progress.
        repeat_disturbed: calls that are there but were disturbed are made again.

    Raises:
        InputError: a folder cannot be used.
        MissingComponent: something that calls need is not there.
        typer.Exit: status 1: interrupted; what is complete is kept.
    """
    compared = [one for one in scenarios if is_compared(one)]
    records: dict[str, Sequence[Mapping[str, Any]]] = {}
    failures: list[str] = []
    for size in sizes:
        folder = out / CALLS / size
        some = scenarios if size == SMALL_SIZE else compared
        planned = plan_calls(_plan(some, size, seeds, model), folder, [find_peer(), find_simulator()])
        outcome = run_calls(planned, folder, console, quiet=quiet, repeat_disturbed=repeat_disturbed)
        records[size] = outcome.records
        failures += [f"{size}: {failure}" for failure in outcome.failures]
        if made := [*outcome.records, *outcome.failed]:
            about = {**run, "planned": len(planned), "failures": outcome.failures}
            call_report.write(made, folder, about)
    replayed = scenarios if SMALL_SIZE in sizes else []
    encoded = [with_simulated_encoder(one, minimum_output_share=_OUTPUT_SHARE) for one in replayed]
    plan = ReplayPlan(encoded, CONTROLLERS, PRESETS["balanced"], seeds, model, find_simulator(), "measured")
    replays = run_with_progress([plan], out / CALLS / REPLAYS, None, console, quiet=quiet)
    return RobustCalls(
        [one.name for one in compared],
        [one.name for one in replayed],
        records,
        [with_delay(record) for record in replays.records],
        [*failures, *(failure.describe() for failure in replays.failures)],
    )


def _plan(scenarios: Sequence[Scenario], size: str, seeds: Sequence[int], model: Path) -> CallPlan:
    plan = call_plan(size, seeds, model, scenarios)
    return replace(plan, controllers=CONTROLLERS, max_bitrate_bps=round(_MAX_BITRATE_BPS))
