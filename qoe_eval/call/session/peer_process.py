"""A `weir-peer` process as an end of a call: receiver, or native sender."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weir.errors import MissingComponent
from weir.qoe_eval.call.real_time import run_in_real_time
from weir.qoe_eval.call.session.endpoint import EndpointFailed, Message, monotonic_us
from weir.qoe_eval.runs.children import die_with_parent
from weir.trainer.gym.executable import find_executable

EXECUTABLE_NAME = "weir-peer"
MAXIMUM_LINE_BYTES = 4 << 20
_START_LIMIT_S = 20.0
_STOP_LIMIT_S = 8.0
_MISSING_STATUS = 3
_LAST_LINES = 8


def find_peer() -> Path:
    """The path of `weir-peer`: what the environment variable WEIR_PEER names, else beside this Python, else on PATH.

    Raises:
        MissingComponent: it is in none of these places.
    """
    return find_executable(EXECUTABLE_NAME, "WEIR_PEER", "webrtc")


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
        self._command = [*enter, str(find_peer()), *arguments]
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._ended = False
        self._stopping = False
        self._broken = False

    @property
    def process_id(self) -> int | None:
        """Of the running process."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> Message:
        """Starts the process and waits for its `ready`.

        Raises:
            EndpointFailed: it ends, or says nothing.
            MissingComponent: it says that something it needs is not there, say its model.
        """
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=MAXIMUM_LINE_BYTES,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        run_in_real_time([self._process.pid])
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
        what = "; ".join(said) or self._last_log_lines() or "it said nothing"
        if status == _MISSING_STATUS:
            raise MissingComponent(f"the {self.name} (weir-peer): {what}")
        raise EndpointFailed(f"the {self.name} (weir-peer) ended with status {status} at its start: {what}")

    async def send(self, message: Message) -> None:
        """As one line."""
        stdin = self._process.stdin if self._process else None
        if stdin is None or stdin.is_closing():
            return
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await stdin.drain()

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
        assert self._process is not None
        status = await self._process.wait()
        if self._stopping or status == 0:
            self._ended = True
            return None
        return self._failed(f"the {self.name} (weir-peer) {_described(status)}")

    async def stop(self) -> None:
        """Asks it to end, and kills it when it does not, or is out of order anyway. Somebody must go on to receive."""
        if self._process is None:
            return
        self._stopping = True
        if self._broken:
            await self._kill()
            return
        await self.send({"type": "stop"})
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_LIMIT_S):
                await self._process.wait()
        except TimeoutError:
            await self._kill()

    async def _kill(self) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def _read(self) -> Message | None:
        """The next line; None at the end.

        Raises:
            EndpointFailed: it is not a message.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            raise EndpointFailed(f"the {self.name} (weir-peer) wrote a line without end") from None
        if not line.endswith(b"\n"):
            return None
        try:
            message: Any = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise EndpointFailed(f"the {self.name} (weir-peer) wrote what is no message: {line[:80]!r}")
        if not isinstance(message.get("time_us"), int):
            message["time_us"] = monotonic_us()
        return message

    def _failed(self, reason: str) -> Message:
        self._ended = True
        return {"type": "end", "reason": reason, "failed": True, "time_us": monotonic_us()}

    def _last_log_lines(self) -> str:
        with contextlib.suppress(OSError), self._log.open("rb") as log:
            return " / ".join(line.decode(errors="replace").strip() for line in deque(log, _LAST_LINES))[-1000:]
        return ""


def _described(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
