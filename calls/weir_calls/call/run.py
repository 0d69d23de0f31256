"""Makes planned calls one after another, keeps the complete ones, and shows progress."""

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

from weir_calls.call.plan import CallResult, CallSettings, done_calls
from weir_cli.console import counted
from weir_cli.errors import MissingComponent
from weir_cli.files.place import refuse_folders_of_others
from weir_eval.records.call_record import CallRecord
from weir_eval.runs.store import RecordStore


@dataclass
class CallsOutcome:
    """`records`: complete calls, in the order of the plan; `reused` of them are from an earlier run. `failed`: records
    of calls that ended early, each with a line in `failures`.
    """

    records: list[CallRecord] = field(default_factory=list)
    failed: list[CallRecord] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    reused: int = 0


def run_calls(calls: Mapping[str, CallSettings], out: Path, console: Console, *, quiet: bool) -> CallsOutcome:
    """Makes the calls that are missing in `out`, and repeats those that the machine disturbed in an earlier run. A call
    that ends early is a failure; the next run retries it.

    Args:
        calls: the planned calls by key.
        out: the folder of `results.jsonl`.
        console: for progress and messages.
        quiet: show no progress.

    Raises:
        InputError: the folder cannot be used.
        MissingComponent: a component required for calls is missing.
        typer.Exit: status 1, after a message: interrupted; complete calls are kept.
    """
    refuse_folders_of_others(out)
    with contextlib.closing(RecordStore(out, CallRecord)) as store:
        disturbed = {record.key for record in store.read() if record.call.disturbed}
        store.start(dict.fromkeys(calls.keys() - disturbed, False))
        run = _Run(calls, store, console, quiet)
        outcome = CallsOutcome(reused=len(run.done))
        try:
            asyncio.run(run.make_calls(outcome))
        except MissingComponent:
            store.discard_if_empty()
            raise
        except (KeyboardInterrupt, asyncio.CancelledError):
            console.print(
                f"weir: interrupted; {counted(len(run.done), 'call')} kept in {out}: the same command continues"
            )
            raise typer.Exit(1) from None
    outcome.records = [run.done[key] for key in calls if key in run.done]
    return outcome


class _Run:
    def __init__(
        self, calls: Mapping[str, CallSettings], store: RecordStore[CallRecord], console: Console, quiet: bool
    ) -> None:
        self.done = done_calls(calls, store.read())
        self._calls = calls
        self._store = store
        self._console = console
        self._quiet = quiet
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._hidden = quiet or not console.is_terminal
        self._progress = Progress(*columns, console=console, disable=self._hidden, transient=True)

    async def make_calls(self, outcome: CallsOutcome) -> None:
        this = asyncio.current_task()
        assert this is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, this.cancel)
        with self._progress as progress:
            bar = progress.add_task("starting", total=len(self._calls), completed=len(self.done))
            for key, settings in self._calls.items():
                if key in self.done:
                    continue
                if self._hidden and not self._quiet:
                    self._console.print(settings.name)
                result = await self._make_call(settings, bar)
                record = result.record.model_copy(update={"key": key})
                if result.failure:
                    if result.missing:
                        raise MissingComponent(f"{settings.name}: {result.failure}")
                    outcome.failed.append(record)
                    outcome.failures.append(f"{settings.name}: {result.failure}")
                else:
                    self._store.append(record)
                    self.done[key] = record
                progress.update(bar, completed=len(self.done))

    async def _make_call(self, settings: CallSettings, bar: TaskID) -> CallResult:
        """Makes a call; shows its state and elapsed time beside the progress bar."""
        # Imported late because it loads the browser's driver, which other commands do not need.
        from weir_calls.call.session import run_call

        clock = asyncio.get_running_loop().time
        started = clock()
        in_call = False

        def describe(text: str) -> None:
            self._progress.update(bar, description=f"{settings.name}: {text}")

        def on_event(event: dict[str, Any]) -> None:
            nonlocal started, in_call
            if event["type"] == "state":
                in_call = "duration_s" in event
                started = clock()
                describe(str(event["text"]))
            elif event["type"] == "progress":
                describe(f"{event['text']}, {event['share']:.0%}")

        async def tick() -> None:
            while True:
                await asyncio.sleep(1)
                if in_call:
                    describe(f"{clock() - started:.0f} of {settings.duration_s:.0f} s")

        ticking = asyncio.create_task(tick())
        try:
            return await run_call(settings, on_event)
        finally:
            ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticking
