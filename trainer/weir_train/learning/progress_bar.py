"""The progress bar of commands that train."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str, int, str], None]]:
    """Shows a bar on standard error; yields a function of task, steps so far and a note."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=total, rate="", note="")

        def show(description: str, steps: int, note: str) -> None:
            speed = progress.tasks[0].speed
            rate = "" if speed is None else f"{speed:,.0f} steps/s"
            progress.update(task, description=description, completed=min(steps, total), rate=rate, note=note)

        yield show


def reward_text(mean_reward: float) -> str:
    """Formats a mean reward per step, which is NaN before the first episode has ended."""
    return f"reward {mean_reward:.4f}" if math.isfinite(mean_reward) else "no episode has ended yet"
