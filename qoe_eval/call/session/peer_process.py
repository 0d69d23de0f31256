"""A `weir-peer` process as an end of a call: receiver, or native sender."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

from weir.errors import MissingComponent
from weir.executables import find_peer
from weir.qoe_eval.call.processes.json_lines_process import JsonLinesProcess, Message, NoMessage, monotonic_us
from weir.qoe_eval.call.processes.real_time import run_in_real_time
from weir.qoe_eval.call.session.endpoint import EndpointFailed

MAXIMUM_LINE_BYTES = 4 << 20
_START_LIMIT_S = 20.0
_STOP_LIMIT_S = 8.0
_MISSING_STATUS = 3
_LAST_LINES = 8


class PeerProcess:
    """`weir-peer` as an `Endpoint`: JSON lines to and fro, its log in a file."""

    def __init__(self, name: str, namespace: str | None, arguments: Sequence[str], log: Path) -> None:
        """Nothing starts yet.

        Args:
            name: for people, say "receiver".
            namespace: its network namespace; None: this process's own.
            arguments: its command line.
            log: where its standard error goes.
        """
        self.name = name
        enter = ["ip", "netns", "exec", namespace] if namespace else []
        command = [*enter, str(find_peer()), *arguments]
        self._process = JsonLinesProcess(command, log, longest_line_bytes=MAXIMUM_LINE_BYTES)
        self._ended = False
        self._stopping = False
        self._broken = False

    @property
    def process_id(self) -> int | None:
        """Of the running process."""
        return self._process.process_id

    async def start(self) -> Message:
        """Starts the process and waits for its `ready`.

        Raises:
            EndpointFailed: it ends, or says nothing.
            MissingComponent: it says that something it needs is not there, say its model.
        """
        run_in_real_time([await self._process.start()])
        said: list[str] = []
        self._broken = True
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                while (message := await self._read()) is not None:
                    if message["type"] == "ready":
                        self._broken = False
                        return message
                    if message["type"] == "error":
                        said.append(str(message.get("message", ""))[:500])
                status = await self._process.wait()
        except TimeoutError:
            raise EndpointFailed(f"the {self.name} (weir-peer) was not ready within {_START_LIMIT_S:g} s") from None
        what = "; ".join(said) or self._process.last_words(_LAST_LINES)[-1000:] or "it said nothing"
        if status == _MISSING_STATUS:
            raise MissingComponent(f"the {self.name} (weir-peer): {what}")
        raise EndpointFailed(f"the {self.name} (weir-peer) ended with status {status} at its start: {what}")

    async def send(self, message: Message) -> None:
        """As one line."""
        with contextlib.suppress(ConnectionError):
            await self._process.send(message)

    async def receive(self) -> Message | None:
        """Its next message; after a death of its own, one `end` that says so."""
        if self._ended:
            return None
        try:
            message = await self._read()
        except EndpointFailed as error:
            self._broken = True
            return self._failed(str(error))
        if message is not None:
            return message
        status = await self._process.wait()
        if self._stopping or status == 0:
            self._ended = True
            return None
        return self._failed(f"the {self.name} (weir-peer) {_described(status)}")

    async def stop(self) -> str:
        """Asks it to end, and kills it when it does not, or is out of order anyway. Somebody must go on to receive."""
        if not self._process.started:
            return ""
        self._stopping = True
        if self._broken:
            await self._process.kill()
        elif wrong := await self._process.stop(_STOP_LIMIT_S):
            return f"the {self.name} (weir-peer) {wrong}"
        return ""

    async def _read(self) -> Message | None:
        """Its next message; None at the end.

        Raises:
            EndpointFailed: it is not a message.
        """
        try:
            return await self._process.receive()
        except NoMessage as error:
            raise EndpointFailed(f"the {self.name} (weir-peer) {error}") from None

    def _failed(self, reason: str) -> Message:
        self._ended = True
        return {"type": "end", "reason": reason, "failed": True, "time_us": monotonic_us()}


def _described(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
