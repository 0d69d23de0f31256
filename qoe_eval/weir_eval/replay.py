"""Implements `weir replay`: plans, runs and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from weir_cli.console import counted, error_console
from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.input import printable, printable_lines
from weir_cli.files.output import write_text
from weir_cli.installation import how_to_get
from weir_eval.measures.summary import sorted_records
from weir_eval.options.replay import ReplayOptions, SeriesKept
from weir_eval.options.shared import model_to_run
from weir_eval.records.command_record import command_record, command_text
from weir_eval.records.summary import ControllerAbout, RunAbout, ScenarioAbout, Summary
from weir_eval.report.replay_page import FAMILIES_FOLDER, summarise_replay, write_csv, write_report
from weir_eval.report.requirement import end_with_unmet, parse_requirements
from weir_eval.report.sections.delay import modeled_lip_sync
from weir_eval.report.text import SHOWN, names_of_rendered_measures, paired_sentences, print_means, print_paired
from weir_eval.runs import objectives as objective_runs
from weir_eval.runs.call_media import with_sources
from weir_eval.runs.cluster_runs import check_travels
from weir_eval.runs.custom_controllers import CustomController
from weir_eval.runs.inputs import PathOptions, assumed_values, read_inputs
from weir_eval.runs.jobs import ReplayPlan, SeriesOfPlan, model_description
from weir_eval.runs.near_copies import near_copies
from weir_eval.runs.progress import end_with_failures, run_with_progress
from weir_eval.runs.run_plans import ReplayOutcome
from weir_eval.runs.simulator import say_left_out
from weir_eval.runs.store import SUMMARY, RunStore
from weir_sim.cluster import connected
from weir_sim.controllers import knows_path, uses_model, without_field_trials
from weir_sim.executables import find_stack
from weir_sim.objectives import parse_objective
from weir_sim.versions import unavailable_controllers
from weir_traces.bounds import MEDIA, MediaKind
from weir_traces.formats import ImportedTrace
from weir_traces.formats.convert import parse_rate
from weir_traces.generate.families.families import small_grid
from weir_traces.schema.scenario import RtpFlow

FINDINGS_SHOWN = 5
MODEL_STACK_ALONE = ("pcc", "oracle", "oracle-present")
"""Controllers that require the simulator's own sender."""
_SERIES_OF_PLAN: dict[SeriesKept, SeriesOfPlan] = {
    SeriesKept.ALL: "kept",
    SeriesKept.FIRST: "first kept",
    SeriesKept.NONE: "measured",
}


@dataclass(frozen=True)
class ReplayPlans:
    """The runs of one replay: the main comparison, and additional runs; `about` is for the summary."""

    main: ReplayPlan
    objectives: list[ReplayPlan]
    families: list[ReplayPlan]
    about: RunAbout


@dataclass(frozen=True)
class ReplayResults:
    """The outcomes of `ReplayPlans`."""

    main: ReplayOutcome
    objectives: ReplayOutcome
    families: ReplayOutcome

    @property
    def failures(self) -> list[str]:
        """One line for each run that did not complete."""
        return [
            failure.describe()
            for outcome in (self.main, self.objectives, self.families)
            for failure in outcome.failures
        ]


def run_replay(
    options: ReplayOptions, names: Sequence[str], custom: Mapping[str, CustomController], started: float
) -> None:
    """Plans, runs and reports; prints the summary. `names` and `custom`: the result of `check_controllers`.

    Raises:
        InputError: an option or a file cannot be used, or the simulator refused a run.
        MissingComponent: the simulator or the model is missing.
        typer.Exit: interrupted, a run failed, or a requirement is not met.
    """
    plans = plan_replay(options, names, custom)
    requirements = parse_requirements(options.require, plans.main.controllers, options.reference, "replay")
    with nullcontext() if options.address is None else connected(options.address):
        results = run_parts(plans, options)
    summary, page = report_results(plans, results, options, started)
    if options.as_json:
        typer.echo(summary.text())
    elif results.main.records:
        print_means(summary, (*SHOWN, *names_of_rendered_measures(summary)), plans.main.controllers)
        print_paired(paired_sentences(summary))
        if lip_sync := modeled_lip_sync(results.main.records):
            typer.echo(lip_sync)
        note = f" ({results.main.reused} of them from before)" if results.main.reused else ""
        runs = counted(len(results.main.records), "run")
        typer.echo(f"\n{runs}{note} in {time.monotonic() - started:.1f} s. Report: {printable(page)}")
    end_with_failures(results.failures, error_console())
    end_with_unmet(requirements, summary, on_stderr=options.as_json)


def plan_replay(options: ReplayOptions, names: Sequence[str], custom: Mapping[str, CustomController]) -> ReplayPlans:
    """Reads the inputs of a command and plans its runs.

    Raises:
        InputError: an option or a file cannot be used.
        MissingComponent: the simulator or the model is missing.
    """
    simulator = find_stack(options.stack)
    call = options.call_media()
    names = _available(names, simulator, options)
    path = options.read(options.duration, repair=options.repair, window_ms=options.window)
    if path.reverse is not None:
        _show_findings(path.reverse)
    media, max_bitrate_bps = _media(options)
    traces: list[ImportedTrace] = []

    def on_trace(trace: ImportedTrace) -> None:
        _show_findings(trace)
        traces.append(trace)

    main = ReplayPlan(
        scenarios=read_inputs(options.inputs, path, options.repair, on_trace, options.window, media, max_bitrate_bps),
        controllers=names,
        objective=parse_objective(options.objective),
        seeds=range(1, options.seeds + 1) if options.seeds else [0],
        model=model_to_run(options.model) if any(uses_model(name) for name in names) else None,
        simulator=simulator,
        series=_SERIES_OF_PLAN[options.series],
        custom=custom,
        decision_delay_ms=options.decision_delay,
        call=with_sources(call) if call else None,
    )
    for scenario in main.scenarios:
        if not any(isinstance(flow, RtpFlow) and flow.controller == "under_test" for flow in scenario.flows):
            raise InputError(f'{scenario.name}: no RTP flow has the controller "under_test": nothing to compare')
    if options.address is not None:
        if options.jobs is not None:
            raise InputError("--jobs: is for this machine; omit it or --address")
        check_travels(main)
    return ReplayPlans(
        main,
        objective_runs.objective_plans(main, options.objectives) if options.objectives and main.model else [],
        [_family_plan(main)] if options.families else [],
        _planned(main, traces, path, options.reference or ""),
    )


def _media(options: ReplayOptions) -> tuple[MediaKind | None, float | None]:
    """Kind and limit of the media under test. Raises InputError for a limit of filler."""
    if options.max_bitrate is None:
        return options.media, None
    if options.media == "filler":
        raise InputError("--max-bitrate: limits video, and filler takes all that a link carries; omit one of the two")
    return "video", parse_rate(options.max_bitrate)


def _available(names: Sequence[str], simulator: Path, options: ReplayOptions) -> list[str]:
    """The controllers that `simulator` has. Raises MissingComponent or InputError for others that the user named."""
    missing = unavailable_controllers(simulator)
    if options.stack == "libwebrtc":
        model_alone = [name for name in names if without_field_trials(name) in MODEL_STACK_ALONE]
        if model_alone and options.controller:
            raise InputError(f"--controller '{model_alone[0]}': needs a sender of the simulator's own: --stack model")
        names = [name for name in names if name not in model_alone]
    for name in names:
        if options.controller and without_field_trials(name) in missing:
            raise MissingComponent(
                f"--controller '{name}': not in the libwebrtc that weir-sim is built with; run {how_to_get('webrtc')}"
            )
    say_left_out(names, missing)
    return [name for name in names if name not in missing]


def _family_plan(plan: ReplayPlan) -> ReplayPlan:
    """The small grid of every family under the controllers of a plan that do not know the path: one seed, no series."""
    scenarios = [scenario for media in MEDIA for some in small_grid(media).values() for scenario in some]
    rivals = [name for name in plan.controllers if not knows_path(name)]
    return replace(plan, scenarios=scenarios, controllers=rivals, seeds=(objective_runs.SEED,), series="measured")


def run_parts(plans: ReplayPlans, options: ReplayOptions) -> ReplayResults:
    """Makes the missing runs, with a progress bar.

    Raises:
        InputError: the simulator refused a run; complete runs are kept.
        typer.Exit: interrupted, or the simulator does not work.
    """
    out, console = options.out, error_console()

    def run(some: list[ReplayPlan], folder: Path, after_interrupt: Callable[[int], str]) -> ReplayOutcome:
        if not some and folder.is_dir():
            # Set aside the records of an earlier replay with other options.
            RunStore(folder).start({})
        return run_with_progress(
            some,
            folder,
            options.jobs,
            console,
            quiet=options.as_json,
            after_interrupt=after_interrupt,
            on_cluster=options.address is not None,
            before_runs=(lambda: _write_plan(plans.about, out)) if folder == out else (lambda: None),
        )

    def others(_: int) -> str:
        return f"; what is in {out} is kept as well"

    return ReplayResults(
        run([plans.main], out, lambda kept: f", 'weir report {out}' shows them" if kept else ""),
        run(plans.objectives, out / objective_runs.FOLDER, others),
        run(plans.families, out / FAMILIES_FOLDER, others),
    )


def report_results(
    plans: ReplayPlans, results: ReplayResults, options: ReplayOptions, started: float
) -> tuple[Summary, Path]:
    """Writes summary, page and tables; returns the summary and the page's path."""
    store = RunStore(options.out)
    records = sorted_records(results.main.records, (scenario.name for scenario in plans.main.scenarios))
    about = _finished(plans.about, results, started)
    summary = summarise_replay(records, results.objectives.records, results.families.records, about)
    page = write_report(store, records, summary)
    if options.csv:
        write_csv(store, records, quiet=options.as_json)
    return summary, page


def _show_findings(trace: ImportedTrace) -> None:
    """Prints the first findings of a trace, repaired or not, on standard error."""
    # An outlier sets the mean, and with it the default queue: it is not left to the rest.
    ordered = sorted(trace.findings, key=lambda finding: finding.code != "outlier")
    for finding in ordered[:FINDINGS_SHOWN]:
        typer.echo(f"weir: {printable_lines(str(finding))}", err=True)
    more = len(trace.findings) - FINDINGS_SHOWN
    if more > 0:
        typer.echo(f"weir: {trace.source}: and {more} more; 'weir traces validate' shows all", err=True)


def _write_plan(about: RunAbout, folder: Path) -> None:
    """Writes a summary without results, from which 'weir report' has the plan of an interrupted replay."""
    plan = Summary(run=about, metrics={}, controllers={}, scenarios={}, paired=[])
    write_text(folder / SUMMARY, plan.text() + "\n")


def _planned(plan: ReplayPlan, traces: Sequence[ImportedTrace], path: PathOptions, reference: str) -> RunAbout:
    """The description of the runs before they begin. `traces`: the inputs of the scenarios, in their order."""
    copies = near_copies(plan.scenarios)
    if copies:
        copy, original = next(iter(copies.items()))
        typer.echo(
            f"weir: {counted(len(copies), 'scenario')} copied or cut from another ({printable(copy)} of "
            f"{printable(original)}): they count as one path, and are not independent",
            err=True,
        )
    return RunAbout(
        command=command_text(),
        planned=len(plan.scenarios) * len(plan.controllers) * len(plan.seeds),
        objective=plan.objective,
        reference=reference,
        seeds=list(plan.seeds),
        model=model_description(plan),
        custom_controllers={name: ControllerAbout(source=c.source, sha256=c.sha256) for name, c in plan.custom.items()},
        near_copies=copies,
        scenarios={
            scenario.name: ScenarioAbout(
                description=scenario.description,
                source=scenario.provenance.get("source", ""),
                one_way_delay_ms=scenario.forward.mean_one_way_delay_ms(scenario.duration_s),
                findings=[printable(finding.located()) for finding in trace.findings],
                assumed=assumed_values(trace, path),
            )
            for scenario, trace in zip(plan.scenarios, traces, strict=True)
        },
    )


def _finished(about: RunAbout, results: ReplayResults, started: float) -> RunAbout:
    """The description of runs that have ended."""
    records = results.main.records
    return about.model_copy(
        update={
            **command_record(started),
            "runs": len(records),
            "versions": records[0].versions if records else {},
            "failures": results.failures,
        }
    )
