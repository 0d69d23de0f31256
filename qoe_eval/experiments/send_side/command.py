"""`weir experiment send-side`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.executables import find_simulator
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import ModelOption, RandomScenariosOption, SeedsOption, TracesOption
from weir.qoe_eval.experiments.policy.sets import TRACE_SETS
from weir.qoe_eval.experiments.replay_record import replay_record
from weir.qoe_eval.experiments.send_side.experiment import (
    AT_SENDER,
    CONTROLLERS,
    SETS,
    other_model_rows,
    send_side_plans,
    send_side_row,
    send_side_sets,
)
from weir.qoe_eval.report.goal_table import print_rows, rows_document
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.options import JobsOption, check_model
from weir.qoe_eval.runs.progress import error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run
from weir.trainer import read_model

SEND_SIDE_JSON = "send_side.json"


def send_side(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where send_side.json and results.jsonl go.")],
    model: ModelOption = None,
    others: Annotated[
        list[Path] | None,
        typer.Option("--other-model", metavar="FILE", help="Compared with the model at the sender; repeatable."),
    ] = None,
    traces: TracesOption = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help=f"{', '.join(SETS)}; repeatable. Default: all.")
    ] = None,
    seeds: SeedsOption = 1,
    scenarios: RandomScenariosOption = 100,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print send_side.json, and no progress.")] = False,
) -> None:
    """Measures Weir at the sender, from transport feedback, against Weir at the receiver and gcc, set by set; and other
    models there, such as one trained at the sender.

    An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    others = others or []
    check_model(model)
    for other in others:
        check_model(other, "--other-model")
        # Here, since its runs come after all those of the model.
        read_model(other)
    if unknown := [name for name in sets or [] if name not in SETS]:
        raise InputError(f"--set {unknown[0]}: there is none; one of {', '.join(SETS)}")
    chosen = send_side_sets(traces or shared_traces(*TRACE_SETS), scenarios, sets or [])
    plans = []
    for one, controllers in ((model, CONTROLLERS), *((other, (AT_SENDER,)) for other in others)):
        plans += send_side_plans(chosen, range(1, seeds + 1), model_to_run(one), find_simulator(), controllers)
    console = error_console()
    outcome = run_with_progress(plans, out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    size = len(chosen)
    by_set, *by_other = (outcome.by_plan[i : i + size] for i in range(0, len(plans), size))
    rows = [send_side_row(name, records) for name, records in zip(chosen, by_set, strict=True)]
    for other, of_other in zip(others, by_other, strict=True):
        rows += other_model_rows(other.stem, list(chosen), by_set, of_other)
    run = replay_record(started, plans[0], outcome, failures)
    end_experiment(
        rows_document("weir.send_side/1", rows, run),
        out / SEND_SIDE_JSON,
        {},
        lambda: print_rows(rows, details=True),
        console,
        as_json=as_json,
    )
