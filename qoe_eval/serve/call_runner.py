"""Runs one call at a time for the page: starts it, passes changes on, publishes its events, ends it with the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weir.errors import InputError, MissingComponent
from weir.qoe_eval.call import call_report
from weir.qoe_eval.call.plan import CallResult, CallSettings, Order
from weir.qoe_eval.requirements import missing_requirements
from weir.qoe_eval.serve.call_folders import ListedCall, describe_call, new_folder
from weir.qoe_eval.serve.call_request import CallRequest
from weir.qoe_eval.serve.feed import Event, Feed, for_viewers, now_us
from weir.registry import WEIGHTS

MAX_CHANGES = 64
# A stopped call still writes its video and measures; a server that ends waits this long for it.
END_S = 20.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CallBackend:
    """How calls are made; tests replace it.

    `missing` lists what this machine lacks for a request, and may take a second; `run_call` makes the call;
    `write_report` writes `report.html` into the folder of a result, and may take seconds.
    """

    missing: Callable[[CallRequest], list[str]]
    run_call: Callable[[CallSettings, Callable[[Event], None], asyncio.Queue[Order]], Awaitable[CallResult]]
    write_report: Callable[[CallResult], object]


def real_calls() -> CallBackend:
    """Calls through namespaces and the emulated link, as `weir call` makes them."""
    # Imported late: it loads the browser's driver.
    from weir.qoe_eval.call.session import run_call

    return CallBackend(
        missing=lambda request: missing_requirements(request.sender),
        run_call=run_call,
        write_report=lambda result: call_report.write([result], result.folder),
    )


class CallInProgress(Exception):
    """Another call is not over yet."""


@dataclass
class _Call:
    number: int
    request: CallRequest
    folder: Path
    status: str = "running"
    phase: str = "starting"
    message: str = ""
    connected: bool = False
    stopped: bool = False
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    result: ListedCall | None = None
    changes: asyncio.Queue[Order] = field(default_factory=lambda: asyncio.Queue(MAX_CHANGES))

    def settings(self) -> CallSettings:
        request = self.request
        return CallSettings(
            scenario=request.scenario,
            sender=request.sender,
            controller=request.controller,
            objective=request.objective,
            duration_s=request.duration_s,
            # The scenario without variation.
            seed=0,
            width=request.width,
            height=request.height,
            out=self.folder,
        )

    def describe(self) -> dict[str, Any]:
        request = self.request
        return {
            "number": self.number,
            "status": self.status,
            "phase": self.phase,
            "message": self.message,
            "started": self.started.isoformat(timespec="seconds"),
            "scenario": request.scenario.name,
            "sender": request.sender,
            "controller": request.controller,
            "objective": list(request.objective),
            "duration_s": request.duration_s,
            "size": f"{request.width}x{request.height}",
            "result": self.result,
        }


class CallRunner:
    """Starts and ends calls; all methods from one event loop."""

    def __init__(self, out: Path, backend: CallBackend, feed: Feed) -> None:
        self._out = out
        self._backend = backend
        self._feed = feed
        self._call: _Call | None = None
        self._task: asyncio.Task[None] | None = None
        self._starting = False
        self._closed = False
        self._numbers = 0

    @property
    def running(self) -> bool:
        """True if a call is starting, running, or being measured."""
        return self._starting or (self._task is not None and not self._task.done())

    def describe(self) -> dict[str, Any] | None:
        """The running or last call: settings, status (running, done, stopped, failed), phase and result."""
        return self._call.describe() if self._call else None

    async def missing(self, request: CallRequest) -> list[str]:
        """Returns what this machine lacks for a call, one sentence each."""
        return await asyncio.to_thread(self._backend.missing, request)

    async def start(self, request: CallRequest) -> dict[str, Any]:
        """Starts a call and describes it.

        Raises:
            CallInProgress: another call is not over, or the server is ending.
            MissingComponent: this machine lacks a component for it.
            InputError: its folder cannot be made.
        """
        if self.running:
            raise CallInProgress
        self._starting = True
        try:
            missing = await self.missing(request)
            if missing:
                raise MissingComponent("\n".join(missing))
            if self._closed:
                raise CallInProgress
            folder = new_folder(self._out, request.scenario.name, request.controller)
            self._numbers += 1
            self._call = _Call(self._numbers, request, folder)
            self._feed.clear()
            self._publish_call(self._call)
            self._task = asyncio.create_task(self._run(self._call))
        finally:
            self._starting = False
        return self._call.describe()

    def change(self, message: Order, viewer: str) -> None:
        """Passes a checked change on to the call, and publishes it with the viewer who made it.

        Raises:
            InputError: no call is running, or it accepts no more changes.
        """
        call = self._call
        if call is None or call.status != "running":
            raise InputError("no call is running")
        if message["type"] == "stop":
            self._stop(call)
        elif call.changes.full():
            raise InputError("the call does not accept more changes now")
        else:
            call.changes.put_nowait(message)
        if message["type"] == "objective":
            throughput, latency, loss = (message[name] for name in WEIGHTS)
            call.request = replace(call.request, objective=(throughput, latency, loss))
        # Viewers do not see where on this machine a model is.
        shown = {name: value for name, value in message.items() if name not in ("type", "path")}
        self._publish({"type": "control", "action": message["type"], "viewer": viewer} | shown)

    async def close(self) -> None:
        """Stops the running call and waits until it has cleaned up."""
        self._closed = True
        task, call = self._task, self._call
        if task is None or task.done() or call is None:
            return
        self._stop(call)
        done, _ = await asyncio.wait([task], timeout=END_S)
        if not done:
            task.cancel()
            await asyncio.wait([task])

    def _stop(self, call: _Call) -> None:
        """A call accepts changes only once it is connected; until then it is cancelled, and cleans up after itself."""
        call.stopped = True
        if call.connected:
            if call.changes.full():
                call.changes.get_nowait()
            call.changes.put_nowait({"type": "stop"})
        elif self._task is not None:
            self._task.cancel()

    async def _run(self, call: _Call) -> None:
        def on_event(event: Event) -> None:
            if event.get("type") == "state":
                call.phase = str(event.get("text", ""))[:200]
                call.connected = call.connected or "started_us" in event
            shown = for_viewers(event)
            if shown is not None:
                self._feed.publish(shown)

        try:
            result = await self._backend.run_call(call.settings(), on_event, call.changes)
            call.phase = "writing the report"
            self._publish({"type": "state", "text": call.phase})
            call.message = result.failure or await self._report(result)
            call.status = "failed" if result.failure else "stopped" if call.stopped else "done"
        except asyncio.CancelledError:
            call.status = "stopped"
            call.message = "not measured: the server ended" if call.connected else "stopped before it began"
        except Exception as error:
            if not isinstance(error, InputError | MissingComponent):
                _log.exception("the call failed")
            call.status, call.message = "failed", str(error) or type(error).__name__
        finally:
            call.phase = ""
            call.result = describe_call(self._out, call.folder)
            self._publish_call(call)

    async def _report(self, result: CallResult) -> str:
        """Returns why the report could not be written; the call is complete without it."""
        try:
            await asyncio.to_thread(self._backend.write_report, result)
        except Exception as error:
            _log.exception("the report failed")
            return f"the report could not be written: {error}"
        return ""

    def _publish_call(self, call: _Call) -> None:
        self._publish({"type": "call", "call": call.describe()})

    def _publish(self, event: Mapping[str, Any]) -> None:
        self._feed.publish({"time_us": now_us(), **event})
