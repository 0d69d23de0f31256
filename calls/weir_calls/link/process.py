"""`weir-sim link` as an asyncio object: emulates the scenario's path in real time between the networks of two ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from weir_calls.link.child_process import (
    LINK_PRIORITY,
    InvalidMessage,
    JsonLinesProcess,
    Message,
    run_in_real_time,
)
from weir_calls.link.namespaces import CallNamespaces
from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_cli.files.output import opened
from weir_sim.child_process import exit_text
from weir_sim.executables import find_simulator

_LONGEST_LINE = 1 << 20
_START_LIMIT_S = 20.0
_ANSWER_LIMIT_S = 10.0
_STOP_LIMIT_S = 5.0
_LOG_POLL_S = 0.1
_LAST_LINES = 4
_LOG_PREFIX = b"weir-sim: "
_WRONG_INPUT_STATUS, _MISSING_STATUS = 2, 3


class LinkProcess:
    """A running link. It is killed when the process that started it ends."""

    def __init__(
        self, scenario: Path, namespaces: CallNamespaces, log: Path, program_log: Path, *, seed: int = 1
    ) -> None:
        """Starts nothing yet.

        Args:
            scenario: a scenario file.
            namespaces: must exist when the link starts.
            log: the link's log, see `log`.
            program_log: file for its standard error.
            seed: seed of loss, jitter and cross traffic, at least 0.

        Raises:
            MissingComponent: weir-sim is missing.
        """
        self._command = [str(find_simulator()), "link", str(scenario), "--seed", str(seed)]
        self._namespaces = namespaces
        self._process: JsonLinesProcess | None = None
        self._log = log
        self._program_log = program_log
        self._listening: asyncio.Task[None] | None = None
        self._answers: dict[str, asyncio.Future[Message]] = {}
        self._stopping = False
        self._status: int | None = None
        self._ended = asyncio.Event()
        self.errors: deque[str] = deque(maxlen=100)
        """Its error messages."""
        self.failure = ""
        """Why the link ended before it was stopped; empty while it runs."""

    @property
    def process_id(self) -> int | None:
        """Process ID while it runs."""
        return self._process.process_id if self._process else None

    async def start(self) -> Message:
        """Starts the link with real-time priority and waits until it carries packets; returns its `ready` event.

        Raises:
            InputError: the link refuses the scenario, or a log cannot be written.
            MissingComponent: the link lacks a model.
            ComponentFailed: the link does not start for another reason.
        """
        left, right = self._namespaces.left.device, self._namespaces.right.device
        with opened(self._log) as log:
            files = ["--left", str(left), "--right", str(right), "--log", f"/dev/fd/{log.fileno()}"]
            self._process = JsonLinesProcess(
                [*self._command, *files], self._program_log, _LONGEST_LINE, descriptors=(left, right, log.fileno())
            )
            process = await self._process.start()
        ready = self._expect("ready")
        self._listening = asyncio.create_task(self._listen())
        try:
            event = await self._wait_for(ready, "ready", _START_LIMIT_S)
            run_in_real_time([process], LINK_PRIORITY)
            return event
        except ComponentFailed as error:
            if self._status == _WRONG_INPUT_STATUS:
                raise InputError(self._last_words()) from error
            if self._status == _MISSING_STATUS:
                raise MissingComponent(self._last_words()) from error
            await self.stop()
            raise

    async def begin(self) -> int:
        """Begins the scenario; returns the time of its start in us of the monotonic clock.

        Raises:
            ComponentFailed: the link has ended, the scenario has already begun, or the link does not respond.
        """
        return await self._ask({"type": "start"}, "started")

    async def down(self, duration_s: float) -> int:
        """Drops all packets in both directions for a time (above 0, at most 3600 s); returns the start of that time.

        Raises:
            ComponentFailed: the link has ended, or does not respond.
        """
        return await self._ask({"type": "down", "duration_s": duration_s}, "down")

    async def ended(self) -> None:
        """Waits until the link has ended.

        Raises:
            ComponentFailed: the link ended without being stopped.
        """
        await self._ended.wait()
        if self.failure:
            raise ComponentFailed(self.failure)

    async def stop(self) -> str:
        """Ends the link, by force if necessary. Returns the fault, or an empty text."""
        self._stopping = True
        if self._process is None or self._listening is None:
            return ""
        wrong = await self._process.stop(_STOP_LIMIT_S)
        await self._listening
        return f"weir-sim link {wrong}" if wrong else ""

    async def log(self) -> AsyncIterator[dict[str, Any]]:
        """Yields the lines of the link's log as they are written, until it has ended.

        Per direction (`forward`, `reverse`) and interval of 100 ms:

        - `time_us` (the interval's end), `scenario_time_s` (null before the scenario begins)
        - `capacity_bps` (mean, with 0 while the link is down; null: unlimited), `carried_bytes` (left the bottleneck,
          cross traffic included), `cross_traffic_bytes` (arrived), `idle_ms` (the bottleneck had nothing to send)
        - `queue_bytes` and `queueing_delay_ms` at the interval's end (null: the queue never empties)
        - of the real packets `packets` and `bytes` (delivered), `ce_packets` (of these, with the ECN field CE),
          `dropped_packets` (queue or loss model), `dropped_while_down_packets`, `refused_packets` (no IPv4, too large,
          too many), `late_packets` (delivered more than 2 ms away from the scenario's time)
        - `one_way_delay_ms_mean` and `_p95`, `delay_error_ms_p95` (null if nothing was delivered),
          `delay_error_ms_counts` (packets with an error of at most 1/16, 1/8, ..., 64 ms, and more)
        - `lag_ms`: how far the link is behind the clock.
        """
        rest = b""
        with contextlib.ExitStack() as stack:
            file = None
            while True:
                # Check before reading, so that everything written before the end is read.
                ended = self._ended.is_set()
                if file is None:
                    with contextlib.suppress(FileNotFoundError):
                        file = stack.enter_context(self._log.open("rb"))
                while file is not None and (chunk := file.read(_LONGEST_LINE)):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        with contextlib.suppress(ValueError):
                            yield json.loads(line)
                if ended:
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), _LOG_POLL_S)

    async def _ask(self, command: Message, answer: str) -> int:
        # Register before sending the request, so that the answer is not missed.
        answered = self._expect(answer)
        try:
            if self._process is None or self._ended.is_set():
                raise ConnectionError
            await self._process.send(command)
        except ConnectionError:
            raise ComponentFailed(self.failure or "weir-sim link has ended") from None
        return int((await self._wait_for(answered, command["type"], _ANSWER_LIMIT_S))["time_us"])

    def _expect(self, kind: str) -> asyncio.Future[Message]:
        """The next event of this type."""
        return self._answers.setdefault(kind, asyncio.get_running_loop().create_future())

    async def _wait_for(self, answer: asyncio.Future[Message], description: str, limit_s: float) -> Message:
        try:
            return await asyncio.wait_for(asyncio.shield(answer), limit_s)
        except TimeoutError:
            raise ComponentFailed(f"weir-sim link has not answered to {description} for {limit_s:g} s") from None

    async def _listen(self) -> None:
        """Receives events until the link has ended, and records the reason."""
        assert self._process is not None
        try:
            while (event := await self._process.receive()) is not None:
                self._receive(event)
        except (InvalidMessage, KeyError) as error:
            wrong = error if isinstance(error, InvalidMessage) else f"wrote an event without {error}"
            self.errors.append(f"weir-sim link {wrong}")
            await self._process.kill()
        status = self._status = await self._process.wait()
        if not self._stopping:
            error_text = self.errors[-1] if self.errors and status >= 0 else self._last_words()
            self.failure = f"weir-sim link {exit_text(status)}" + (f": {error_text}" if error_text else "")
        self._ended.set()
        self._fail_answers(self.failure or "weir-sim link has ended")

    def _receive(self, event: Message) -> None:
        kind = event["type"]
        if kind == "error":
            self.errors.append(str(event["message"])[:1000])
            if not event["fatal"]:
                self._fail_answers(self.errors[-1])
        elif (answer := self._answers.pop(kind, None)) is not None and not answer.done():
            answer.set_result(event)

    def _fail_answers(self, reason: str) -> None:
        while self._answers:
            _, answer = self._answers.popitem()
            if not answer.done():
                answer.set_exception(ComponentFailed(reason))
                # Mark it as retrieved, as a caller that timed out never does.
                answer.exception()

    def _last_words(self) -> str:
        return self._process.last_words(_LAST_LINES, _LOG_PREFIX) if self._process else ""
