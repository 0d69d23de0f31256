"""`weir experiment robust`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.executables import find_simulator
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import ModelOption, RepeatDisturbedOption, SeedsOption
from weir.qoe_eval.experiments.replay_record import replay_record
from weir.qoe_eval.experiments.robust.call_rows import call_rows
from weir.qoe_eval.experiments.robust.calls import CALL_SIZES, make_calls
from weir.qoe_eval.experiments.robust.experiment import (
    CHOICES,
    CONTROLLERS,
    chosen_calls,
    chosen_scenarios,
    family_rows,
    robust_plans,
    robust_results,
)
from weir.qoe_eval.experiments.robust.page import render
from weir.qoe_eval.experiments.robust.report import robust_document
from weir.qoe_eval.experiments.robust.rows import robust_rows
from weir.qoe_eval.experiments.robust.terminal_table import print_families
from weir.qoe_eval.report.goal_table import print_rows
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.options import JobsOption, check_model
from weir.qoe_eval.runs.progress import error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run

ROBUST_JSON = "robust.json"
ROBUST_PAGE = "robust.html"


def robust(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where robust.html, robust.json and results.jsonl go.")],
    model: ModelOption = None,
    seeds: SeedsOption = 1,
    family: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"{', '.join(CHOICES)}; repeatable. Default: all."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only scenarios with names like this, such as '*-4M-video'; repeatable."),
    ] = None,
    jobs: JobsOption = None,
    with_calls: Annotated[
        bool, typer.Option("--calls", help="Some of them as real calls, too; 35 minutes a seed. Needs root, Chromium.")
    ] = False,
    size: Annotated[
        list[str] | None,
        typer.Option(metavar="WxH", help=f"Of calls: {' or '.join(CALL_SIZES)}; repeatable. Default: both."),
    ] = None,
    repeat_disturbed: RepeatDisturbedOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print robust.json, and no progress.")] = False,
) -> None:
    """Measures a model on ordinary network life, in families of scenarios, against gcc, gcc-remb, nada and rule.

    An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    scenarios = chosen_scenarios(family or [], only or [])
    sizes = [name for name in CALL_SIZES if name in (size or CALL_SIZES)]
    if unknown := [name for name in size or [] if name not in CALL_SIZES]:
        raise InputError(f"--size {unknown[0]}: use {', '.join(CALL_SIZES)}")
    called = chosen_calls(family or [], only or []) if with_calls else []
    if with_calls:
        check_requirements("chromium")
    plans = robust_plans(scenarios, range(1, seeds + 1), model_to_run(model), find_simulator())
    console = error_console()
    outcome = run_with_progress(plans, out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    results = robust_results(scenarios, outcome, out)
    families = family_rows(results)
    rows = robust_rows(results, families)
    calls = None
    if called:
        calls = make_calls(
            called,
            sizes,
            plans[0].seeds,
            model_to_run(model),
            out,
            console,
            command_record(started),
            quiet=as_json,
            repeat_disturbed=repeat_disturbed,
        )
        rows += call_rows(calls)
        failures += calls.failures
    run = replay_record(started, plans[0], outcome, failures)

    def show() -> None:
        print_families(families, CONTROLLERS)
        typer.echo()
        print_rows(rows)

    end_experiment(
        robust_document(results, families, rows, run, calls),
        out / ROBUST_JSON,
        {out / ROBUST_PAGE: render(results, families, rows, run, calls)},
        show,
        console,
        as_json=as_json,
    )
