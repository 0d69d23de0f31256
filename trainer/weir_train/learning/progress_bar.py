"""The progress of commands that train."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_LINE_INTERVAL_S = 30.0


@contextmanager
def progress_bar(
    total: int, console: Console | None = None, *, end_s: float = math.inf
) -> Iterator[Callable[[str, int, str], None]]:
    """Shows a bar on standard error, or without a terminal one line per half minute; yields a function of task, steps
    so far and a note. The work ends after `total` steps or at `end_s` of `monotonic`, whichever is first.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(total, console, end_s).show
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("starting", total=total, rate="", left="", note="")

        def show(description: str, steps: int, note: str) -> None:
            steps = min(steps, total)
            progress.update(task, description=description, completed=steps, note=note)
            speed = progress.tasks[0].speed
            rate = "" if speed is None else f"{speed:,.0f} steps/s"
            progress.update(task, rate=rate, left=_time_left_text(total - steps, speed, end_s - monotonic()))

        yield show


class _Lines:
    """Prints progress as lines: the first report, then one per `_LINE_INTERVAL_S`, and the end."""

    def __init__(self, total: int, console: Console, end_s: float) -> None:
        self._total = total
        self._end_s = end_s
        self._console = console
        self._next_line_s = -math.inf
        self._first: tuple[float, int] | None = None

    def show(self, description: str, steps: int, note: str) -> None:
        now_s = monotonic()
        if self._first is None:
            self._first = now_s, steps
        steps = min(steps, self._total)
        if now_s < self._next_line_s and steps < self._total:
            return
        self._next_line_s = now_s + _LINE_INTERVAL_S
        elapsed_s, done = now_s - self._first[0], steps - self._first[1]
        speed = done / elapsed_s if elapsed_s > 0 and done > 0 else None
        parts = [
            f"{description}: {steps:,} of {self._total:,} steps",
            "" if speed is None else f"{speed:,.0f} steps/s",
            _time_left_text(self._total - steps, speed, self._end_s - now_s),
            note,
        ]
        self._console.print(", ".join(part for part in parts if part), soft_wrap=True, markup=False, highlight=False)


def _time_left_text(steps: int, speed: float | None, limit_s: float) -> str:
    """Formats the time that the remaining steps take at a speed in steps/s, if known, but at most `limit_s`."""
    left_s = max(0.0, min(steps / speed if speed else math.inf, limit_s))
    if not math.isfinite(left_s):
        return ""
    return f"{left_s:.0f} s left" if left_s < 60.0 else f"{left_s / 60:.0f} min left"


def reward_text(mean_reward: float) -> str:
    """Formats a mean reward per step, which is NaN before the first episode has ended."""
    return f"reward {mean_reward:.4f}" if math.isfinite(mean_reward) else "no episode has ended yet"
