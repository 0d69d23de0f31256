"""One call: an unmodified Chromium sends over an emulated link to a program that receives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weir.qoe_eval.call.link.namespaces import CallNamespaces
from weir.qoe_eval.call.link.process import LinkFailed, LinkProcess
from weir.qoe_eval.call.logs.link_log import LinkLog, read_link_log
from weir.qoe_eval.call.media.source_videos import source_video_path
from weir.qoe_eval.call.processes.json_lines_process import JsonLinesProcess, NoMessage
from weir.qoe_eval.call.processes.real_time import LINK_PRIORITY, run_in_real_time
from weir.qoe_eval.call.processes.reaper import Reaper
from weir.qoe_eval.call.processes.uninterrupted import finish
from weir.qoe_eval.call.session.browser import BrowserSender
from weir.qoe_eval.call.session.endpoint import EndpointFailed
from weir.traces.schema.scenario import Scenario

_WIDTH, _HEIGHT = 640, 360
_CONNECT_LIMIT_S = 30.0
_STOP_LIMIT_S = 8.0
_LONGEST_LINE_BYTES = 1 << 20


class CallFailed(RuntimeError):
    """The call did not come to its end; the message says what ended before it."""


@dataclass(frozen=True)
class CallPlan:
    """`receiver` is a command that speaks weir-peer's messages; `folder` takes link.jsonl, receiver.jsonl and
    receiver.err. Chromium sends 640x360, VP8, of at most `max_bitrate_bps`.
    """

    scenario: Scenario
    receiver: Sequence[str]
    folder: Path
    duration_s: float
    max_bitrate_bps: int
    seed: int = 1


def make_call(plan: CallPlan) -> LinkLog:
    """Makes the call; returns the way there of the link, from the beginning of the scenario to the call's end.

    Raises:
        CallFailed: an end of it, or the link, did not start or died.
        MissingComponent: something that it needs is not there.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    scenario = plan.folder / "scenario.json"
    plan.scenario.save(scenario)
    with Reaper(), CallNamespaces() as namespaces:
        link_log = plan.folder / "link.jsonl"
        link = LinkProcess(scenario, namespaces, link_log, plan.folder / "link.err", seed=plan.seed)
        try:
            started_us = asyncio.run(_Call(plan, namespaces, link).run())
        except (EndpointFailed, LinkFailed, NoMessage) as error:
            raise CallFailed(str(error)) from error
    return read_link_log(link_log, "forward").between(started_us, started_us + 1e6 * plan.duration_s)


class _Call:
    def __init__(self, plan: CallPlan, namespaces: CallNamespaces, link: LinkProcess) -> None:
        self._plan = plan
        self._link = link
        settings = {
            "width": _WIDTH,
            "height": _HEIGHT,
            "frames_per_second": 30,
            "codec": "VP8",
            "max_bitrate_bps": plan.max_bitrate_bps,
            "stats_interval_ms": 1000,
        }
        self._sender = BrowserSender(namespaces.left, source_video_path(_WIDTH, _HEIGHT), settings)
        command = ["ip", "netns", "exec", namespaces.right, *plan.receiver]
        log = plan.folder / "receiver.err"
        self._receiver = JsonLinesProcess(command, log, longest_line_bytes=_LONGEST_LINE_BYTES)
        self._connected = {"sender": asyncio.Event(), "receiver": asyncio.Event()}
        self._hearing: list[asyncio.Task[None]] = []

    async def run(self) -> int:
        """When the scenario began, us of the monotonic clock."""
        try:
            await self._link.start()
            if self._link.process_id is not None:
                run_in_real_time([self._link.process_id], LINK_PRIORITY)
            run_in_real_time([await self._receiver.start()])
            await self._sender.start()
            self._hearing = [asyncio.create_task(self._hear_sender()), asyncio.create_task(self._hear_receiver())]
            await self._sender.send({"type": "start"})
            both = asyncio.gather(*(event.wait() for event in self._connected.values()))
            await self._while_well(both, _CONNECT_LIMIT_S)
            if not both.done():
                raise EndpointFailed(f"no connection within {_CONNECT_LIMIT_S:g} s")
            started_us = await self._link.begin()
            await self._while_well(asyncio.create_task(self._link.ended()), self._plan.duration_s)
            return started_us
        finally:
            await finish(self._tear_down())

    async def _while_well(self, event: asyncio.Future[object], limit_s: float) -> None:
        """Until the event, or the limit; raises what has broken meanwhile."""
        await asyncio.wait([event, *self._hearing], timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        for task in self._hearing:
            if task.done():
                task.result()
                raise EndpointFailed("an end of the call has gone")
        if event.done():
            event.result()
        else:
            event.cancel()

    async def _hear_sender(self) -> None:
        while (message := await self._sender.receive()) is not None:
            if message["type"] in ("offer", "candidate"):
                await self._receiver.send(message)
            elif message["type"] == "state" and message["state"] == "connected":
                self._connected["sender"].set()
            elif message["type"] == "error" or message.get("failed"):
                raise EndpointFailed(f"Chromium: {message.get('message') or message.get('reason')}")

    async def _hear_receiver(self) -> None:
        with (self._plan.folder / "receiver.jsonl").open("w", encoding="utf-8") as log:
            while (message := await self._receiver.receive()) is not None:
                log.write(json.dumps(message) + "\n")
                if message["type"] in ("answer", "candidate"):
                    # Without times, which mean nothing to the other end.
                    await self._sender.send({name: value for name, value in message.items() if name != "time_us"})
                elif message["type"] == "state" and message["state"] == "connected":
                    self._connected["receiver"].set()
        raise EndpointFailed(f"the receiver ended: {self._receiver.last_words(8)}")

    async def _tear_down(self) -> None:
        for task in self._hearing:
            task.cancel()
        await asyncio.gather(*self._hearing, return_exceptions=True)
        if self._receiver.started:
            await self._receiver.stop(_STOP_LIMIT_S)
        await self._sender.stop()
        await self._link.stop()
