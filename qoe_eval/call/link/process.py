"""`weir-sim link` as an asyncio object: the scenario's path in real time, between two network namespaces."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

from weir.errors import InputError, MissingComponent
from weir.executables import find_simulator
from weir.qoe_eval.call.processes.json_lines_process import JsonLinesProcess, NoMessage

LEFT_ADDRESS = "10.211.0.1"
RIGHT_ADDRESS = "10.211.0.2"
_LONGEST_LINE = 1 << 20
_START_LIMIT_S = 20.0
_ANSWER_LIMIT_S = 10.0
_STOP_LIMIT_S = 5.0
_LOG_POLL_S = 0.1
_LAST_LINES = 4
_LOG_PREFIX = b"weir-sim: "
_WRONG_INPUT_STATUS, _MISSING_STATUS = 2, 3


class LinkFailed(RuntimeError):
    """The link did not start, died, or does not answer; the message says which."""


class NamespaceNames(Protocol):
    """Names of two network namespaces."""

    left: str
    right: str


class LinkProcess:
    """A running link. It ends with the process that started it, whatever happens to that."""

    def __init__(
        self,
        scenario: Path,
        namespaces: NamespaceNames,
        log: Path,
        program_log: Path,
        *,
        seed: int = 1,
        log_interval_ms: int = 100,
    ) -> None:
        """Nothing starts yet.

        Args:
            scenario: a scenario file.
            namespaces: the sender's (`left`) and the receiver's, which exist when it starts.
            log: the link's log; see `log`.
            program_log: where its standard error is appended.
            seed: of loss, jitter and cross traffic, at least 0.
            log_interval_ms: 10 to 10000.

        Raises:
            MissingComponent: there is no weir-sim.
        """
        command = [
            str(find_simulator()), "link", str(scenario), "--left", namespaces.left, "--right", namespaces.right,
            "--log", str(log), "--log-interval-ms", str(log_interval_ms), "--seed", str(seed),
        ]  # fmt: skip
        self._process = JsonLinesProcess(command, program_log, longest_line_bytes=_LONGEST_LINE)
        self._log = log
        self._listening: asyncio.Task[None] | None = None
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._stopping = False
        self._status: int | None = None
        self._ended = asyncio.Event()
        self.errors: deque[str] = deque(maxlen=100)
        """What it refused or complained of."""
        self.failure = ""
        """Why it ended before it was stopped; empty while it is well."""

    @property
    def process_id(self) -> int | None:
        """Of the running process."""
        return self._process.process_id

    async def start(self) -> dict[str, Any]:
        """Starts it and waits until it carries packets; returns its `ready` event.

        Raises:
            InputError: it refuses the scenario.
            MissingComponent: not root, or no TUN devices.
            LinkFailed: something else.
        """
        await self._process.start()
        ready = self._expect("ready")
        self._listening = asyncio.create_task(self._listen())
        try:
            return await self._wait_for(ready, "ready", _START_LIMIT_S)
        except LinkFailed as error:
            status = self._status
            if status == _WRONG_INPUT_STATUS:
                raise InputError(self._last_words()) from error
            if status == _MISSING_STATUS:
                raise MissingComponent(self._last_words()) from error
            await self.stop()
            raise

    async def begin(self) -> int:
        """Has the scenario begin now; returns when that was, in us of the monotonic clock.

        Raises:
            LinkFailed: it has ended, has begun before, or does not answer.
        """
        started = self._expect("started")
        await self._tell({"type": "start"})
        return int((await self._wait_for(started, "start", _ANSWER_LIMIT_S))["time_us"])

    async def down(self, duration_s: float) -> int:
        """Both directions drop everything from now on for that long (more than 0, at most 3600 s); returns when that
        began, in us of the monotonic clock.

        Raises:
            LinkFailed: it has ended, or does not answer.
        """
        down = self._expect("down")
        await self._tell({"type": "down", "duration_s": duration_s})
        return int((await self._wait_for(down, "down", _ANSWER_LIMIT_S))["time_us"])

    async def ended(self) -> None:
        """Waits until it has ended.

        Raises:
            LinkFailed: by itself, and why.
        """
        await self._ended.wait()
        if self.failure:
            raise LinkFailed(self.failure)

    async def stop(self) -> str:
        """Ends it, by force where it does not end by itself. Never fails; does nothing the second time. Empty, or what
        was wrong with its end.
        """
        self._stopping = True
        if self._listening is None:
            return ""
        wrong = await self._process.stop(_STOP_LIMIT_S)
        await self._listening
        return f"weir-sim link {wrong}" if wrong else ""

    async def log(self) -> AsyncIterator[dict[str, Any]]:
        """The lines of its log, as they are written, until it has ended.

        Per direction (`forward`, `reverse`) and interval: `time_us` (its end), `scenario_time_s` (null before it has
        begun), `capacity_bps` (mean; null: unlimited), `carried_bytes` (left the bottleneck, cross traffic included),
        `cross_traffic_bytes` (arrived), `idle_ms` (the bottleneck had nothing to carry), `queue_bytes` and
        `queueing_delay_ms` (at its end; null: the queue never empties); of the real packets `packets` and `bytes`
        (delivered), `dropped_packets` (queue or loss model), `dropped_while_down_packets`, `refused_packets` (no IPv4,
        too large, too many), `late_packets` (delivered more than 2 ms away from when the scenario says),
        `one_way_delay_ms_mean` and `_p95`, `delay_error_ms_p95` (null where nothing was delivered), and
        `delay_error_ms_counts`: how many packets had an error of at most 1/16, 1/8, ..., 64 ms, and more. `lag_ms`: how
        far the link itself is behind the clock.
        """
        rest = b""
        with contextlib.ExitStack() as stack:
            file = None
            while True:
                # Asked before reading: what was written before the end is then read, all of it.
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

    def _expect(self, kind: str) -> asyncio.Future[dict[str, Any]]:
        """The next event of that type; before the request goes out, so that the answer is not missed."""
        return self._answers.setdefault(kind, asyncio.get_running_loop().create_future())

    async def _wait_for(self, answer: asyncio.Future[dict[str, Any]], what: str, limit_s: float) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(asyncio.shield(answer), limit_s)
        except TimeoutError:
            raise LinkFailed(f"weir-sim link has not answered to {what} for {limit_s:g} s") from None

    async def _tell(self, command: dict[str, Any]) -> None:
        try:
            if self._ended.is_set():
                raise ConnectionError
            await self._process.send(command)
        except ConnectionError:
            raise LinkFailed(self.failure or "weir-sim link has ended") from None

    async def _listen(self) -> None:
        """Takes in its events until it has ended, and says why it has."""
        try:
            while (event := await self._process.receive()) is not None:
                self._hear(event)
        except (NoMessage, KeyError) as error:
            wrong = error if isinstance(error, NoMessage) else f"wrote an event without {error}"
            self.errors.append(f"weir-sim link {wrong}")
            await self._process.kill()
        status = self._status = await self._process.wait()
        if not self._stopping:
            said = self.errors[-1] if self.errors and status >= 0 else self._last_words()
            self.failure = f"weir-sim link {_described(status)}" + (f": {said}" if said else "")
        self._ended.set()
        self._fail_answers(self.failure or "weir-sim link has ended")

    def _hear(self, event: dict[str, Any]) -> None:
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
                answer.set_exception(LinkFailed(reason))
                # Whoever gave up waiting does not ask for it.
                answer.exception()

    def _last_words(self) -> str:
        return self._process.last_words(_LAST_LINES, _LOG_PREFIX)


def _described(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
