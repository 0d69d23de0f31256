"""`weir experiment robust`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from weir.executables import find_simulator
from weir.qoe_eval.experiments.robust.experiment import (
    CHOICES,
    CONTROLLERS,
    chosen_scenarios,
    family_rows,
    robust_plans,
    robust_results,
)
from weir.qoe_eval.experiments.robust.rows import robust_rows
from weir.qoe_eval.experiments.robust.table import print_families
from weir.qoe_eval.report.goal_table import print_rows
from weir.qoe_eval.runs.options import check_model
from weir.qoe_eval.runs.progress import count_runs, end_with_failures, error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run


def robust(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where robust.html, robust.json and results.jsonl go.")],
    model: Annotated[Path | None, typer.Option(metavar="FILE", help="ONNX model. Default: the one shipped.")] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Runs with the seeds 1 to N.")] = 1,
    family: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"{', '.join(CHOICES)}; repeatable. Default: all."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only scenarios with names like this, such as '*-4M-video'; repeatable."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, metavar="N", help="Simulators at once. Default: one per core.")
    ] = None,
) -> None:
    """Measures a model on ordinary network life, in families of scenarios, against gcc, gcc-remb, nada and rule.

    An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    scenarios = chosen_scenarios(family or [], only or [])
    plans = robust_plans(scenarios, range(1, seeds + 1), model_to_run(model), find_simulator())
    console = error_console()
    outcome = run_with_progress(plans, out, jobs or os.cpu_count() or 1, console, quiet=False)
    results = robust_results(scenarios, outcome, out)
    families = family_rows(results)
    rows = robust_rows(results, families)
    print_families(families, CONTROLLERS)
    typer.echo()
    print_rows(rows)
    typer.echo(f"\n{count_runs(len(outcome.records))} in {time.monotonic() - started:.1f} s.")
    end_with_failures([failure.describe() for failure in outcome.failures], console)
