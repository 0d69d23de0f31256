"""One call from start to end: link, sender, receiver, their logs, and the measures.

    sender --- network --- weir-sim link --- network --- receiver        (each Chromium, weir-peer or a command)

Offer, answer and candidates pass through this process, media and RTCP only through the link. No process outlives the
call, and a failed call has a record of its events and their times.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from weir_calls.call import logs
from weir_calls.call.browser import BrowserEnd, PageSettings
from weir_calls.call.disturbance import WakeUpLag, Watchdog
from weir_calls.call.lip_sync import without_lip_sync
from weir_calls.call.media.progress import OnShare
from weir_calls.call.media.received_frames import BrowserFrames, RawFrames
from weir_calls.call.media.source_speech import source_speech_path
from weir_calls.call.media.source_video import source_video_path
from weir_calls.call.plan import CallResult, CallSettings, Order
from weir_calls.call.record import CallProgress, conclude, write_interrupted
from weir_calls.call.weir_peer import (
    STATS_INTERVAL_MS,
    Endpoint,
    EndpointFailed,
    PeerProcess,
    receiver_arguments,
    sender_arguments,
)
from weir_calls.link.child_process import Message, monotonic_us
from weir_calls.link.command_end import CommandEnd
from weir_calls.link.leftovers import finish
from weir_calls.link.namespaces import CallNamespaces, Network
from weir_calls.link.process import LinkProcess
from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_eval.json_lines import JsonLinesWriter
from weir_eval.options.shared import model_to_run
from weir_eval.runs.interruption import run_in_thread

OnEvent = Callable[[dict[str, Any]], None]

_CONNECT_LIMIT_S = 30.0
_END_LIMIT_S = 1.0
_CAUSE_LIMIT_S = 1.0
# The messages that are forwarded to the other endpoint. A receiver may offer another description during the call.
_SIGNALLING = ("offer", "answer", "candidate")


async def run_call(
    settings: CallSettings,
    on_event: OnEvent,
    control: asyncio.Queue[Order] | None = None,
    barrier: asyncio.Barrier | None = None,
) -> CallResult:
    """Makes and measures a call.

    Args:
        settings: the call.
        on_event: receives dicts of type `state`, `progress` (of the latest state: `share`, 0 to 1), `link`, `estimate`,
            `stats`, `note`, `end` during the call.
        control: orders for the running call.
        barrier: shared by simultaneous calls: they connect together, and are measured, which takes the CPU, only after
            all have ended. A call that fails breaks it; the others continue without it.

    Returns:
        The result, with `failure` if the call ended early.

    Raises:
        InputError: the folder cannot be written, or the source video cannot be made.
        asyncio.CancelledError: the call was cancelled; everything it started has ended. If it was connected, its
            folder has a record without measures.
    """
    call = _Call(settings, on_event, control, barrier)
    try:
        return await call.run()
    except asyncio.CancelledError:
        call.keep_interrupted()
        raise


class _Call:
    def __init__(
        self,
        settings: CallSettings,
        on_event: OnEvent,
        control: asyncio.Queue[Order] | None,
        barrier: asyncio.Barrier | None,
    ) -> None:
        self._settings = settings
        self._barrier = barrier
        self._on_event = on_event
        self._control = control if control is not None else asyncio.Queue()
        self._folder = settings.out
        self._namespaces = CallNamespaces()
        self._link: LinkProcess | None = None
        self._ends: dict[str, Endpoint] = {}
        # Tasks that read the messages of an endpoint or of the link, and end with it.
        self._reading_ends: list[asyncio.Task[None]] = []
        self._reading_link: list[asyncio.Task[None]] = []
        # Tasks that do not end by themselves.
        self._endless: list[asyncio.Task[None]] = []
        self._logs: dict[str, JsonLinesWriter] = {}
        # Why the call is over: "" if stopped by the user, else the failure.
        self._over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._connected = {"sender": asyncio.Event(), "receiver": asyncio.Event()}
        self._progress = CallProgress()
        self._stopping = False
        self._lag = WakeUpLag()
        self._watchdog = Watchdog()
        # A part that did not end properly.
        self._tear_down_failure = ""
        self._frames: RawFrames | None = None
        self._browser_frames = BrowserFrames()

    async def run(self) -> CallResult:
        logs.clear(self._folder)
        own_logs = [logs.ESTIMATES, logs.SENDER_STATS, logs.RECEIVER_STATS]
        # weir-peer writes its own log of frames.
        own_logs += [logs.FRAME_LOG] if self._settings.receiver == "chromium" else []
        for name in own_logs:
            self._logs[name] = JsonLinesWriter(self._folder / name)
        failure, missing = "", False
        try:
            video, speech = (None, None) if self._settings.by_commands else await self._media()
            self._state("setting up the link")
            await self._namespaces.create()
            await self._set_up(video, speech)
            failure = await self._until_over()
        except (ComponentFailed, MissingComponent) as error:
            # If another part ended first, it is the cause, but may be noticed only now.
            if isinstance(error, EndpointFailed):
                await asyncio.wait({self._over}, timeout=_CAUSE_LIMIT_S)
            earlier = self._over.result() if self._over.done() else ""
            failure, missing = earlier or str(error), not earlier and isinstance(error, MissingComponent)
        finally:
            self._progress.ended_us = monotonic_us()
            # `finish` completes even if a cancellation has led here.
            await finish(self._tear_down())
        try:
            failure = failure or self._tear_down_failure
            if failure:
                self._note(failure, failed=True)
                if self._barrier is not None:
                    await self._barrier.abort()
            await self._meet_others()
            return await self._conclude(failure, missing)
        finally:
            if self._frames is not None:
                self._frames.close()

    def keep_interrupted(self) -> None:
        """Keeps the logs of a cancelled call that was connected, with a record; else deletes its raw frames."""
        if self._progress.started_us is None:
            (self._folder / logs.FRAMES).unlink(missing_ok=True)
            return
        # The disk may be full: the call ends all the same.
        with contextlib.suppress(InputError):
            write_interrupted(self._settings, self._progress)

    # --- phases -------------------------------------------------------------------------------------------------------

    async def _media(self) -> tuple[Path, Path | None]:
        text = "making the video"
        self._state(text)
        size = self._settings.width, self._settings.height
        video = await run_in_thread(source_video_path, *size, self._progress_of(text))
        try:
            return video, await asyncio.to_thread(source_speech_path)
        except MissingComponent as error:
            self._note(f"no speech is sent: {error}")
            return video, None

    async def _set_up(self, video: Path | None, speech: Path | None) -> None:
        settings = self._settings
        scenario, program_log = self._folder / logs.SCENARIO, self._folder / logs.PROGRAM_LOG
        settings.scenario.save(scenario)
        link_log = self._folder / logs.LINK_LOG
        self._link = LinkProcess(scenario, self._namespaces, link_log, program_log, seed=settings.seed)
        self._progress.ready["link"] = await self._link.start()
        self._reading_link.append(self._watched(self._read_link()))
        model = model_to_run(settings.model) if settings.runs_model else None
        self._state(f"starting the receiver ({settings.receiver})")
        await self._start_end("receiver", self._make_receiver(model))
        self._state(f"starting the sender ({settings.sender})")
        await self._start_end("sender", self._make_sender(video, speech, model))
        await self._meet_others()
        self._state("connecting")
        await self._ends["sender"].send({"type": "start"})

    async def _meet_others(self) -> None:
        if self._barrier is not None:
            with contextlib.suppress(asyncio.BrokenBarrierError):
                await self._barrier.wait()

    async def _start_end(self, role: str, end: Endpoint) -> None:
        self._ends[role] = end
        self._progress.ready[role] = await end.start()
        self._reading_ends.append(self._watched(self._read_end(role)))

    def _make_receiver(self, model: Path | None) -> Endpoint:
        settings, end, far = self._settings, self._namespaces.right, self._namespaces.left
        if settings.by_commands:
            return self._make_command("receiver", end, far)
        if settings.receiver == "chromium":
            return BrowserEnd(end, None, PageSettings("receive", STATS_INTERVAL_MS))
        arguments = receiver_arguments(settings, end.address, None if settings.decided_at_sender else model)
        return PeerProcess("receiver", end, arguments, self._folder / logs.PROGRAM_LOG)

    def _make_command(self, role: str, end: Network, far: Network) -> Endpoint:
        command = getattr(self._settings, role)
        log = self._folder / logs.PROGRAM_LOG
        return CommandEnd(role, end, far, command, self._settings.controller, log)

    def _make_sender(self, video: Path | None, speech: Path | None, model: Path | None) -> Endpoint:
        settings, end = self._settings, self._namespaces.left
        if video is None:
            return self._make_command("sender", end, self._namespaces.right)
        if settings.sender == "native":
            arguments = sender_arguments(settings, end.address, video, model, speech)
            return PeerProcess("sender", end, arguments, self._folder / logs.PROGRAM_LOG)
        page = PageSettings(
            role="send",
            stats_interval_ms=STATS_INTERVAL_MS,
            width=settings.width,
            height=settings.height,
            frames_per_second=settings.frames_per_second,
            codec=settings.codec,
            max_bitrate_bps=settings.max_bitrate_bps,
        )
        return BrowserEnd(end, video, page, settings.field_trials, speech, self._folder / logs.EVENT_LOG)

    async def _until_over(self) -> str:
        """Returns the failure that ended the call; empty if its time was over, or the user stopped it."""
        connected = asyncio.create_task(self._wait_for_both())
        events: set[asyncio.Future[Any]] = {connected, self._over}
        done, _ = await asyncio.wait(events, timeout=_CONNECT_LIMIT_S, return_when="FIRST_COMPLETED")
        if connected not in done:
            connected.cancel()
            return self._over.result() if self._over.done() else f"no connection within {_CONNECT_LIMIT_S:g} s"
        assert self._link is not None
        with contextlib.suppress(FileNotFoundError):
            self._frames = RawFrames(self._folder / logs.FRAMES)
        started_us = self._progress.started_us = await self._link.begin()
        # The path for viewers, as the file is unlinked.
        frames = self._frames.path if self._frames is not None else None
        self._state("in the call", duration_s=self._settings.duration_s, started_us=started_us, frames=frames)
        for work in (self._execute_orders(), self._watch()):
            self._endless.append(self._watched(work))
        self._lag.start()
        remaining_s = self._settings.duration_s - (monotonic_us() - started_us) / 1e6
        await asyncio.wait({self._over}, timeout=max(0.0, remaining_s))
        if not self._over.done():
            return ""
        self._progress.stopped = not self._over.result()
        return self._over.result()

    async def _wait_for_both(self) -> None:
        for event in self._connected.values():
            await event.wait()

    async def _tear_down(self) -> None:
        self._state("ending the call")
        self._stopping = True
        for task in self._endless:
            task.cancel()
        self._lag.stop()
        # Stop both endpoints at once, so that neither sees the other disconnect; then their readers, link and networks.
        ends = (self._ends[role].stop() for role in ("sender", "receiver") if role in self._ends)
        failures = await asyncio.gather(*ends, return_exceptions=True)
        await _end(self._reading_ends)
        if self._link is not None:
            failures.append(await self._link.stop())
        await _end(self._reading_link)
        try:
            await self._namespaces.remove()
        except (ComponentFailed, MissingComponent) as error:
            failures.append(error)
        for log in self._logs.values():
            # The failed write has already reported a full disk.
            with contextlib.suppress(OSError):
                log.close()
        self._tear_down_failure = next((str(failure) for failure in failures if failure), "")

    async def _conclude(self, failure: str, missing: bool) -> CallResult:
        text = "measuring"
        self._state(text)
        self._progress.failure = failure
        self._progress.wake_up_lag_ms_p99 = self._lag.p99_ms
        record = await run_in_thread(conclude, self._settings, self._progress, self._frames, self._progress_of(text))
        disturbed = record.call.disturbed
        self._on_event({"type": "end", "time_us": monotonic_us(), "failure": failure, "disturbed": disturbed})
        return CallResult(record, self._folder, missing)

    # --- messages -----------------------------------------------------------------------------------------------------

    async def _read_end(self, role: str) -> None:
        end = self._ends[role]
        while (message := await end.receive()) is not None:
            if not self._settings.by_commands:
                self._watchdog.feed(end.name)
            if message["type"] in _SIGNALLING:
                other = self._ends.get("receiver" if role == "sender" else "sender")
                if other is not None:
                    if role == "sender" and not self._settings.lip_sync:
                        message = without_lip_sync(message)
                    await other.send(_without_times(message))
            else:
                self._receive(role, end, message)
        self._break(f"{end.name}: ended early")

    def _receive(self, role: str, end: Endpoint, message: Message) -> None:
        kind = message["type"]
        if kind == "stats":
            log = self._logs[logs.SENDER_STATS if role == "sender" else logs.RECEIVER_STATS]
            log.write({"time_us": message["time_us"], "report": message.get("report", [])})
            self._on_event(message | {"end": role})
        elif kind in ("estimate", "remb"):
            self._logs[logs.ESTIMATES].write(message)
            if kind == "estimate":
                self._on_event(message)
        elif kind == "frames" and role == "receiver":
            for line in self._browser_frames.lines(message, end.clock_offset_us):
                self._logs[logs.FRAME_LOG].write(line)
        elif kind == "sender_report":
            self._browser_frames.on_sender_report(message)
        elif kind == "state":
            self._receive_state(role, end.name, str(message.get("state")))
        elif kind == "model":
            self._note(f"model changed to {Path(str(message.get('path'))).name}")
        elif kind == "error":
            text = f"{end.name}: {str(message.get('message'))[:500]}"
            if message.get("fatal"):
                self._break(text)
            else:
                self._note(text)
        elif kind == "end" and message.get("failed"):
            self._break(str(message.get("reason")))

    def _receive_state(self, role: str, name: str, state: str) -> None:
        if state == "connected":
            self._connected[role].set()
        if state == "failed":
            self._break(f"{name}: the connection failed")
        elif not self._stopping:
            self._note(f"{name}: {state}")

    async def _read_link(self) -> None:
        assert self._link is not None
        async for line in self._link.log():
            self._watchdog.feed("weir-sim link")
            self._on_event({"type": "link"} | line)
        if self._link.failure:
            self._break(self._link.failure)

    async def _watch(self) -> None:
        self._break(await self._watchdog.expired())

    async def _execute_orders(self) -> None:
        assert self._link is not None
        while True:
            order = await self._control.get()
            if order["type"] == "stop":
                self._note("stopped by the user")
                if not self._over.done():
                    self._over.set_result("")
                return
            if order["type"] == "down" and "at_s" not in order:
                await self._cut_link(order)
            elif order["type"] == "down":
                # Other orders, such as stop, do not wait for it.
                self._endless.append(self._watched(self._cut_link(order)))
            else:
                self._progress.happened.append(order | {"time_us": monotonic_us()})
                await self._ends["receiver"].send(order)

    async def _cut_link(self, order: Order) -> None:
        """Cuts the link now, or `at_s` after the scenario began."""
        assert self._link is not None
        elapsed_s = (monotonic_us() - (self._progress.started_us or 0)) / 1e6
        await asyncio.sleep(max(0.0, order.get("at_s", 0.0) - elapsed_s))
        self._progress.happened.append(order | {"time_us": monotonic_us()})
        self._note(f"link down for {order['duration_s']:g} s")
        await self._link.down(order["duration_s"])

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

    def _progress_of(self, text: str) -> OnShare:
        """Returns a function for any thread that emits the progress of a state, one event per percent."""
        loop, last = asyncio.get_running_loop(), -1

        def show(share: float) -> None:
            nonlocal last
            percent = int(100 * share)
            if percent != last:
                last = percent
                event = {"type": "progress", "time_us": monotonic_us(), "text": text, "share": share}
                loop.call_soon_threadsafe(self._on_event, event)

        return show

    def _note(self, text: str, **more: Any) -> None:
        note = {"type": "note", "time_us": monotonic_us(), "text": text} | more
        self._progress.happened.append(note)
        self._on_event(note)


def _without_times(message: Message) -> Message:
    """The message without times, which the other endpoint's clock does not share."""
    return {name: value for name, value in message.items() if name not in ("time_us", "time_ms")}


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Waits for tasks that are about to end, and cancels those that do not."""
    if tasks:
        _, unfinished = await asyncio.wait(tasks, timeout=_END_LIMIT_S)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
