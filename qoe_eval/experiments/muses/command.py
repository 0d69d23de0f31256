"""`weir experiment muses`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from weir.console import error_console
from weir.executables import find_simulator
from weir.qoe_eval.evaluate.ending import finish, replay_record
from weir.qoe_eval.experiments.muses.experiment import GLOBAL_FOLDER, global_plans, muses_plans, muses_results
from weir.qoe_eval.experiments.muses.flow_rows import flow_rows
from weir.qoe_eval.experiments.muses.imitation import imitation_scores, nearest_share
from weir.qoe_eval.experiments.muses.model_rows import TEACHER, model_rows
from weir.qoe_eval.experiments.muses.network_rows import network_rows
from weir.qoe_eval.experiments.muses.page import render
from weir.qoe_eval.experiments.muses.report import muses_document
from weir.qoe_eval.experiments.muses.results import GLOBAL_TREE, MUSES
from weir.qoe_eval.experiments.muses.sets import LTE_TRACES, muses_sets
from weir.qoe_eval.experiments.options import CallTracesOption, ModelOption, SeedsOption
from weir.qoe_eval.report.goal_table import print_rows
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.options import JobsOption, check_model, model_to_run
from weir.qoe_eval.runs.progress import run_with_progress
from weir.trainer import read_model
from weir.trainer.gym import SimulatorError

MUSES_JSON = "muses.json"
MUSES_PAGE = "muses.html"


def muses(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where muses.html, muses.json and results.jsonl go.")],
    model: ModelOption = None,
    global_model: Annotated[
        Path | None, typer.Option("--global", metavar="FILE", help="ONNX model: one tree for all kinds of path.")
    ] = None,
    teacher: Annotated[
        Path | None, typer.Option(metavar="FILE", help="ONNX model: whom the trees imitate; for Figure 1b.")
    ] = None,
    traces: CallTracesOption = None,
    networks: Annotated[
        int, typer.Option(min=3, max=10_000, metavar="N", help="Networks of each kind of Table III; the paper: 1000.")
    ] = 100,
    flows: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="Flows of 30 s of each model and delay, for Figure 1b.")
    ] = 20,
    seeds: SeedsOption = 5,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print muses.json, and no progress.")] = False,
) -> None:
    """Measures a model, a mixture of trees or not, on what Muses' paper measured, beside TCP, GCC and others.

    Goals whose traces or files are not there are "not measured". An interrupted run goes on when the same command is
    given again.
    """
    started = time.monotonic()
    files = {MUSES: model, GLOBAL_TREE: global_model, TEACHER: teacher}
    for option, file in (("--model", model), ("--global", global_model), ("--teacher", teacher)):
        check_model(file, option)
        if file:
            # Here, since those but --model are not needed before the first runs are done.
            read_model(file)
    chosen, simulator = model_to_run(model), find_simulator()
    nearest = nearest_share(chosen)
    sets = muses_sets(traces or shared_traces(LTE_TRACES), networks)
    plans = muses_plans(sets, range(1, seeds + 1), chosen, simulator)
    console = error_console()
    outcome = run_with_progress(list(plans.values()), out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    global_tree = None
    if global_model:
        replaced = global_plans(sets, model_to_run(global_model), simulator)
        of_global = run_with_progress(list(replaced.values()), out / GLOBAL_FOLDER, jobs, console, quiet=as_json)
        failures += [failure.describe() for failure in of_global.failures]
        global_tree = replaced, of_global
    results = muses_results(sets, plans, outcome, out, global_tree)
    given = {who: file for who, file in files.items() if file}
    try:
        f1 = imitation_scores(given, flows, simulator) if len(given) == len(files) else {}
    except SimulatorError as error:
        console.print(f"weir: {error}")
        raise typer.Exit(1) from None
    rows = [*network_rows(results), *flow_rows(results), *model_rows(f1, nearest)]
    run = replay_record(started, next(iter(plans.values())), outcome, failures) | {
        "seeds": list(range(1, seeds + 1)),
        "networks": networks,
        "files": {who: file.name for who, file in given.items()},
    }
    finish(
        muses_document(rows, results, f1, run),
        out / MUSES_JSON,
        {out / MUSES_PAGE: render(results, rows, f1, run)},
        lambda: print_rows(rows),
        console,
        as_json=as_json,
    )
