"""Makes the calls of a viewer's request, one or two on equal paths: starts them, forwards changes, publishes events,
and ends them with the server. One request at a time.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weir_calls.call import call_report
from weir_calls.call.logs import FRAME_LOG
from weir_calls.call.plan import CallResult, CallSettings, Order
from weir_calls.call.record import write_never_begun
from weir_calls.link.child_process import monotonic_us
from weir_calls.requirements import missing_requirements
from weir_calls.serve.call_folders import ListedCall, describe_call, new_folder
from weir_calls.serve.call_request import CallRequest
from weir_calls.serve.feed import Event, Feed, for_viewers
from weir_calls.serve.models import SHIPPED
from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.output import file_name
from weir_sim.controllers import WEIGHTS

MAX_CHANGES = 64
# Cores for two calls, each of which has two encoders or decoders, a browser and a link in real time.
CORES_FOR_TWO = 4
_OVER = "the call is over, and is being measured"
_MEASURED = "the call is over and measured; its report is being written"
_CUT_TOO_LATE = "the link cannot be cut now: another call of the comparison is over, and the paths would be unequal"

_log = logging.getLogger(__name__)


RunCall = Callable[
    [CallSettings, Callable[[Event], None], asyncio.Queue[Order], asyncio.Barrier | None], Awaitable[CallResult]
]


@dataclass(frozen=True)
class CallBackend:
    """The functions that make calls; tests replace it.

    `missing` lists the missing requirements of a request, and may take a second; `run_call` makes a call;
    `write_report` writes `report.html` of results to a folder, and may take seconds. `cores`: number of CPU cores.
    """

    missing: Callable[[CallRequest], list[str]]
    run_call: RunCall
    write_report: Callable[[Sequence[CallResult], Path], object]
    cores: Callable[[], int]


def real_calls() -> CallBackend:
    """Real calls through namespaces and the emulated link, like those of `weir call`."""
    # Imported late because it loads the browser's driver.
    from weir_calls.call.session import run_call

    return CallBackend(
        missing=lambda request: missing_requirements(request.sender),
        run_call=run_call,
        write_report=call_report.write,
        cores=lambda: len(os.sched_getaffinity(0)),
    )


class CallInProgress(Exception):
    """Another call is still running."""


@dataclass
class _Lane:
    """One call of a request; its `number`, from 0, is in its events."""

    number: int
    controller: str
    folder: Path
    # Start of the scenario, in us of the monotonic clock; None before the call is connected.
    started_us: int | None = None
    # True after the media: nothing of the call can be changed any more.
    over: bool = False
    # Progress of the phase of this call, 0 to 1, if known.
    share: float | None = None
    # The y4m file that grows during the call.
    frames: Path | None = None
    failure: str = ""
    result: CallResult | None = None
    listed: ListedCall | None = None
    task: asyncio.Task[None] | None = None
    changes: asyncio.Queue[Order] = field(default_factory=lambda: asyncio.Queue(MAX_CHANGES))


@dataclass
class _Call:
    number: int
    request: CallRequest
    folder: Path
    lanes: list[_Lane]
    at_once: bool
    status: str = "running"
    phase: str = "starting"
    message: str = ""
    # The model in use, by the name of `Models`.
    model: str = SHIPPED
    stopped: bool = False
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def share(self) -> float | None:
        """Progress of the phase, 0 to 1, that of the slower call; None if unknown."""
        return min((lane.share for lane in self.lanes if lane.share is not None), default=None)

    def settings(self, lane: _Lane) -> CallSettings:
        request = self.request
        return CallSettings(
            scenario=request.scenario,
            sender=request.sender,
            controller=lane.controller,
            objective=request.objective,
            duration_s=request.duration_s,
            # Seed 0: the scenario without variation.
            seed=0,
            width=request.width,
            height=request.height,
            out=lane.folder,
        )

    def describe(self) -> dict[str, Any]:
        request = self.request
        return {
            "number": self.number,
            "status": self.status,
            "phase": self.phase,
            "share": self.share,
            "message": self.message,
            "started": self.started.isoformat(timespec="seconds"),
            "scenario": request.scenario.name,
            "sender": request.sender,
            "controllers": [lane.controller for lane in self.lanes],
            "at_once": self.at_once,
            "objective": list(request.objective),
            "model": self.model,
            "duration_s": request.duration_s,
            "size": f"{request.width}x{request.height}",
            "results": [lane.listed for lane in self.lanes if lane.listed],
        }


class CallRunner:
    """Starts and ends calls; all methods must be called from one event loop.

    Two calls run at once if the machine has enough cores, until this has disturbed one; then one after the other.
    """

    def __init__(self, out: Path, backend: CallBackend, feed: Feed) -> None:
        self._out = out
        self._backend = backend
        self._feed = feed
        self._call: _Call | None = None
        self._task: asyncio.Task[None] | None = None
        self._starting = False
        self._closed = False
        self._numbers = 0
        # True after two calls at once were too much for this machine.
        self._too_slow = False

    @property
    def running(self) -> bool:
        """True if a call is starting, running, or being measured."""
        return self._starting or (self._task is not None and not self._task.done())

    def describe(self) -> dict[str, Any] | None:
        """The running or last call: settings, status (running, done, stopped, unmeasured, failed), phase and result."""
        return self._call.describe() if self._call else None

    def received_videos(self) -> dict[int, tuple[Path, Path]]:
        """The y4m file of received frames of each running call, and its index, by the call's number in the request."""
        lanes = self._call.lanes if self._call is not None and self._call.status == "running" else []
        return {lane.number: (lane.frames, lane.folder / FRAME_LOG) for lane in lanes if lane.frames is not None}

    async def missing(self, request: CallRequest) -> list[str]:
        """Returns the missing requirements of a call, one sentence each."""
        return await asyncio.to_thread(self._backend.missing, request)

    async def start(self, request: CallRequest) -> dict[str, Any]:
        """Starts a call and describes it.

        Raises:
            CallInProgress: another call is still running, or the server is ending.
            MissingComponent: this machine lacks a required component.
            InputError: the folder of the call cannot be created.
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
            self._numbers += 1
            self._call = self._prepared(request)
            self._feed.clear()
            self._publish_call(self._call)
            self._task = asyncio.create_task(self._run(self._call))
        finally:
            self._starting = False
        return self._call.describe()

    def _prepared(self, request: CallRequest) -> _Call:
        controllers = [request.controller, *filter(None, [request.second_controller])]
        folder = new_folder(self._out, request.scenario.name, "-".join(controllers))
        alone = len(controllers) == 1
        lanes = [
            _Lane(number, name, folder if alone else folder / file_name(name))
            for number, name in enumerate(controllers)
        ]
        at_once = len(lanes) > 1 and self._backend.cores() >= CORES_FOR_TWO and not self._too_slow
        return _Call(self._numbers, request, folder, lanes, at_once)

    def change(self, message: Order, viewer: str) -> None:
        """Forwards a checked change to the call, and publishes it with the viewer who made it.

        Raises:
            InputError: no call is running, it accepts no more changes, or the change could not reach all calls that it
                must reach.
        """
        call = self._call
        if call is None or call.status != "running":
            raise InputError("no call is running")
        # Changes of the path apply to all calls; others to calls that follow an objective.
        lanes = [lane for lane in call.lanes if message["type"] == "down" or call.settings(lane).follows_objective]
        if message["type"] == "stop" and all(lane.over or (call.stopped and lane.task is None) for lane in call.lanes):
            self._stop_measuring(call)
        elif message["type"] == "stop":
            self._stop(call)
        elif message["type"] == "down" and any(lane.over for lane in lanes):
            raise InputError(_CUT_TOO_LATE if len(lanes) > 1 else _OVER)
        elif all(lane.over for lane in lanes):
            raise InputError(_OVER)
        elif any(lane.changes.full() for lane in lanes):
            raise InputError("the call does not accept more changes now")
        else:
            for lane in lanes:
                lane.changes.put_nowait(self._for_lane(message, call, lane))
        if message["type"] == "objective":
            throughput, latency, loss = (message[name] for name in WEIGHTS)
            call.request = replace(call.request, objective=(throughput, latency, loss))
        elif message["type"] == "model":
            call.model = message["name"]
        # Viewers must not see the path of a model.
        shown = {name: value for name, value in message.items() if name not in ("type", "path")}
        self._publish({"type": "control", "action": message["type"], "viewer": viewer} | shown)

    def _for_lane(self, message: Order, call: _Call, lane: _Lane) -> Order:
        """The order for one call: a cut reaches a later call at the same time of its scenario."""
        now_s = [(monotonic_us() - one.started_us) / 1e6 for one in call.lanes if one.started_us is not None]
        is_later = message["type"] == "down" and lane.started_us is None and now_s
        return message | {"at_s": now_s[-1]} if is_later else message

    @property
    def folder(self) -> Path | None:
        """The folder of the running or last call."""
        return self._call.folder if self._call else None

    async def close(self, hurry: asyncio.Event) -> bool:
        """Stops the running call and waits until it is measured; `hurry`, once set, leaves it without measures.

        Returns False in the latter case.
        """
        self._closed = True
        task, call = self._task, self._call
        if task is None or task.done() or call is None:
            return True
        self._stop(call)
        hurried = asyncio.create_task(hurry.wait())
        await asyncio.wait([task, hurried], return_when="FIRST_COMPLETED")
        hurried.cancel()
        if task.done():
            return True
        task.cancel()
        await asyncio.wait([task])
        return False

    def _stop(self, call: _Call) -> None:
        """Stops a call by an order; before it is connected, and thus accepts orders, by cancellation."""
        call.stopped = True
        for lane in call.lanes:
            if lane.started_us is not None:
                if lane.changes.full():
                    lane.changes.get_nowait()
                lane.changes.put_nowait({"type": "stop"})
            elif lane.task is not None:
                lane.task.cancel()

    def _stop_measuring(self, call: _Call) -> None:
        """Leaves the calls, which are over, without measures. Raises InputError if they have them already."""
        measuring = [lane for lane in call.lanes if lane.task is not None and not lane.task.done()]
        if not measuring:
            raise InputError(_MEASURED)
        call.stopped = True
        for lane in measuring:
            assert lane.task is not None
            lane.task.cancel()

    async def _run(self, call: _Call) -> None:
        try:
            for lanes in [call.lanes] if call.at_once else [[lane] for lane in call.lanes]:
                if not call.stopped:
                    barrier = asyncio.Barrier(len(lanes)) if call.at_once else None
                    # A call that ends early does not end the others; all end with this task.
                    async with asyncio.TaskGroup() as group:
                        for lane in lanes:
                            lane.task = group.create_task(self._make(call, lane, barrier))
            await self._conclude(call)
        except asyncio.CancelledError:
            call.status = "unmeasured"
            call.message = "The server ended"
        finally:
            call.phase = ""
            for lane in call.lanes:
                lane.share = None
                lane.listed = describe_call(self._out, lane.folder)
            self._publish_call(call)

    async def _make(self, call: _Call, lane: _Lane, barrier: asyncio.Barrier | None) -> None:
        def on_event(event: Event) -> None:
            if event.get("type") == "state":
                text = str(event.get("text", ""))[:200]
                lane.share = None
                call.phase = text if len(call.lanes) == 1 or call.at_once else f"{lane.controller}: {text}"
                lane.over = lane.started_us is not None
                lane.started_us = event.get("started_us", lane.started_us)
                lane.frames = event.get("frames")
            elif event.get("type") == "progress":
                lane.share = event["share"]
                event = event | {"share": call.share}
            shown = for_viewers(event)
            if shown is not None:
                self._feed.publish(shown | {"lane": lane.number})

        try:
            lane.result = await self._backend.run_call(call.settings(lane), on_event, lane.changes, barrier)
            lane.failure = lane.result.failure
        except Exception as error:
            if not isinstance(error, InputError | MissingComponent):
                _log.exception("the call failed")
            lane.failure = str(error) or type(error).__name__
        finally:
            lane.frames, lane.over = None, True
            if barrier is not None:
                await barrier.abort()

    async def _conclude(self, call: _Call) -> None:
        """Writes the report of the complete calls, and sets status and message."""
        failures = [lane.failure for lane in call.lanes if lane.failure]
        for lane in call.lanes if call.stopped else []:
            if lane.started_us is None and not lane.failure:
                failures += filter(None, [await self._list_never_begun(call.settings(lane))])
        complete = [lane.result for lane in call.lanes if lane.result is not None and not lane.failure]
        if complete:
            call.phase = "writing the report"
            self._publish({"type": "state", "text": call.phase})
            failures += filter(None, [await self._report(complete, call.folder)])
        listed = [describe_call(self._out, lane.folder) for lane in call.lanes]
        if call.at_once and any(entry["disturbed"] for entry in listed if entry is not None):
            self._too_slow = True
            failures.append("Two calls at once were too much for this machine: the next two run one after the other")
        unmeasured = [
            lane.controller
            for lane in call.lanes
            if lane.started_us is not None and lane.task is not None and lane.task.cancelled()
        ]
        if unmeasured:
            failures.append(f"No measures under {' and '.join(unmeasured)}: the user stopped the measuring")
        call.message = "; ".join(failures)
        if any(lane.failure for lane in call.lanes):
            call.status = "failed"
        else:
            call.status = "unmeasured" if unmeasured else "stopped" if call.stopped else "done"

    async def _list_never_begun(self, settings: CallSettings) -> str:
        """Returns why the record of a call that never began could not be written; it is then not listed."""
        try:
            await asyncio.to_thread(write_never_begun, settings)
        except InputError as error:
            return str(error)
        return ""

    async def _report(self, results: Sequence[CallResult], folder: Path) -> str:
        """Returns why the report could not be written; the call is complete without it."""
        try:
            await asyncio.to_thread(self._backend.write_report, results, folder)
        except Exception as error:
            _log.exception("the report failed")
            return f"the report could not be written: {error}"
        return ""

    def _publish_call(self, call: _Call) -> None:
        self._publish({"type": "call", "call": call.describe()})

    def _publish(self, event: Mapping[str, Any]) -> None:
        self._feed.publish({"time_us": monotonic_us(), **event})
