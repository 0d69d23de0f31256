"""One call at a time: starts it, passes controls on, tells the feed how it goes, and ends it with the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weir.errors import InputError, MissingComponent
from weir.qoe_eval.serve.backend import CallBackend
from weir.qoe_eval.serve.call_folders import describe_call, new_folder
from weir.qoe_eval.serve.call_request import CallRequest
from weir.qoe_eval.serve.feed import Feed
from weir.qoe_eval.serve.live_events import for_viewers, now_us
from weir.registry import WEIGHTS

MAX_CONTROLS = 64
# After a stop a call still writes its video and measures itself; when the server ends, it is given this long.
END_S = 20.0

_log = logging.getLogger(__name__)


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
    result: dict[str, Any] | None = None
    controls: asyncio.Queue[dict[str, Any]] = field(default_factory=lambda: asyncio.Queue(MAX_CONTROLS))

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


class CallDesk:
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
        """Whether a call is starting, running, or being measured."""
        return self._starting or (self._task is not None and not self._task.done())

    def describe(self) -> dict[str, Any] | None:
        """The call that runs or was the last: settings, status (running, done, stopped, failed), phase and result."""
        return self._call.describe() if self._call else None

    async def missing(self, request: CallRequest) -> list[str]:
        """What this machine lacks for a call, one sentence each."""
        return await asyncio.to_thread(self._backend.missing, request)

    async def start(self, request: CallRequest) -> dict[str, Any]:
        """Starts a call and describes it.

        Raises:
            CallInProgress: another one is not over, or the server is ending.
            MissingComponent: this machine lacks something for it.
            InputError: the session refuses these settings.
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
            settings = self._backend.settings(request, folder)
            self._numbers += 1
            self._call = _Call(self._numbers, request, folder)
            self._feed.clear()
            self._tell(self._call)
            self._task = asyncio.create_task(self._run(self._call, settings))
        finally:
            self._starting = False
        return self._call.describe()

    def control(self, message: dict[str, Any], viewer: str) -> None:
        """Passes a checked control message on to the call, and tells all viewers whose it was.

        Raises:
            InputError: no call runs, or it takes no more.
        """
        call = self._call
        if call is None or call.status != "running":
            raise InputError("no call is running")
        if message["type"] == "stop":
            self._stop(call)
        elif call.controls.full():
            raise InputError("the call does not take more changes just now")
        else:
            call.controls.put_nowait(message)
        if message["type"] == "objective":
            throughput, latency, loss = (message[name] for name in WEIGHTS)
            call.request = replace(call.request, objective=(throughput, latency, loss))
        # Viewers see which model, and not where on this machine it lies.
        shown = {name: value for name, value in message.items() if name not in ("type", "path")}
        self._publish({"type": "control", "action": message["type"], "viewer": viewer} | shown)

    async def close(self) -> None:
        """Stops the call, if one runs, and waits until nothing of it is left."""
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
        """A call takes controls only once it is connected; until then it is cancelled, and cleans up after itself."""
        call.stopped = True
        if call.connected:
            if call.controls.full():
                call.controls.get_nowait()
            call.controls.put_nowait({"type": "stop"})
        elif self._task is not None:
            self._task.cancel()

    async def _run(self, call: _Call, settings: Any) -> None:
        def on_event(event: dict[str, Any]) -> None:
            if event.get("type") == "state":
                call.phase = str(event.get("text", ""))[:200]
                call.connected = call.connected or "started_us" in event
            shown = for_viewers(event)
            if shown is not None:
                self._feed.publish(shown)

        try:
            result = await self._backend.run_call(settings, on_event, call.controls)
            call.phase = "writing the report"
            self._publish({"type": "state", "text": call.phase})
            call.message = result.failure or await self._report(result)
            call.status = "failed" if result.failure else "stopped" if call.stopped else "done"
        except asyncio.CancelledError:
            call.status = "stopped"
            call.message = "it was not measured: the server ended" if call.connected else "stopped before it had begun"
        except Exception as error:
            if not isinstance(error, InputError | MissingComponent):
                _log.exception("the call failed")
            call.status, call.message = "failed", str(error) or type(error).__name__
        finally:
            call.phase = ""
            call.result = describe_call(self._out, call.folder)
            self._tell(call)

    async def _report(self, result: Any) -> str:
        """A call without a page is still a call: what went wrong is a message."""
        try:
            await asyncio.to_thread(self._backend.write_report, result)
        except Exception as error:
            _log.exception("the report failed")
            return f"the report could not be written: {error}"
        return ""

    def _tell(self, call: _Call) -> None:
        self._publish({"type": "call", "call": call.describe()})

    def _publish(self, event: Mapping[str, Any]) -> None:
        self._feed.publish({"time_us": now_us(), **event})
