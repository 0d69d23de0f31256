"""`weir experiment guard`."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from weir.executables import find_simulator
from weir.files.output import write_text
from weir.qoe_eval.experiments.guard.experiment import guard_plans, guard_results, own_models
from weir.qoe_eval.experiments.guard.report import guard_document, guard_markdown
from weir.qoe_eval.experiments.policy.sets import TRACE_SETS, policy_sets
from weir.qoe_eval.experiments.replay_record import replay_record
from weir.qoe_eval.experiments.trust.broken_models import write_broken_models
from weir.qoe_eval.experiments.trust.experiment import trust_sets
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.options import check_model
from weir.qoe_eval.runs.progress import count_runs, end_with_failures, error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run

GUARD_JSON = "guard.json"
GUARD_MARKDOWN = "guard.md"


def guard(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where guard.json, guard.md, results.jsonl and models go.")],
    model: Annotated[Path | None, typer.Option(metavar="FILE", help="Healthy model. Default: the one shipped.")] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder with opennetlab/ and mahimahi/. Default: traces/ in the folder that WEIR_SHARED names.",
        ),
    ] = None,
    scenarios: Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="Random scenarios.")] = 100,
    full: Annotated[bool, typer.Option("--full", help="All scenarios of each family, not two of each.")] = False,
    seeds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Runs with the seeds 1 to N.")] = 1,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, metavar="N", help="Simulators at once. Default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print guard.json, and no progress.")] = False,
) -> None:
    """Switches each rule of the guard off, behind the shipped model and behind broken ones: what it gains or costs.

    An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    healthy = model_to_run(model)
    broken = own_models(write_broken_models(out / "models", healthy))
    chosen_traces = policy_sets(traces or shared_traces(*TRACE_SETS), scenarios)
    sets = trust_sets(chosen_traces, full=full) | {
        name: chosen_traces[name].scenarios for name in TRACE_SETS if chosen_traces[name].scenarios
    }
    plans = guard_plans(sets, broken, range(1, seeds + 1), healthy, find_simulator())
    console = error_console()
    outcome = run_with_progress(plans, out, jobs or os.cpu_count() or 1, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    results = guard_results(sets, broken, outcome.by_plan)
    run = replay_record(started, plans[0], outcome, failures)
    text = json.dumps(guard_document(results, run), indent=1, allow_nan=False)
    write_text(out / GUARD_JSON, text + "\n")
    page = guard_markdown(results, run)
    write_text(out / GUARD_MARKDOWN, page)
    typer.echo(text if as_json else page)
    wall_s = time.monotonic() - started
    if not as_json:
        typer.echo(f"\n{count_runs(len(outcome.records))} in {wall_s:.1f} s. Details: {out / GUARD_JSON}")
    end_with_failures(failures, console)
