"""Runs plans with a progress bar, converts interrupts and simulator failures to messages and exit status, and ends
commands that measure goals.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from weir_cli.console import counted
from weir_cli.errors import ComponentFailed, InputError
from weir_cli.files.input import printable
from weir_cli.files.output import write_text
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import ReplayOutcome, complete_plans
from weir_eval.runs.store import RunStore

_LINE_INTERVAL_S = 30.0


def run_with_progress(
    plans: Sequence[ReplayPlan],
    out: Path,
    jobs: int | None,
    console: Console,
    *,
    quiet: bool,
    after_interrupt: Callable[[int], str] = lambda _: "",
    on_cluster: bool = False,
    before_runs: Callable[[], None] = lambda: None,
) -> ReplayOutcome:
    """`complete_plans` for a command. SIGTERM acts like Ctrl-C; the message then ends with the text of
    `after_interrupt` for the number of kept runs. Without a terminal, progress is one line per half minute.
    `on_cluster`: use the connected cluster.

    Raises:
        InputError: the simulator refused a run; complete runs are kept.
        ComponentFailed: the simulator always dies.
        typer.Exit: status 1, after a message: interrupted.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    in_lines = not (quiet or console.is_terminal)
    next_line_s = time.monotonic() + _LINE_INTERVAL_S
    on_sigterm = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Progress(*columns, console=console, disable=quiet or in_lines, transient=True) as progress:
            task = progress.add_task("starting", total=None)

            def show(done: int, total: int, name: str) -> None:
                nonlocal next_line_s
                progress.update(task, completed=done, total=total, description=name)
                if in_lines and time.monotonic() >= next_line_s:
                    next_line_s = time.monotonic() + _LINE_INTERVAL_S
                    console.print(f"{done:,} of {counted(total, 'run')}")

            processes = None if on_cluster else jobs or os.cpu_count() or 1
            outcome = complete_plans(plans, out, processes, show, before_runs)
    except ComponentFailed:
        RunStore(out).discard_if_empty()
        raise
    except KeyboardInterrupt:
        number = len(RunStore(out).read())
        kept = f"{counted(number, 'run')} kept" if number else "nothing is kept"
        next_time = "goes on" if number else "starts again"
        console.print(f"weir: interrupted; {kept} in {out}: the same command {next_time}{after_interrupt(number)}")
        raise typer.Exit(1) from None
    finally:
        signal.signal(signal.SIGTERM, on_sigterm)
    if outcome.refused:
        RunStore(out).discard_if_empty()
        kept = f" ({counted(len(outcome.records), 'run')} kept in {out})" if outcome.records else ""
        raise InputError(f"{outcome.refused.describe()}{kept}")
    return outcome


def end_with_failures(failures: Sequence[str], console: Console, noun: str = "run") -> None:
    """Ends with status 1 if runs did not complete, and lists the first five."""
    if failures:
        shown = "\n".join(f"  {failure}" for failure in failures[:5])
        console.print(f"weir: {counted(len(failures), noun)} did not complete:\n{shown}")
        raise typer.Exit(1)


def finish(
    document: Mapping[str, Any],
    summary: Path,
    pages: Mapping[Path, str],
    show: Callable[[], None],
    console: Console,
    *,
    as_json: bool,
) -> None:
    """Writes and shows results, and ends with status 1 if something did not complete. `run` of the document has
    `wall_s`, `runs` and `failures`. Refers to the first page for details.

    Raises:
        typer.Exit: status 1, after a message: runs or calls did not complete.
    """
    run = document["run"]
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    write_text(summary, text)
    for path, page in pages.items():
        write_text(path, page)
    if as_json:
        typer.echo(text, nl=False)
    else:
        show()
        details = printable(next(iter(pages), summary))
        typer.echo(f"\n{counted(run['runs'], 'run')} in {run['wall_s']:.1f} s. Details: {details}")
    end_with_failures(run["failures"], console)
