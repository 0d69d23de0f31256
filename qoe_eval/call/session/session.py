"""One call from beginning to end: link, sender, receiver, their logs, what they come to.

    sender --- namespace --- weir-sim link --- namespace --- receiver        (each Chromium or weir-peer)

Offer, answer and candidates pass through this process; media and RTCP only through the link. Whatever happens, no
process and no namespace is left behind: a call that broke has a record too, which says what happened and when.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from weir.errors import MissingComponent
from weir.qoe_eval.call.link.namespaces import CallNamespaces, NamespacesFailed
from weir.qoe_eval.call.link.process import LEFT_ADDRESS, RIGHT_ADDRESS, LinkFailed, LinkProcess
from weir.qoe_eval.call.logs import file_names
from weir.qoe_eval.call.measures.wake_up_lag import WakeUpLag
from weir.qoe_eval.call.media.raw_frames import RawFrames
from weir.qoe_eval.call.media.source_video import SourceVideoFailed
from weir.qoe_eval.call.media.source_videos import source_video_path
from weir.qoe_eval.call.processes.json_lines_process import Message, monotonic_us
from weir.qoe_eval.call.processes.real_time import LINK_PRIORITY, run_in_real_time
from weir.qoe_eval.call.processes.reaper import Reaper
from weir.qoe_eval.call.processes.uninterrupted import finish
from weir.qoe_eval.call.report import record as call_record
from weir.qoe_eval.call.session.browser import BrowserEnd
from weir.qoe_eval.call.session.browser_frames import BrowserFrames
from weir.qoe_eval.call.session.endpoint import Endpoint, EndpointFailed
from weir.qoe_eval.call.session.orders import checked_order
from weir.qoe_eval.call.session.peer_arguments import STATS_INTERVAL_MS, receiver_arguments, sender_arguments
from weir.qoe_eval.call.session.peer_process import PeerProcess
from weir.qoe_eval.call.session.silence import Silence
from weir.qoe_eval.call.settings import CallResult, CallSettings
from weir.qoe_eval.runs.options import model_to_run

__all__ = ["CallResult", "CallSettings", "run_call"]

OnEvent = Callable[[dict[str, Any]], None]

_CONNECT_LIMIT_S = 30.0
_END_LIMIT_S = 1.0


async def run_call(
    settings: CallSettings, on_event: OnEvent, control: asyncio.Queue[dict[str, Any]] | None = None
) -> CallResult:
    """Makes the call, and measures it.

    Args:
        settings: the call.
        on_event: told as it goes on, with dicts of type `state`, `link`, `estimate`, `stats`, `note`, `end`.
        control: takes `{"type": "objective", "throughput", "latency", "loss"}`, `{"type": "controller", "name"}`,
            `{"type": "pool", "line"}`, `{"type": "model", "path"}`, `{"type": "down", "duration_s"}` and
            `{"type": "stop"}` while the call lasts.

    Returns:
        Its result; with `failure` where it ended before its time, for whatever reason.

    Raises:
        InputError: the folder cannot be written, or the source video not made.
        asyncio.CancelledError: it was cancelled; everything it started has ended.
    """
    try:
        return await _Call(settings, on_event, control).run()
    except asyncio.CancelledError:
        (settings.out / file_names.FRAMES).unlink(missing_ok=True)
        raise


class _Call:
    def __init__(
        self, settings: CallSettings, on_event: OnEvent, control: asyncio.Queue[dict[str, Any]] | None
    ) -> None:
        self._settings = settings
        self._on_event = on_event
        self._control = control if control is not None else asyncio.Queue()
        self._folder = settings.out
        self._namespaces = CallNamespaces()
        self._link: LinkProcess | None = None
        self._sender: Endpoint | None = None
        self._receiver: Endpoint | None = None
        # They end with what they listen to.
        self._hearing: list[asyncio.Task[None]] = []
        self._following: list[asyncio.Task[None]] = []
        # These never end by themselves.
        self._endless: list[asyncio.Task[None]] = []
        self._logs: dict[str, file_names.JsonLines] = {}
        # Why the call is over: "" at its time, else what broke it.
        self._over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._connected = {"sender": asyncio.Event(), "receiver": asyncio.Event()}
        self._happened: list[dict[str, Any]] = []
        self._ready: dict[str, Message] = {}
        self._started_us: int | None = None
        self._ended_us: int | None = None
        self._stopping = False
        self._lag = WakeUpLag()
        self._silence = Silence()
        # What did not end when it was told to.
        self._broken_end = ""
        self._frames: RawFrames | None = None
        self._browser_frames = BrowserFrames()

    async def run(self) -> CallResult:
        file_names.clear(self._folder)
        logs = [file_names.ESTIMATES, file_names.SENDER_STATS, file_names.RECEIVER_STATS]
        # A weir-peer writes its own.
        logs += [file_names.FRAME_LOG] if self._settings.receiver == "chromium" else []
        for name in logs:
            self._logs[name] = file_names.JsonLines(self._folder / name)
        failure, missing = "", False
        reaper = Reaper()
        try:
            self._state("making the video")
            video = await asyncio.to_thread(source_video_path, self._settings.width, self._settings.height)
            self._state("setting up the link")
            await self._namespaces.create()
            await self._set_up(video)
            failure = await self._until_over()
        except (EndpointFailed, LinkFailed, NamespacesFailed, SourceVideoFailed, MissingComponent) as error:
            failure, missing = str(error), isinstance(error, MissingComponent)
        finally:
            self._ended_us = monotonic_us()
            # Not interrupted by the cancellation that may have led here.
            await finish(self._tear_down())
            reaper.dismiss()
        try:
            if failure or self._broken_end:
                failure = failure or self._broken_end
                self._note(failure, failed=True)
            return await self._conclude(failure, missing)
        finally:
            if self._frames is not None:
                self._frames.close()

    # --- its phases ---------------------------------------------------------------------------------------------------

    async def _set_up(self, video: Path) -> None:
        settings = self._settings
        scenario = self._folder / file_names.SCENARIO
        settings.scenario.save(scenario)
        self._link = LinkProcess(
            scenario, self._namespaces, self._folder / file_names.LINK_LOG, self._folder / file_names.PROGRAM_LOG,
            seed=settings.seed,
        )  # fmt: skip
        self._ready["link"] = await self._link.start()
        if self._link.process_id is not None:
            run_in_real_time([self._link.process_id], LINK_PRIORITY)
        self._following.append(self._watched(self._follow_link()))
        self._state(f"starting the receiver ({settings.receiver})")
        model = model_to_run(settings.model) if settings.runs_model else None
        self._receiver = self._make_receiver(model)
        self._ready["receiver"] = await self._receiver.start()
        self._hearing.append(self._watched(self._hear_receiver()))
        self._state(f"starting the sender ({settings.sender})")
        self._sender = self._make_sender(video, model)
        self._ready["sender"] = await self._sender.start()
        self._hearing.append(self._watched(self._hear_sender()))
        self._state("connecting")
        await self._sender.send({"type": "start"})

    def _make_receiver(self, model: Path | None) -> Endpoint:
        settings = self._settings
        if settings.receiver == "native":
            arguments = receiver_arguments(settings, RIGHT_ADDRESS, None if settings.decided_at_sender else model)
            log = self._folder / file_names.PROGRAM_LOG
            return PeerProcess("receiver", self._namespaces.right, arguments, log)
        return BrowserEnd(self._namespaces.right, None, {"role": "receive", "stats_interval_ms": STATS_INTERVAL_MS})

    def _make_sender(self, video: Path, model: Path | None) -> Endpoint:
        settings = self._settings
        if settings.sender == "native":
            log = self._folder / file_names.PROGRAM_LOG
            arguments = sender_arguments(settings, LEFT_ADDRESS, video, model)
            return PeerProcess("sender", self._namespaces.left, arguments, log)
        options = {
            "role": "send",
            "width": settings.width,
            "height": settings.height,
            "frames_per_second": settings.frames_per_second,
            "codec": settings.codec,
            "max_bitrate_bps": settings.max_bitrate_bps,
            "stats_interval_ms": STATS_INTERVAL_MS,
        }
        return BrowserEnd(self._namespaces.left, video, options)

    async def _until_over(self) -> str:
        """Why it ended: empty at its time."""
        connected = asyncio.create_task(self._wait_for_both())
        events: set[asyncio.Future[Any]] = {connected, self._over}
        done, _ = await asyncio.wait(events, timeout=_CONNECT_LIMIT_S, return_when="FIRST_COMPLETED")
        if connected not in done:
            connected.cancel()
            return self._over.result() if self._over.done() else f"no connection within {_CONNECT_LIMIT_S:g} s"
        assert self._link is not None
        with contextlib.suppress(FileNotFoundError):
            self._frames = RawFrames(self._folder / file_names.FRAMES)
        self._started_us = await self._link.begin()
        self._state("in the call", duration_s=self._settings.duration_s, started_us=self._started_us)
        self._endless.append(self._watched(self._take_orders()))
        self._endless.append(self._watched(self._give_orders()))
        self._endless.append(self._watched(self._break_silence()))
        self._lag.start()
        remaining_s = self._settings.duration_s - (monotonic_us() - self._started_us) / 1e6
        await asyncio.wait({self._over}, timeout=max(0.0, remaining_s))
        return self._over.result() if self._over.done() else ""

    async def _wait_for_both(self) -> None:
        for event in self._connected.values():
            await event.wait()

    async def _tear_down(self) -> None:
        self._state("ending the call")
        self._stopping = True
        for task in self._endless:
            task.cancel()
        self._lag.stop()
        # Both ends at once, so that neither sees the other go; then what still hears them; then what they ran on.
        ends = [end.stop() for end in (self._sender, self._receiver) if end is not None]
        missed = await asyncio.gather(*ends, return_exceptions=True)
        await _end(self._hearing)
        if self._link is not None:
            missed.append(await self._link.stop())
        await _end(self._following)
        try:
            await self._namespaces.remove()
        except (NamespacesFailed, MissingComponent) as error:
            missed.append(error)
        for log in self._logs.values():
            # What a full disk did not take from it was told when it was written.
            with contextlib.suppress(OSError):
                log.close()
        self._broken_end = next((str(one) for one in missed if one), "")

    async def _conclude(self, failure: str, missing: bool) -> CallResult:
        self._state("measuring")
        about = {
            "failure": failure,
            "started_us": self._started_us,
            "ended_us": self._ended_us,
            "happened": self._happened,
            "ready": self._ready,
            "wake_up_lag_ms_p99": self._lag.p99_ms,
            "clock_offset_us": getattr(self._sender, "clock_offset_us", 0),
        }
        record, disturbed = await asyncio.to_thread(call_record.conclude, self._settings, about, self._frames)
        result = CallResult(record, self._folder, disturbed, failure, missing)
        self._on_event({"type": "end", "time_us": monotonic_us(), "failure": failure, "disturbed": disturbed})
        return result

    # --- what arrives -------------------------------------------------------------------------------------------------

    async def _hear_sender(self) -> None:
        assert self._sender is not None
        assert self._receiver is not None
        while (message := await self._sender.receive()) is not None:
            self._silence.heard(self._sender.name)
            if message["type"] in ("offer", "candidate"):
                await self._receiver.send(_passed_on(message))
            else:
                self._hear("sender", self._sender.name, message)
        self._end_of("sender", self._sender.name)

    async def _hear_receiver(self) -> None:
        assert self._receiver is not None
        while (message := await self._receiver.receive()) is not None:
            self._silence.heard(self._receiver.name)
            if message["type"] in ("answer", "candidate"):
                if self._sender is not None:
                    await self._sender.send(_passed_on(message))
            elif message["type"] == "frames":
                for line in self._browser_frames.lines(message, getattr(self._receiver, "clock_offset_us", 0)):
                    self._logs[file_names.FRAME_LOG].write(line)
            else:
                self._hear("receiver", self._receiver.name, message)
        self._end_of("receiver", self._receiver.name)

    def _hear(self, end: str, name: str, message: Message) -> None:
        kind = message["type"]
        if kind == "stats":
            log = self._logs[file_names.SENDER_STATS if end == "sender" else file_names.RECEIVER_STATS]
            log.write({"time_us": message["time_us"], "report": message.get("report", [])})
            self._on_event(message | {"end": end})
        elif kind in ("estimate", "remb"):
            self._logs[file_names.ESTIMATES].write(message)
            if kind == "estimate":
                self._on_event(message)
        elif kind == "sender_report":
            self._browser_frames.on_sender_report(message)
        elif kind == "state":
            self._hear_state(end, name, str(message.get("state")))
        elif kind == "model":
            self._note(f"another model decides: {Path(str(message.get('path'))).name}")
        elif kind == "error":
            text = f"{name}: {str(message.get('message'))[:500]}"
            if message.get("fatal"):
                self._break(text)
            else:
                self._note(text)
        elif kind == "end" and message.get("failed"):
            self._break(str(message.get("reason")))

    def _hear_state(self, end: str, name: str, state: str) -> None:
        if state == "connected":
            self._connected[end].set()
        if state == "failed":
            self._break(f"{name}: the connection failed")
        elif not self._stopping:
            self._note(f"{name}: {state}")

    def _end_of(self, end: str, name: str) -> None:
        self._break(f"{name}: ended before its time")

    async def _follow_link(self) -> None:
        assert self._link is not None
        async for line in self._link.log():
            self._silence.heard("weir-sim link")
            self._on_event({"type": "link"} | line)
        if self._link.failure:
            self._break(self._link.failure)

    async def _break_silence(self) -> None:
        self._break(await self._silence.broken())

    async def _give_orders(self) -> None:
        """Those that the settings have, each at its time."""
        assert self._started_us is not None
        for at_s, order in self._settings.orders:
            await asyncio.sleep(max(0.0, at_s - (monotonic_us() - self._started_us) / 1e6))
            await self._control.put(order)

    async def _take_orders(self) -> None:
        assert self._receiver is not None
        assert self._link is not None
        while True:
            order = await self._control.get()
            try:
                checked = checked_order(order)
            except ValueError as error:
                self._note(f"refused: {error}")
                continue
            if checked["type"] == "stop":
                self._note("stopped by the user")
                if not self._over.done():
                    self._over.set_result("")
                return
            self._happened.append(checked | {"time_us": monotonic_us()})
            if checked["type"] == "down":
                self._note(f"link down for {checked['duration_s']:g} s")
                await self._link.down(checked["duration_s"])
            else:
                await self._receiver.send(checked)

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _watched(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        task.add_done_callback(self._on_task_done)
        return task

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._break(f"{type(task.exception()).__name__}: {task.exception()}")

    def _break(self, reason: str) -> None:
        if not self._stopping and not self._over.done():
            self._over.set_result(reason)

    def _state(self, text: str, **more: Any) -> None:
        self._on_event({"type": "state", "time_us": monotonic_us(), "text": text} | more)

    def _note(self, text: str, **more: Any) -> None:
        note = {"type": "note", "time_us": monotonic_us(), "text": text} | more
        self._happened.append(note)
        self._on_event(note)


def _passed_on(message: Message) -> Message:
    """Without times: they mean nothing to the other end."""
    return {name: value for name, value in message.items() if name not in ("time_us", "time_ms")}


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Lets them come to their end, which is near, and cancels those that do not."""
    if tasks:
        _, unfinished = await asyncio.wait(tasks, timeout=_END_LIMIT_S)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
