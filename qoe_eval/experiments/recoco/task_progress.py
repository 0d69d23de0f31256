"""Training of many models with one progress bar over all of their steps."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from weir.qoe_eval.experiments.recoco.results import ModelTask, complete_model, read_result
from weir.qoe_eval.runs.progress import end_with_failures
from weir.qoe_eval.runs.task_processes import run_tasks

_INTERVAL_S = 1.0


class TaskProgress:
    """A progress bar over the steps of all models, with rate and time left; on what is no terminal, a line a model."""

    def __init__(self, console: Console, total: int, *, quiet: bool) -> None:
        self._console = console
        self._total = total
        self._plain = not quiet and not console.is_terminal
        self._done: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:.1f} %"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or self._plain,
            transient=True,
            speed_estimate_period=300.0,
        )
        self._task = self._bar.add_task("starting", total=total, rate="")

    def __enter__(self) -> TaskProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def complete(self, tasks: Sequence[ModelTask], processes: int) -> None:
        """Completes those that are not complete yet.

        Raises:
            typer.Exit: status 1, after a message: a model failed; the others are complete.
        """
        missing = []
        for task in tasks:
            if read_result(task) is None:
                missing.append(task)
            else:
                self._done[task.name] = self._kept[task.name] = task.model.steps
        failures = run_tasks(missing, complete_model, processes, self._show, self._finish)
        end_with_failures([failure.describe() for failure in failures], self._console)

    def _show(self, task: ModelTask, steps: int) -> None:
        # What an earlier command has trained tells nothing about the rate of this one.
        self._kept.setdefault(task.name, max(0, steps - 1000))
        self._done[task.name] = min(steps, task.model.steps)
        self._bar.update(
            self._task, completed=sum(self._done.values()), description=task.name, rate=f"{self._rate():,.0f} steps/s"
        )

    def _finish(self, task: ModelTask) -> None:
        self._show(task, task.model.steps)
        if self._plain:
            done, rate = sum(self._done.values()), self._rate()
            left_min = (self._total - done) / rate / 60 if rate > 0 else float("nan")
            self._console.print(
                f"{task.name}: complete; {100 * done / self._total:.0f} % of all steps, {rate:,.0f} steps/s, "
                f"{left_min:.0f} min left"
            )

    def _rate(self) -> float:
        own = sum(self._done.values()) - sum(self._kept.values())
        return own / max(_INTERVAL_S, time.monotonic() - self._started)
