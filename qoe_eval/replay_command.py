"""`weir replay`: scenarios and traces under controllers and seeds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from weir.executables import find_simulator
from weir.qoe_eval.measures.summary import in_order
from weir.qoe_eval.records import CustomController, RunAbout, ScenarioAbout, Summary
from weir.qoe_eval.report.means_table import print_means
from weir.qoe_eval.report.replay_files import summarise_replay, write_csv, write_report
from weir.qoe_eval.runs import families as family_runs
from weir.qoe_eval.runs import objectives as objective_runs
from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.inputs import PathOptions, read_inputs
from weir.qoe_eval.runs.jobs import ReplayPlan, SeriesOfPlan, model_description
from weir.qoe_eval.runs.options import (
    POOL,
    JobsOption,
    LossOption,
    OneWayDelayOption,
    QueueOption,
    check_controllers,
    check_model,
    parse_objective,
)
from weir.qoe_eval.runs.own_controllers import DEFAULT_TIME_LIMIT_S
from weir.qoe_eval.runs.progress import count_runs, end_with_failures, error_console, run_with_progress
from weir.qoe_eval.runs.replay import ReplayOutcome
from weir.qoe_eval.runs.shipped_model import model_to_run
from weir.qoe_eval.runs.store import RunStore
from weir.registry import DEFAULT_PRESET, PRESETS, SIMULATED, uses_model
from weir.traces.formats.convert import parse_queue
from weir.traces.formats.imported_trace import ImportedTrace
from weir.traces.formats.importers import read_trace
from weir.traces.formats.mahimahi import DEFAULT_WINDOW_MS
from weir.traces.schema.scenario import MAX_DURATION_S
from weir.trainer.model.paired_text import paired_sentences

FINDINGS_SHOWN = 5


class SeriesKept(StrEnum):
    """Of which runs a replay keeps its time series. The measures are the same in every case."""

    ALL = "all"
    FIRST = "first"
    NONE = "none"


_SERIES_OF_PLAN: dict[SeriesKept, SeriesOfPlan] = {
    SeriesKept.ALL: "kept",
    SeriesKept.FIRST: "first kept",
    SeriesKept.NONE: "measured",
}
_SHOWN = (
    "utility",
    "challenge",
    "viewer_quality",
    "frame_delay_ms_p95",
    "utilisation",
    "p95_queueing_delay_ms",
    "loss_ratio",
)


def replay(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE_OR_SCENARIO...",
            help="OpenNetLab JSON, Mahimahi, CSV (time_s,rate_bps) or scenario files; 'catalogue' for all bundled "
            "scenarios, "
            "'catalogue/NAME' for one, 'catalogue/rfc8867' for the RFC 8867 cases.",
        ),
    ],
    controller: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"{', '.join(SIMULATED)}; one of your own: FILE.py:CLASS, ./LIBRARY.so, ./PROGRAM, FILE.onnx, "
            f"FILE.onnx:bare; {POOL}. Repeatable. Default: all that are built in.",
        ),
    ] = None,
    controller_time_limit: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=3600,
            metavar="S",
            help="How long one decision of a controller of your own may take; its start, ten times as long.",
        ),
    ] = DEFAULT_TIME_LIMIT_S,
    objective: Annotated[
        str,
        typer.Option(metavar="T,L,P", help=f"Weights of throughput, latency and loss; or {', '.join(PRESETS)}."),
    ] = DEFAULT_PRESET,
    seeds: Annotated[
        int,
        typer.Option(
            min=0,
            max=10_000,
            metavar="N",
            help="Runs with the seeds 1 to N, each with its own starting point, delay and clock; 0: one run of each "
            "scenario as it is written.",
        ),
    ] = 5,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results, summary and report go.")] = Path(
        "weir-replay"
    ),
    one_way_delay: OneWayDelayOption = None,
    queue: QueueOption = None,
    loss: LossOption = None,
    reverse: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Trace for the reverse link, which carries the feedback: NAME.down beside NAME.up, say. Default: the "
            "file's own, else an unlimited one.",
        ),
    ] = None,
    window: Annotated[
        int,
        typer.Option(
            "--mahimahi-window-ms",
            min=1,
            max=60_000,
            metavar="MS",
            help="Time over which the deliveries of a Mahimahi file are averaged.",
        ),
    ] = DEFAULT_WINDOW_MS,
    duration: Annotated[
        float | None, typer.Option(min=0.1, max=MAX_DURATION_S, metavar="S", help="Length of a run.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="ONNX model of the controller weir. Default: the one shipped.")
    ] = None,
    objectives: Annotated[
        int,
        typer.Option(
            min=0,
            max=500,
            metavar="N",
            help="Also run weir under the presets and N objectives (seed 1) for the objective page; 0: leave it out.",
        ),
    ] = 20,
    families: Annotated[
        bool,
        typer.Option(
            "--families",
            help="Also run two scenarios of each family of 'weir experiment robust' (seed 1), for its own section of "
            "the page.",
        ),
    ] = False,
    series: Annotated[
        SeriesKept,
        typer.Option(help="Of which runs time series are kept: all, those of the first seed, or none."),
    ] = SeriesKept.ALL,
    csv: Annotated[
        bool, typer.Option("--csv", help="Also write results.csv, and series.csv.gz and frames.csv.gz of kept series.")
    ] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Accept traces with faults that can be repaired.")] = False,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and no progress.")] = False,
) -> None:
    """Replays traces or scenarios under rate controllers; writes results.jsonl, summary.json, series/ and report.html.

    A replay that was interrupted goes on where it was when the same command is given again.
    """
    started = time.monotonic()
    names, own = check_controllers(controller or [], controller_time_limit)
    back = None if reverse is None else read_trace(reverse, repair=repair, window_ms=window)
    if back is not None:
        _show_findings(back)
    path = PathOptions(one_way_delay, parse_queue(queue) if queue else None, loss, duration, back)
    weights = parse_objective(objective)
    check_model(model)
    scenarios = read_inputs(inputs, path, repair, _show_findings, window)
    chosen = model_to_run(model) if any(uses_model(name) for name in names) else None
    numbers = range(1, seeds + 1) if seeds else [0]
    plan = ReplayPlan(scenarios, names, weights, numbers, chosen, find_simulator(), _SERIES_OF_PLAN[series], own)
    console = error_console()
    also = f", 'weir report {out}' shows them"
    outcome = run_with_progress([plan], out, jobs, console, quiet=as_json, after_interrupt=also)
    steered = _run_objectives(plan, objectives, out, jobs, console, quiet=as_json)
    lived = _run_families(plan, families, out, jobs, console, quiet=as_json)
    failures = [failure.describe() for one in (outcome, steered, lived) for failure in one.failures]
    records = in_order(outcome.records, (scenario.name for scenario in scenarios))
    summary = summarise_replay(records, steered.records, lived.records, _about(plan, outcome, failures, started))
    page = write_report(RunStore(out), records, summary)
    if csv:
        write_csv(RunStore(out), records, quiet=as_json)
    if as_json:
        typer.echo(summary.text())
    else:
        _print_table(summary)
        note = f" ({outcome.reused} of them from before)" if outcome.reused else ""
        typer.echo(f"\n{count_runs(len(records))}{note} in {time.monotonic() - started:.1f} s. Report: {page}")
    end_with_failures(failures, console)


def _show_findings(trace: ImportedTrace) -> None:
    """What was found in a trace, repaired or only odd, on standard error; the first few of many."""
    for finding in trace.findings[:FINDINGS_SHOWN]:
        typer.echo(f"weir: {finding}", err=True)
    more = len(trace.findings) - FINDINGS_SHOWN
    if more > 0:
        typer.echo(f"weir: {trace.source}: and {more} more; 'weir traces validate' shows all", err=True)


def _run_objectives(
    plan: ReplayPlan, count: int, out: Path, jobs: int | None, console: Console, quiet: bool
) -> ReplayOutcome:
    """The model under the presets and a fan of objectives."""
    plans = objective_runs.objective_plans(plan, count) if count and plan.model else []
    return _run_beside(plans, out / objective_runs.FOLDER, jobs, console, quiet=quiet)


def _run_families(
    plan: ReplayPlan, wanted: bool, out: Path, jobs: int | None, console: Console, quiet: bool
) -> ReplayOutcome:
    """Families of scenarios of ordinary network life."""
    plans = [family_runs.family_plan(plan)] if wanted else []
    return _run_beside(plans, out / family_runs.FOLDER, jobs, console, quiet=quiet)


def _run_beside(
    plans: Sequence[ReplayPlan], folder: Path, jobs: int | None, console: Console, quiet: bool
) -> ReplayOutcome:
    """What is no part of the main comparison. Without any, records of an earlier replay are set aside."""
    if not plans:
        if folder.is_dir():
            RunStore(folder).start({})
        return ReplayOutcome()
    return run_with_progress(plans, folder, jobs, console, quiet=quiet)


def _about(plan: ReplayPlan, outcome: ReplayOutcome, failures: list[str], started: float) -> RunAbout:
    return RunAbout(
        **command_record(started),
        runs=len(outcome.records),
        planned=len(plan.scenarios) * len(plan.controllers) * len(plan.seeds),
        objective=plan.objective,
        seeds=list(plan.seeds),
        model=model_description(plan),
        own_controllers={name: CustomController(source=c.source, sha256=c.sha256) for name, c in plan.own.items()},
        versions=outcome.records[0].versions if outcome.records else {},
        failures=failures,
        scenarios={
            scenario.name: ScenarioAbout(
                description=scenario.description,
                source=scenario.provenance.get("source", ""),
                one_way_delay_ms=scenario.forward.mean_one_way_delay_ms(scenario.duration_s),
            )
            for scenario in plan.scenarios
        },
    )


def _print_table(summary: Summary) -> None:
    print_means(summary, _SHOWN)
    for sentence in paired_sentences(summary.to_json()).values():
        typer.echo(str(sentence))
