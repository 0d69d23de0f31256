"""`weir experiment`: measurements against the project's goals."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from weir.executables import find_simulator
from weir.qoe_eval.experiments.calls.command import calls
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.guard.command import guard
from weir.qoe_eval.experiments.muses.command import muses
from weir.qoe_eval.experiments.options import ModelOption, RandomScenariosOption, SeedsOption, TracesOption
from weir.qoe_eval.experiments.policy.experiment import policy_plans, policy_results, policy_rows
from weir.qoe_eval.experiments.policy.figures import read_figures
from weir.qoe_eval.experiments.policy.report import policy_document, policy_markdown
from weir.qoe_eval.experiments.policy.sets import TRACE_SETS, policy_sets
from weir.qoe_eval.experiments.polycc.command import polycc
from weir.qoe_eval.experiments.pool_calls.command import pool_calls_command
from weir.qoe_eval.experiments.recoco.command import recoco
from weir.qoe_eval.experiments.replay_record import replay_record
from weir.qoe_eval.experiments.robust.command import robust
from weir.qoe_eval.experiments.send_side.calls_command import send_side_calls
from weir.qoe_eval.experiments.send_side.command import send_side
from weir.qoe_eval.experiments.trust.command import trust
from weir.qoe_eval.report.goal_table import print_rows
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.jobs import model_description
from weir.qoe_eval.runs.options import JobsOption, check_model
from weir.qoe_eval.runs.progress import error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run
from weir.trainer.cli import add_experiments

POLICY_JSON = "policy.json"
POLICY_MARKDOWN = "policy.md"

app = typer.Typer(no_args_is_help=True, help="Measure against the project's goals.")
app.command("recoco")(recoco)
add_experiments(app)
app.command("calls")(calls)
app.command("pool-calls")(pool_calls_command)
app.command("robust")(robust)
app.command("polycc")(polycc)
app.command("muses")(muses)
app.command("guard")(guard)
app.command("trust")(trust)
app.command("send-side")(send_side)
app.command("send-side-calls")(send_side_calls)


@app.command("policy")
def policy(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where policy.json, policy.md and results.jsonl go.")],
    model: ModelOption = None,
    traces: TracesOption = None,
    seeds: SeedsOption = 5,
    scenarios: RandomScenariosOption = 200,
    delay_scenarios: Annotated[
        int,
        typer.Option(min=0, max=100_000, metavar="N", help="Random scenarios for worst delays, with the seed 1 only."),
    ] = 2000,
    adaptation: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON with steps_ratio and old_objectives_loss_ratio.")
    ] = None,
    training: Annotated[Path | None, typer.Option(metavar="FILE", help="JSON with wall_s and steps_per_s.")] = None,
    bench: Annotated[Path | None, typer.Option(metavar="FILE", help="What 'weir bench' has written.")] = None,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print policy.json, and no progress.")] = False,
) -> None:
    """Measures a policy against gcc, rule and oracle, goal by goal. Exit status 0 whether or not the goals are reached.

    Goals whose traces or files are not there are "not measured". An interrupted run goes on when the same command is
    given again.
    """
    started = time.monotonic()
    figures = read_figures({"adaptation": adaptation, "training": training, "bench": bench})
    check_model(model)
    sets = policy_sets(traces or shared_traces(*TRACE_SETS), scenarios, delay_scenarios)
    chosen = model_to_run(model)
    plans = policy_plans(sets, range(1, seeds + 1), chosen, find_simulator())
    described = model_description(plans[0])
    console = error_console()
    outcome = run_with_progress(plans, out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    results = policy_results(sets, outcome, out)
    rows = policy_rows(results, figures, described.sha256 if described else "")
    run = replay_record(started, plans[0], outcome, failures)
    end_experiment(
        policy_document(rows, results, run),
        out / POLICY_JSON,
        {out / POLICY_MARKDOWN: policy_markdown(rows, results, run)},
        lambda: print_rows(rows),
        console,
        as_json=as_json,
    )
