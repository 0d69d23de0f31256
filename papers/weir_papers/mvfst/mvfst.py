"""The command `weir paper mvfst`."""

from __future__ import annotations

import time
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from weir_cli.console import error_console
from weir_cli.files.output import make_folder
from weir_cli.installation import require
from weir_eval.model_file import read_model
from weir_eval.options.shared import JobsOption, check_model, model_to_run
from weir_eval.records.command_record import command_record
from weir_eval.report.goal_table import rows_document
from weir_eval.runs.progress import finish, run_with_progress
from weir_papers.claims import print_claims
from weir_papers.common import JsonOption, OutOption, SeedsOption, end_paper, replay_record
from weir_papers.mvfst.claims import ASYNCHRONY_JSON, CLAIMS, asynchrony_values, measured
from weir_papers.mvfst.mvfst_report import mvfst_markdown
from weir_papers.mvfst.mvfst_runs import mvfst_cases, mvfst_plans
from weir_papers.mvfst.rows import mvfst_rows
from weir_sim.executables import find_simulator
from weir_train.learning.progress_bar import progress_bar


def mvfst(
    out: OutOption,
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="Measure this model. Default: the shipped one.")
    ] = None,
    seeds: SeedsOption = 5,
    steps: Annotated[
        int, typer.Option(min=0, metavar="N", help="Steps of each training of the paper's agent. 0: train none.")
    ] = 300_000,
    trained: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Train with the seeds 1 to N.")] = 3,
    asynchrony: Annotated[
        bool,
        typer.Option(
            "--asynchrony", help="On Ray, compare the time of training asynchronously and synchronously, nothing else."
        ),
    ] = False,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """MVFST-RL: a sender that is blocked while it decides, Pantheon's 18 emulators, and the paper's agent, which learns
    on six of them.

    An interrupted measurement continues when the same command is given again.
    """
    started = time.monotonic()
    check_model(model, "MODEL")
    if model:
        read_model(model)  # before anything runs
    make_folder(out)
    if asynchrony:
        _asynchrony(started, steps, trained, out, as_json=as_json)
        return
    plans = mvfst_plans(range(1, seeds + 1), model_to_run(model), find_simulator())
    console = error_console()
    outcome = run_with_progress([plan for _, plan in plans], out, jobs, console, quiet=as_json)
    cases = mvfst_cases(plans, outcome)
    rows = mvfst_rows(cases)
    run = replay_record(started, plans[0][1], outcome, [failure.describe() for failure in outcome.failures])
    trials = _trials(steps, trained, out) if steps else []
    figures: dict[str, Any] = {
        "cases": {
            name: {controller: asdict(case) for controller, case in by_controller.items()}
            for name, by_controller in cases.items()
        },
        "trials": trials,
    }
    if trials and not as_json:
        print_claims(CLAIMS, measured(rows_document("", rows, run) | figures))
    pages = {out / "mvfst.md": mvfst_markdown(rows, cases, run, trials)}
    end_paper("mvfst", rows, run, figures, pages, out, console, as_json=as_json)


def _asynchrony(started: float, steps: int, seeds: int, out: Path, *, as_json: bool) -> None:
    require("weir-sim[distributed]")
    from weir_papers.mvfst.asynchrony import asynchrony

    with progress_bar(2 * steps * seeds) as show:
        results = asynchrony(steps, seeds, lambda title, done: show(title, done, ""))
    run = {**command_record(started), "runs": 2 * seeds, "failures": []}
    document = {"schema": "weir.mvfst-asynchrony/1", "run": run, "asynchrony": results}
    values = asynchrony_values(document)
    shown = [claim for claim in CLAIMS if claim.key in values]
    finish(document, out / ASYNCHRONY_JSON, {}, lambda: print_claims(shown, values), error_console(), as_json=as_json)


def _trials(steps: int, seeds: int, out: Path) -> list[dict[str, Any]]:
    """The results of all variants and seeds; each is kept in `trials/` of the folder."""
    require("weir-train[learning]")
    from weir_papers.mvfst.learner import Size
    from weir_papers.mvfst.trials import VARIANTS, trial

    # Fewer where the steps would not fill an episode of each.
    size = Size(steps, senders=min(Size.senders, max(8, steps // 1500)))
    results, folder, simulator = [], out / "trials", find_simulator()
    try:
        with progress_bar(steps * seeds * len(VARIANTS)) as show:
            for number, (seed, name) in enumerate(product(range(1, seeds + 1), VARIANTS)):

                def on_progress(done: int, title: str = f"{name}, seed {seed}", before: int = number * steps) -> None:
                    show(title, before + done, "")

                results.append(trial(name, seed, size, folder, simulator=simulator, on_progress=on_progress))
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; complete trainings are kept: the same command continues", err=True)
        raise typer.Exit(1) from None
    return results
