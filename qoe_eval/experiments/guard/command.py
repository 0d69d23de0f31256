"""`weir experiment guard`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from weir.executables import find_simulator
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.guard.experiment import guard_plans, guard_results, own_models
from weir.qoe_eval.experiments.guard.report import guard_document, guard_markdown
from weir.qoe_eval.experiments.options import (
    FullOption,
    HealthyModelOption,
    RandomScenariosOption,
    SeedsOption,
    TracesOption,
)
from weir.qoe_eval.experiments.policy.sets import TRACE_SETS, policy_sets
from weir.qoe_eval.experiments.replay_record import replay_record
from weir.qoe_eval.experiments.trust.broken_models import write_broken_models
from weir.qoe_eval.experiments.trust.experiment import trust_sets
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.options import JobsOption, check_model
from weir.qoe_eval.runs.progress import error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run

GUARD_JSON = "guard.json"
GUARD_MARKDOWN = "guard.md"


def guard(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where guard.json, guard.md, results.jsonl and models go.")],
    model: HealthyModelOption = None,
    traces: TracesOption = None,
    scenarios: RandomScenariosOption = 100,
    full: FullOption = False,
    seeds: SeedsOption = 1,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print guard.json, and no progress.")] = False,
) -> None:
    """Switches each rule of the guard off, behind the shipped model and behind broken ones: what it gains or costs.

    An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    healthy = model_to_run(model)
    broken = own_models(write_broken_models(out / "models", healthy))
    known = policy_sets(traces or shared_traces(*TRACE_SETS), scenarios)
    sets = trust_sets(known, full=full) | {name: known[name].scenarios for name in TRACE_SETS if known[name].scenarios}
    plans = guard_plans(sets, broken, range(1, seeds + 1), healthy, find_simulator())
    console = error_console()
    outcome = run_with_progress(plans, out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    results = guard_results(sets, broken, outcome.by_plan)
    run = replay_record(started, plans[0], outcome, failures)
    page = guard_markdown(results, run)
    end_experiment(
        guard_document(results, run),
        out / GUARD_JSON,
        {out / GUARD_MARKDOWN: page},
        lambda: typer.echo(page),
        console,
        as_json=as_json,
    )
