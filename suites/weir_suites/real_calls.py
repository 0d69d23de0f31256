"""The real calls of a suite; imported only where a suite makes some, since they need `weir-calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from weir_calls.call import call_report
from weir_calls.call.plan import CallPlan, CallSettings, plan_calls
from weir_calls.call.run import run_calls
from weir_calls.requirements import check_requirements
from weir_eval.options.shared import SIZES
from weir_eval.records.summary import RunAbout
from weir_sim.controllers import PRESETS
from weir_sim.executables import find_peer, find_simulator
from weir_suites.planned_suite import PlannedSuite
from weir_suites.results import CalledSets
from weir_suites.suite import Calls


def check_ends(calls: Sequence[Calls]) -> None:
    """Raises MissingComponent for what the ends of these calls lack."""
    for ends in {(call.sender, call.receiver) for call in calls}:
        check_requirements(*ends)


def make_calls(planned: PlannedSuite, out: Path, console: Console, about: RunAbout, *, quiet: bool) -> CalledSets:
    """Makes the calls of a suite that are missing below `out`, and writes their reports."""
    made = CalledSets()
    for kind in dict.fromkeys(map(_kind, planned.calls)):
        folder = out / f"calls-{kind}"
        of_set = {calls.name: _plan_calls(planned, calls, folder) for calls in planned.calls if _kind(calls) == kind}
        wanted = _in_succession({key: call for some in of_set.values() for key, call in some.items()})
        outcome = run_calls(wanted, folder, console, quiet=quiet)
        made.by_set |= {
            name: [record for record in outcome.records if record.key in some] for name, some in of_set.items()
        }
        made.settings |= wanted
        made.records += outcome.records
        made.failures += [f"{kind}: {failure}" for failure in outcome.failures]
        if whole := [*outcome.records, *outcome.failed]:
            of_calls = about.model_copy(update={"planned": len(wanted), "failures": outcome.failures})
            made.pages[kind] = call_report.write(whole, folder, of_calls)[1]
    return made


def _in_succession(calls: Mapping[str, CallSettings]) -> dict[str, CallSettings]:
    """The calls ordered by seed and path, so that compared calls find the machine in a similar state."""
    paths = list(dict.fromkeys(call.scenario.name for call in calls.values()))
    return dict(sorted(calls.items(), key=lambda item: (item[1].seed, paths.index(item[1].scenario.name))))


def _kind(calls: Calls) -> str:
    """The name of the folder and report of calls with the same size and sender."""
    return calls.size if calls.sender == "chromium" else f"{calls.size}-{calls.sender}"


def _plan_calls(planned: PlannedSuite, calls: Calls, folder: Path) -> dict[str, CallSettings]:
    width, height = SIZES[calls.size]
    plan = CallPlan(
        scenarios=planned.sets[calls.name].scenarios,
        sender=calls.sender,
        receiver=calls.receiver,
        controllers=calls.controllers,
        objective=PRESETS["balanced"],
        seeds=planned.seeds,
        width=width,
        height=height,
        codec="VP8",
        max_bitrate_bps=calls.max_bitrate_bps,
        model=planned.settings.model,
        decision_delay_ms=calls.decision_delay_ms,
        quality=calls.quality,
        path_seed=calls.path_seed,
    )
    return plan_calls(plan, folder, [find_peer(), find_simulator()])
