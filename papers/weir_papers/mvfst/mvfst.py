"""The command `weir paper mvfst`."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from weir.console import error_console
from weir.files.model import read_model
from weir.files.output import make_folder
from weir.qoe_eval.evaluate.ending import replay_record
from weir.qoe_eval.options.shared import JobsOption, check_model, model_to_run
from weir.qoe_eval.runs.progress import run_with_progress
from weir.simulator.executables import find_simulator
from weir_papers.common import JsonOption, OutOption, SeedsOption, end_paper
from weir_papers.mvfst.mvfst_report import mvfst_markdown
from weir_papers.mvfst.mvfst_runs import mvfst_cases, mvfst_plans
from weir_papers.mvfst.rows import mvfst_rows


def mvfst(
    out: OutOption,
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="Measure this model. Default: the shipped one.")
    ] = None,
    seeds: SeedsOption = 5,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """MVFST-RL: a sender that is blocked while it decides, and Pantheon's 18 emulators.

    An interrupted measurement continues when the same command is given again.
    """
    started = time.monotonic()
    check_model(model, "MODEL")
    if model:
        read_model(model)  # before anything runs
    make_folder(out)
    plans = mvfst_plans(range(1, seeds + 1), model_to_run(model), find_simulator())
    console = error_console()
    outcome = run_with_progress([plan for _, plan in plans], out, jobs, console, quiet=as_json)
    cases = mvfst_cases(plans, outcome)
    rows = mvfst_rows(cases)
    run = replay_record(started, plans[0][1], outcome, [failure.describe() for failure in outcome.failures])
    figures = {"cases": {name: {who: asdict(case) for who, case in of.items()} for name, of in cases.items()}}
    pages = {out / "mvfst.md": mvfst_markdown(rows, cases, run)}
    end_paper("mvfst", rows, run, figures, pages, out, console, as_json=as_json)
