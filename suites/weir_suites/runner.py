"""Runs suites: plans their sets, makes missing replays and calls, and judges the goals.

    suite + settings --> sets --> replays (results.jsonl, series/) and calls --> Results --> rows

Each suite has its own folder in the output folder, in which an interrupted run is resumed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_eval.measures.families import summarise_families
from weir_eval.records.comparisons import FamilyRow
from weir_eval.records.record import Record
from weir_eval.records.summary import RunAbout
from weir_eval.report.display import dated
from weir_eval.report.goal_table import GoalRow
from weir_eval.runs.call_media import with_sources
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.progress import run_with_progress
from weir_eval.runs.scenario_sets import ScenarioSet, Settings, base_name, of_media
from weir_eval.runs.simulator import say_left_out
from weir_eval.runs.store import RunStore
from weir_sim.controllers import POLICY
from weir_sim.executables import find_simulator, find_stack
from weir_sim.objectives import parse_objective
from weir_sim.versions import unavailable_controllers
from weir_suites.planned_suite import PlannedSuite
from weir_suites.results import NOT_CHOSEN, CalledSets, Results
from weir_suites.suite import Calls, Replays, Suite
from weir_traces.bounds import TRACE_SETS
from weir_traces.generate.families.families import FAMILIES
from weir_traces.schema.media import MEDIA


@dataclass(frozen=True)
class Evaluated:
    """A suite's results and rows. `pages`: reports of calls by kind. `libwebrtc`: its version in replays."""

    planned: PlannedSuite
    results: Results
    rows: Sequence[GoalRow]
    records: Sequence[Record]
    failures: Sequence[str]
    pages: Mapping[str, Path]
    libwebrtc: str = ""

    @functools.cached_property
    def families(self) -> list[FamilyRow]:
        """The rows of families that ran against gcc or scream, those with video first."""
        names = [of_media(name, media) for media in MEDIA for name in FAMILIES]
        rows = summarise_families(self.results.replays_of(*names), POLICY)
        return [row for row in rows if row.against_better is not None]

    @property
    def shown(self) -> list[GoalRow]:
        """The rows, without those of sets that were not chosen; the document has all rows."""
        return [row for row in self.rows if row.measured or NOT_CHOSEN not in row.reason]


def plan_suites(suites: Sequence[Suite], settings: Settings) -> list[PlannedSuite]:
    """The suites with the chosen scenarios; omits suites without any.

    Raises:
        InputError: no scenario is chosen, or a trace cannot be used.
        MissingComponent: a component required for the chosen calls is missing.
    """
    planned = [_plan(suite, settings) for suite in suites]
    chosen = [plan for plan in planned if plan.replays or plan.calls or not (settings.chosen or settings.only)]
    if not chosen:
        options = [f"--set '{printable(name)}'" for name in settings.chosen]
        options += [f"--only '{printable(name)}'" for name in settings.only]
        sets = {*settings.chosen} or {name for suite in suites for name in suite.sets}
        how = "sets of traces need --traces DIR" if settings.traces is None and sets & {*TRACE_SETS} else "give others"
        names = ", ".join(suite.name for suite in suites)
        raise InputError(f"{' '.join(options)}: no scenario of {names} is chosen; {how}")
    if calls := [call for plan in chosen for call in plan.calls]:
        from weir_suites.real_calls import check_ends

        check_ends(calls)
    return chosen


def evaluate_suite(
    planned: PlannedSuite,
    out: Path,
    jobs: int | None,
    console: Console,
    about: RunAbout,
    *,
    quiet: bool,
) -> Evaluated:
    """Makes the runs of a suite that are missing in its folder `out`, `jobs` at once (None: one per core), and judges
    its goals. `about`: the command, for the reports of calls; `quiet`: show no progress.

    Raises:
        InputError: a folder cannot be used, or the simulator refused a run.
        MissingComponent: a component required for a run is missing.
        typer.Exit: status 1: interrupted; complete runs are kept.
    """
    outcome = run_with_progress(_replay_plans(planned), out, jobs, console, quiet=quiet)
    failures = [failure.describe() for failure in outcome.failures]
    called = _make_calls(planned, out, console, about, quiet=quiet)
    results = Results(
        planned.settings,
        planned.sets,
        dict(zip((replays.name for replays in planned.replays), outcome.by_plan, strict=False)),
        RunStore(out).with_series,
        called.by_set,
        called.settings,
        planned.custom.pools,
    )
    version = next((record.versions.get("libwebrtc", "") for records in outcome.by_plan for record in records), "")
    rows = [goal.row(results) for goal in planned.suite.goals]
    rows = [replace(row, what=dated(row.what, version), detail=dated(row.detail, version)) for row in rows]
    records = [*outcome.records, *called.records]
    return Evaluated(planned, results, rows, records, [*failures, *called.failures], called.pages, version)


def _plan(suite: Suite, settings: Settings) -> PlannedSuite:
    settings = replace(settings, seeds=settings.seeds or suite.seeds, random=settings.random or suite.random)
    wanted: dict[str, ScenarioSet] = {}

    def is_chosen(runs: Replays | Calls, among: set[str] | None = None) -> bool:
        if settings.chosen and among is None and base_name(runs.name) not in settings.chosen:
            return False
        found = runs.scenarios(settings)
        matched = [
            scenario
            for scenario in found.scenarios
            if (not settings.only or any(fnmatchcase(scenario.name, pattern) for pattern in settings.only))
            and (among is None or scenario.name in among)
        ]
        if matched or not settings.only:
            wanted[runs.name] = replace(found, scenarios=matched)
        return bool(matched)

    sized = [calls for calls in suite.calls if settings.size in (None, calls.size)] if settings.calls else []
    chosen_calls = [calls for calls in sized if is_chosen(calls)]
    called = {scenario.name for calls in chosen_calls for scenario in wanted[calls.name].scenarios}
    chosen_replays = [runs for runs in suite.replays if is_chosen(runs, called if runs.with_calls else None)]
    return PlannedSuite(suite, settings, wanted, chosen_replays, chosen_calls)


def _make_calls(planned: PlannedSuite, out: Path, console: Console, about: RunAbout, *, quiet: bool) -> CalledSets:
    if not planned.calls:
        return CalledSets()
    from weir_suites.real_calls import make_calls

    return make_calls(planned, out, console, about, quiet=quiet)


def _replay_plans(planned: PlannedSuite) -> list[ReplayPlan]:
    if not planned.replays:
        return []
    unavailable = unavailable_controllers(find_simulator())
    say_left_out((name for replays in planned.replays for name in replays.controllers), unavailable)
    return [_replay_plan(planned, replays, unavailable) for replays in planned.replays]


def _replay_plan(planned: PlannedSuite, replays: Replays, unavailable: set[str]) -> ReplayPlan:
    custom = planned.custom
    controllers = [custom.pools.get(name, name) for name in replays.controllers if name not in unavailable]
    return ReplayPlan(
        planned.sets[replays.name].scenarios,
        controllers,
        parse_objective(replays.objective),
        planned.seeds[:1] if replays.first_seed else planned.seeds,
        planned.settings.model,
        find_stack("libwebrtc" if replays.call else "model"),
        replays.series,
        {name: custom.controllers[name] for name in controllers if name in custom.controllers},
        replays.guard_off,
        replays.decision_delay_ms,
        with_sources(replays.call) if replays.call else None,
        replays.path_seed,
    )
