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

from weir.errors import InputError
from weir.files.input import printable
from weir.qoe_eval.call import call_report
from weir.qoe_eval.call.media.sent_media import with_sources
from weir.qoe_eval.call.plan import CallPlan, CallSettings, plan_calls
from weir.qoe_eval.call.run import run_calls
from weir.qoe_eval.evaluate.results import NOT_CHOSEN, Results
from weir.qoe_eval.evaluate.scenario_sets import ScenarioSet, Settings, base_name, of_media
from weir.qoe_eval.evaluate.suite import Calls, CustomControllers, Replays, Suite
from weir.qoe_eval.measures.families import GCC, summarise_families
from weir.qoe_eval.options.shared import SIZES, TRACE_SETS
from weir.qoe_eval.records.call_record import CallRecord
from weir.qoe_eval.records.comparisons import FamilyRow
from weir.qoe_eval.records.record import Record
from weir.qoe_eval.records.summary import RunAbout
from weir.qoe_eval.report.display import dated
from weir.qoe_eval.report.goal_table import GoalRow
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.progress import run_with_progress
from weir.qoe_eval.runs.simulator import say_left_out, unavailable_controllers
from weir.qoe_eval.runs.store import RunStore
from weir.registry import POLICY, PRESETS
from weir.simulator.executables import find_peer, find_simulator, find_stack
from weir.traces.generate.families.families import FAMILIES
from weir.traces.schema.media import MEDIA


@dataclass(frozen=True)
class PlannedSuite:
    """A suite with the scenarios of its chosen sets, by name of the set."""

    suite: Suite
    settings: Settings
    sets: Mapping[str, ScenarioSet]
    replays: Sequence[Replays]
    calls: Sequence[Calls]

    @property
    def seeds(self) -> range:
        """The seeds of all runs."""
        return range(1, (self.settings.seeds or 1) + 1)

    @property
    def compared(self) -> list[Replays]:
        """The replays in which weir and gcc run, and the virtual calls under several controllers."""
        return [
            one
            for one in self.replays
            if {POLICY, GCC} <= set(one.controllers) or (one.call and len(one.controllers) > 1)
        ]

    @functools.cached_property
    def custom(self) -> CustomControllers:
        """The suite's custom controllers; writes their files on first use."""
        return self.suite.custom(self.settings) if self.replays or self.calls else CustomControllers()


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
        rows = summarise_families(self.results.of(*names), POLICY)
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
    chosen = [one for one in planned if one.replays or one.calls or not (settings.chosen or settings.only)]
    if not chosen:
        given = [f"--set '{printable(name)}'" for name in settings.chosen]
        given += [f"--only '{printable(name)}'" for name in settings.only]
        sets = {*settings.chosen} or {name for suite in suites for name in suite.sets}
        how = "sets of traces need --traces DIR" if settings.traces is None and sets & {*TRACE_SETS} else "give others"
        raise InputError(f"{' '.join(given)}: no scenario of {', '.join(one.name for one in suites)} is chosen; {how}")
    for needed in {(one.sender, one.receiver) for suite in chosen for one in suite.calls}:
        check_requirements(*needed)
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
    by_set: dict[str, list[CallRecord]] = {}
    called: dict[str, CallSettings] = {}
    records, pages = list[Record](outcome.records), {}
    for kind in dict.fromkeys(_kind(one) for one in planned.calls):
        folder = out / f"calls-{kind}"
        of_set = {one.name: _plan_calls(planned, one, folder) for one in planned.calls if _kind(one) == kind}
        wanted = _in_succession({key: call for some in of_set.values() for key, call in some.items()})
        made = run_calls(wanted, folder, console, quiet=quiet)
        by_set |= {name: [one for one in made.records if one.key in some] for name, some in of_set.items()}
        called |= wanted
        records += made.records
        failures += [f"{kind}: {failure}" for failure in made.failures]
        if whole := [*made.records, *made.failed]:
            of_calls = about.model_copy(update={"planned": len(wanted), "failures": made.failures})
            pages[kind] = call_report.write(whole, folder, of_calls)[1]
    results = Results(
        planned.settings,
        planned.sets,
        dict(zip((one.name for one in planned.replays), outcome.by_plan, strict=False)),
        RunStore(out).with_series,
        by_set,
        called,
        planned.custom.pools,
    )
    version = next((record.versions.get("libwebrtc", "") for one in outcome.by_plan for record in one), "")
    rows = [goal.row(results) for goal in planned.suite.goals]
    rows = [replace(row, what=dated(row.what, version), detail=dated(row.detail, version)) for row in rows]
    return Evaluated(planned, results, rows, records, failures, pages, version)


def _plan(suite: Suite, settings: Settings) -> PlannedSuite:
    settings = replace(settings, seeds=settings.seeds or suite.seeds, random=settings.random or suite.random)
    wanted: dict[str, ScenarioSet] = {}

    def is_chosen(one: Replays | Calls, among: set[str] | None = None) -> bool:
        if settings.chosen and among is None and base_name(one.name) not in settings.chosen:
            return False
        found = one.scenarios(settings)
        matched = [
            scenario
            for scenario in found.scenarios
            if (not settings.only or any(fnmatchcase(scenario.name, pattern) for pattern in settings.only))
            and (among is None or scenario.name in among)
        ]
        if matched or not settings.only:
            wanted[one.name] = replace(found, scenarios=matched)
        return bool(matched)

    sized = [one for one in suite.calls if settings.size in (None, one.size)] if settings.calls else []
    calls = [one for one in sized if is_chosen(one)]
    called = {scenario.name for one in calls for scenario in wanted[one.name].scenarios}
    replays = [one for one in suite.replays if is_chosen(one, called if one.with_calls else None)]
    return PlannedSuite(suite, settings, wanted, replays, calls)


def _in_succession(calls: Mapping[str, CallSettings]) -> dict[str, CallSettings]:
    """The calls ordered by seed and path, so that compared calls find the machine in a similar state."""
    paths = list(dict.fromkeys(call.scenario.name for call in calls.values()))
    return dict(sorted(calls.items(), key=lambda one: (one[1].seed, paths.index(one[1].scenario.name))))


def _kind(calls: Calls) -> str:
    """The name of the folder and report of calls with the same size and sender."""
    return calls.size if calls.sender == "chromium" else f"{calls.size}-{calls.sender}"


def _replay_plans(planned: PlannedSuite) -> list[ReplayPlan]:
    if not planned.replays:
        return []
    unavailable = unavailable_controllers(find_simulator())
    say_left_out((name for one in planned.replays for name in one.controllers), unavailable)
    return [_replay_plan(planned, one, unavailable) for one in planned.replays]


def _replay_plan(planned: PlannedSuite, one: Replays, unavailable: set[str]) -> ReplayPlan:
    custom = planned.custom
    controllers = [custom.pools.get(name, name) for name in one.controllers if name not in unavailable]
    return ReplayPlan(
        planned.sets[one.name].scenarios,
        controllers,
        PRESETS[one.preset],
        planned.seeds[:1] if one.first_seed else planned.seeds,
        planned.settings.model,
        find_stack("libwebrtc" if one.call else "model"),
        one.series,
        {name: custom.controllers[name] for name in controllers if name in custom.controllers},
        one.guard_off,
        one.decision_delay_ms,
        with_sources(one.call) if one.call else None,
        one.path_seed,
    )


def _plan_calls(planned: PlannedSuite, one: Calls, folder: Path) -> dict[str, CallSettings]:
    width, height = SIZES[one.size]
    plan = CallPlan(
        scenarios=planned.sets[one.name].scenarios,
        sender=one.sender,
        receiver=one.receiver,
        controllers=one.controllers,
        objective=PRESETS["balanced"],
        seeds=planned.seeds,
        width=width,
        height=height,
        codec="VP8",
        max_bitrate_bps=one.max_bitrate_bps,
        model=planned.settings.model,
        decision_delay_ms=one.decision_delay_ms,
        quality=one.quality,
        path_seed=one.path_seed,
    )
    return plan_calls(plan, folder, [find_peer(), find_simulator()])
