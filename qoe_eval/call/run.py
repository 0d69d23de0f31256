"""Makes calls one after the other, keeps what is done, and shows how far it is."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from weir.errors import MissingComponent
from weir.qoe_eval.call.plan import done_calls
from weir.qoe_eval.call.settings import CallResult, CallSettings
from weir.qoe_eval.records import CallRecord
from weir.qoe_eval.runs.store import CallStore


@dataclass
class CallsOutcome:
    """`records`: of all complete calls, in the order of the plan. `failed`: of those that ended before their time, and
    `failures` a line for each. `reused`: how many were there before.
    """

    records: list[CallRecord] = field(default_factory=list)
    failed: list[CallRecord] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    reused: int = 0


def run_calls(
    calls: Mapping[str, CallSettings], out: Path, console: Console, *, quiet: bool, repeat_disturbed: bool = False
) -> CallsOutcome:
    """Makes the calls that are not there yet. One that ends before its time is a failure, the next one is made all the
    same, and the same command tries it again.

    Args:
        calls: by key, as planned.
        out: where `results.jsonl` grows.
        console: for progress and complaints.
        quiet: no progress.
        repeat_disturbed: calls that are there but were disturbed are made again.

    Raises:
        InputError: the folder cannot be used.
        MissingComponent: something that calls need is not there (any more).
        typer.Exit: status 1, after a message: interrupted; what is complete is kept.
    """
    store = CallStore(out)
    repeated = {r.key for r in store.read() if repeat_disturbed and r.call.disturbed}
    store.start(dict.fromkeys(calls.keys() - repeated, False))
    done = done_calls(calls, store.read())
    outcome = CallsOutcome(reused=len(done))
    try:
        asyncio.run(_make_calls(calls, store, done, outcome, console, quiet))
    except (KeyboardInterrupt, asyncio.CancelledError):
        kept = "1 call" if len(done) == 1 else f"{len(done)} calls"
        console.print(f"weir: interrupted; {kept} kept in {out}: the same command goes on")
        raise typer.Exit(1) from None
    outcome.records = [done[key] for key in calls if key in done]
    return outcome


async def _make_calls(
    calls: Mapping[str, CallSettings],
    store: CallStore,
    done: dict[str, CallRecord],
    outcome: CallsOutcome,
    console: Console,
    quiet: bool,
) -> None:
    this = asyncio.current_task()
    assert this is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, this.cancel)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        bar = progress.add_task("starting", total=len(calls), completed=len(done))
        for key, settings in calls.items():
            if key in done:
                continue
            if hidden and not quiet:
                console.print(settings.name)
            result = await _make_call(settings, progress, bar)
            record = result.record.model_copy(update={"key": key})
            if result.failure:
                if result.missing:
                    raise MissingComponent(f"{settings.name}: {result.failure}")
                outcome.failed.append(record)
                outcome.failures.append(f"{settings.name}: {result.failure}")
            else:
                store.append(record)
                done[key] = record
            progress.update(bar, completed=len(done))


async def _make_call(settings: CallSettings, progress: Progress, bar: TaskID) -> CallResult:
    """With what it is doing, and while it lasts the time, beside the bar."""
    # Brings the browser's driver along, which other commands need not wait for.
    from weir.qoe_eval.call.session.session import run_call

    started = asyncio.get_running_loop().time()
    in_call = False

    def describe(text: str) -> None:
        progress.update(bar, description=f"{settings.name}: {text}")

    def on_event(event: dict[str, Any]) -> None:
        nonlocal started, in_call
        if event["type"] == "state":
            in_call = "duration_s" in event
            started = asyncio.get_running_loop().time()
            describe(str(event["text"]))

    async def tick() -> None:
        while True:
            await asyncio.sleep(1)
            if in_call:
                describe(f"{asyncio.get_running_loop().time() - started:.0f} of {settings.duration_s:.0f} s")

    ticking = asyncio.create_task(tick())
    try:
        return await run_call(settings, on_event)
    finally:
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
