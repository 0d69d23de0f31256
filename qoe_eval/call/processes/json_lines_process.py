"""A child process that speaks JSON lines: one message a line on its standard input and output, what it logs in a file.

`weir-sim link` and `weir-peer` are such.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weir.qoe_eval.runs.simulator_worker import die_with_parent

Message = dict[str, Any]


def monotonic_us() -> int:
    """Now, on the clock of every log of a call."""
    return time.monotonic_ns() // 1000


class NoMessage(ValueError):
    """What the child wrote is no message; the text says what it did, to be put behind its name."""


class JsonLinesProcess:
    """Starts the child, tells it messages and reads its own. What an end of it means is for the caller to say."""

    def __init__(self, command: Sequence[str], log: Path, *, longest_line_bytes: int) -> None:
        """Nothing starts yet.

        Args:
            command: program and arguments.
            log: where its standard error is appended.
            longest_line_bytes: a longer line is no message.
        """
        self._command = command
        self._log = log
        self._log_start = 0
        self._longest_line_bytes = longest_line_bytes
        self._process: asyncio.subprocess.Process | None = None

    @property
    def started(self) -> bool:
        """Whether it has been started, even if it has ended since."""
        return self._process is not None

    @property
    def process_id(self) -> int | None:
        """Of the running process."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> int:
        """Starts it, in a session of its own; returns its process id. It is killed when this process ends."""
        with self._log.open("ab") as log:
            self._log_start = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=self._longest_line_bytes,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        return self._process.pid

    async def send(self, message: Message) -> None:
        """Tells it something.

        Raises:
            ConnectionError: it reads no more.
        """
        stdin = self._process.stdin if self._process else None
        if stdin is None or stdin.is_closing():
            raise ConnectionError
        stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await stdin.drain()

    async def receive(self) -> Message | None:
        """Its next message, an object with a `type`, and `time_us` of now where it has none; None at its end.

        Raises:
            NoMessage: it wrote something else.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            raise NoMessage("wrote a line without end") from None
        if not line.endswith(b"\n"):
            return None
        try:
            message: Any = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise NoMessage(f"wrote what is no message: {line[:80]!r}")
        if not isinstance(message.get("time_us"), int):
            message["time_us"] = monotonic_us()
        return message

    async def wait(self) -> int:
        """Its exit status, once it has ended; -N: it was killed by signal N."""
        assert self._process is not None
        return await self._process.wait()

    async def stop(self, limit_s: float) -> str:
        """Tells it to `stop` and ends its input; kills it when that does not end it. Somebody must go on to receive.
        Empty, or what was wrong with its end, to be put behind its name.
        """
        with contextlib.suppress(ConnectionError):
            await self.send({"type": "stop"})
        assert self._process is not None
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(limit_s):
                status = await self._process.wait()
        except TimeoutError:
            await self.kill()
            return f"did not end within {limit_s:g} s and was killed"
        return f"was killed by signal {-status}" if status < 0 else ""

    async def kill(self) -> None:
        """Ends it by force, and waits for it."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    def last_words(self, count: int, prefix: bytes = b"") -> str:
        """The last lines of its log since its start, `count` at most, only those that begin with `prefix`; without it.

        Others may write to the same file.
        """
        with contextlib.suppress(OSError), self._log.open("rb") as log:
            log.seek(self._log_start)
            lines = deque((line for line in log if line.startswith(prefix)), count)
            return " / ".join(line.removeprefix(prefix).decode(errors="replace").strip() for line in lines)
        return ""
