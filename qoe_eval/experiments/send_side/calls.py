"""`weir experiment send-side-calls`, without its command line: weir-peer sends to an unmodified Chromium, under Weir
and under libwebrtc's GCC.

The scenarios of `weir experiment calls`, each with none, 5 % and 20 % of what comes back lost: transport feedback is,
and so are receiver reports, NACKs and requests for key frames. Both controllers decide at the sender and hear the same
feedback, so they differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from weir.executables import find_peer, find_simulator
from weir.qoe_eval.call import report as call_report
from weir.qoe_eval.call.plan import plan_calls
from weir.qoe_eval.call.run import CallsOutcome, run_calls
from weir.qoe_eval.experiments.call_plan import call_plan
from weir.qoe_eval.experiments.calls.experiment import CallSets
from weir.qoe_eval.experiments.calls.goals import NOT_ABOVE_MS, difference_row, ratio_row
from weir.qoe_eval.report.goal_table import Goal, Row
from weir.traces.schema.scenario import Scenario

CONTROLLERS = ("weir-send", "gcc")
FEEDBACK_LOSSES = (0.0, 0.05, 0.2)
SIZE = "640x360"
_NOT_LESS = Goal("at least", 1.0, "times")
_NOT_LONGER = Goal("at most", 0.0, "s", signed=True, decimals=1)
_MEASURES = (
    ("bitrate", "received bitrate against GCC", _NOT_LESS, "received_bitrate_bps", ratio_row),
    ("delay", "p95 network delay, less GCC's", NOT_ABOVE_MS, "network_delay_ms_p95", difference_row),
    ("frozen", "time frozen a call, less GCC's", _NOT_LONGER, "total_freezes_duration_s", difference_row),
)


def with_feedback_lost(scenario: Scenario, share: float) -> Scenario:
    """The scenario with that share of the packets of its way back lost at random; as it is where none is."""
    if not share:
        return scenario
    data = scenario.to_dict()
    data["name"] = _name(scenario, share)
    data["reverse"]["loss"] = {"kind": "bernoulli", "ratio": share}
    return Scenario.from_dict(data, data["name"])


def make_calls(
    sets: CallSets,
    seeds: Sequence[int],
    model: Path,
    out: Path,
    console: Console,
    *,
    quiet: bool,
    repeat_disturbed: bool,
) -> CallsOutcome:
    """Makes the calls that are not there yet, one loss after the other; each has a folder in `out`, and its records.

    Raises:
        InputError: a folder cannot be used.
        MissingComponent: something that calls need is not there.
        typer.Exit: status 1: interrupted; what is complete is kept.
    """
    scenarios = [with_feedback_lost(one, share) for share in FEEDBACK_LOSSES for one in sets.compared]
    plan = replace(
        call_plan(SIZE, seeds, model, scenarios), sender="native", receiver="chromium", controllers=CONTROLLERS
    )
    planned = plan_calls(plan, out, [find_peer(), find_simulator()])
    outcome = run_calls(planned, out, console, quiet=quiet, repeat_disturbed=repeat_disturbed)
    if made := [*outcome.records, *outcome.failed]:
        call_report.write(made, out, {"planned": len(planned), "failures": outcome.failures})
    return outcome


def call_rows(sets: CallSets, records: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Bitrate, delay and time frozen against GCC: for Muses' scenario and for the traces, at every loss."""
    groups = {"muses": [sets.muses], "mahimahi": sets.mahimahi}
    rows = []
    for share in FEEDBACK_LOSSES:
        for group, scenarios in groups.items():
            names = {_name(one, share) for one in scenarios}
            of = [record for record in records if record["scenario"] in names]
            name = f"calls_{group}_{round(100 * share)}"
            where = f"{group}, {share:.0%} of feedback lost"
            rows += [
                make(f"{name}_{what}", f"{where}: {text}", goal, of, metric, CONTROLLERS[0])
                for what, text, goal, metric, make in _MEASURES
            ]
    return rows


def _name(scenario: Scenario, share: float) -> str:
    return f"{scenario.name}-feedback-lost-{round(100 * share)}" if share else scenario.name
