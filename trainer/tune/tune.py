"""The work of `weir tune`: searches, with a progress bar, and shows the result."""

from __future__ import annotations

import os
import shlex
from contextlib import nullcontext, suppress
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from weir.console import error_console
from weir.errors import InputError
from weir.files.input import printable
from weir.files.output import alone_in, make_folder, refuse_other_results
from weir.qoe_eval.report.page_template import REPORT
from weir.simulator.cluster import connected
from weir.trainer.configuration.training import TrainingConfiguration, load_configuration
from weir.trainer.tune.description import DESCRIPTION, begin
from weir.trainer.tune.search import LocalSearch
from weir.trainer.tune.search_report import BEST, best_trial, rewrite
from weir.trainer.tune.trial import TrialRecord, read_trials


def run_search(
    configuration: Path, out: Path, trials: int | None, jobs: int | None, address: str | None, *, resume: bool
) -> None:
    """Searches, and prints the best trial; the arguments are those of the command.

    Raises:
        InputError: the configuration or the folder cannot be used.
        typer.Exit: status 1, after a message: interrupted, or every trial failed.
    """
    base = _with_trials(load_configuration(configuration), configuration, trials)
    assert base.tune is not None
    if address is not None and base.algorithm == "impala":
        raise InputError("--address: a trial of algorithm impala has a cluster of its own; omit it")
    refuse_other_results(out, DESCRIPTION)
    make_folder(out)
    words = ["weir", "tune", str(configuration), "--out", str(out)]
    for option, given in (("--trials", trials), ("--jobs", jobs), ("--address", address)):
        words += [] if given is None else [option, str(given)]
    words += ["--resume"] if resume else []
    with alone_in(out), nullcontext() if address is None else connected(address):
        begin(out, base, printable(shlex.join(words)), resume=resume)
        fault = _search(out, base, jobs, address)
        rewrite(out)
    records = read_trials(out)
    over = sum(record.state != "running" for record in records)
    if over < base.tune.trials:
        if fault:
            typer.echo(f"weir: {printable(fault)}", err=True)
        typer.echo(
            f"interrupted after {over} of {base.tune.trials} trials; continue with: "
            f"weir tune {configuration} --out {out} --resume",
            err=True,
        )
        raise typer.Exit(1)
    best = best_trial(records)
    failed = [record for record in records if record.state == "failed"]
    if failed:
        typer.echo(f"weir: {len(failed)} of {over} trials failed; the first: {failed[0].error}", err=True)
    if best is None:
        raise typer.Exit(1)
    typer.echo(f"{out / BEST}: {_result_text(best)}\n{out / REPORT}")


def _with_trials(base: TrainingConfiguration, file: Path, trials: int | None) -> TrainingConfiguration:
    if base.tune is None:
        raise InputError(f"{file}: has no table [tune]; give it one with [tune.parameters]")
    return base if trials is None else base.model_copy(update={"tune": base.tune.model_copy(update={"trials": trials})})


def _search(out: Path, base: TrainingConfiguration, jobs: int | None, address: str | None) -> str:
    """Runs the search with a progress bar and a line for each trial; returns a fault of the cluster, if any."""
    assert base.tune is not None
    console = error_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    records = read_trials(out)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        over = sum(record.state != "running" for record in records)
        task = progress.add_task("starting", total=base.tune.trials, completed=over)

        def on_steps(number: int, steps: int) -> None:
            progress.update(task, description=f"trial {number}: {steps:,} steps")

        def on_trial(record: TrialRecord) -> None:
            console.print(_result_text(record))
            progress.advance(task)

        with suppress(KeyboardInterrupt):
            if address is None:
                LocalSearch(out, base, on_steps, on_trial).run(jobs or max(1, (os.cpu_count() or 1) // base.threads))
                return ""
            # Only in the environment that has Ray.
            from weir.trainer.tune.cluster_search import search_on_cluster

            return search_on_cluster(out, base, jobs, on_steps, on_trial)
    return ""


def _result_text(record: TrialRecord) -> str:
    if not record.scores:
        return f"{record.name} {record.state}: {record.error}"
    last = record.scores[-1]
    return f"{record.name} {record.state}: viewer's quality {last.viewer_quality:.2f} after {last.steps:,} steps"
