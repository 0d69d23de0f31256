"""Child processes of a call or link: JSON lines on standard input and output, a log of errors, real-time priority."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weir_cli.files.output import opened
from weir_sim.child_process import die_with_parent, exit_text

Message = dict[str, Any]

_PRIORITY = 1
LINK_PRIORITY = 2
"""Above the others, as the link forwards their packets and needs little CPU time."""


def monotonic_us() -> int:
    """Returns the time of the clock that all logs of a call use."""
    return time.monotonic_ns() // 1000


def run_in_real_time(processes: Iterable[int], priority: int = _PRIORITY) -> None:
    """Moves all threads of these processes, and those they start later, to the scheduler's real-time class.

    A call thus takes precedence over other work of the machine, for which the kernel reserves a twentieth of the time.
    Does nothing without the permission.
    """
    for process in processes:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{process}/task").iterdir():
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(priority))


def run_this_thread_in_real_time() -> None:
    """`run_in_real_time` for the calling thread."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))


class InvalidMessage(ValueError):
    """The child wrote something other than a message; the text is a predicate to the child's name."""


class JsonLinesProcess:
    """A child process that exchanges JSON messages, one per line: `weir-sim link`, `weir-peer`."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        longest_line_bytes: int,
        environment: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
    ) -> None:
        """Starts nothing yet. The child's standard error is appended to `log`; `environment` None: this process's;
        the child inherits `descriptors`.
        """
        self._command = command
        self._log = log
        self._log_start = 0
        self._longest_line_bytes = longest_line_bytes
        self._environment = environment
        self._descriptors = descriptors
        self._process: asyncio.subprocess.Process | None = None

    @property
    def started(self) -> bool:
        """True once the child has been started, even if it has ended."""
        return self._process is not None

    @property
    def process_id(self) -> int | None:
        """Process ID while it runs."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> int:
        """Starts the child in its own session and returns its process ID. It is killed when this process ends.

        Raises:
            InputError: the log cannot be written.
        """
        with opened(self._log, append=True) as log:
            self._log_start = log.seek(0, os.SEEK_END)
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=self._longest_line_bytes,
                env=self._environment,
                start_new_session=True,
                preexec_fn=die_with_parent,
                pass_fds=self._descriptors,
            )
        return self._process.pid

    async def send(self, message: Message) -> None:
        """Writes a message.

        Raises:
            ConnectionError: the child no longer reads.
        """
        stdin = self._process.stdin if self._process else None
        if stdin is None or stdin.is_closing():
            raise ConnectionError
        stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await stdin.drain()

    async def receive(self) -> Message | None:
        """Returns the next message, an object with `type` and `time_us` (by default now); None at the end.

        Raises:
            InvalidMessage: the child wrote something else.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            raise InvalidMessage("wrote a line without end") from None
        if not line.endswith(b"\n"):
            return None
        try:
            message: Any = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise InvalidMessage(f"wrote an invalid message: {line[:80]!r}")
        if not isinstance(message.get("time_us"), int):
            message["time_us"] = monotonic_us()
        return message

    def terminate(self) -> None:
        """Sends SIGTERM."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()

    async def wait(self) -> int:
        """Waits for the child's end and returns its exit status; -N: killed by signal N."""
        assert self._process is not None
        return await self._process.wait()

    async def stop(self, limit_s: float) -> str:
        """Sends `stop`, closes the input, and kills the child after `limit_s`. The caller must continue to receive.

        Returns:
            The fault as a predicate, or an empty text.
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
        return exit_text(status) if status < 0 else ""

    async def kill(self) -> None:
        """Kills the child and waits for its end."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    def last_words(self, count: int, prefix: bytes = b"") -> str:
        """Returns the last `count` lines of the log that begin with `prefix`, without the prefix.

        Other processes may write to the same file.
        """
        with contextlib.suppress(OSError), self._log.open("rb") as log:
            log.seek(self._log_start)
            lines = deque((line for line in log if line.startswith(prefix)), count)
            return " / ".join(line.removeprefix(prefix).decode(errors="replace").strip() for line in lines)
        return ""
