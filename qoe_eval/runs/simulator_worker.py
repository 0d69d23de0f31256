"""One `weir-sim run -` process, what it is given and what became of it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Generic, TypeVar

from pydantic import JsonValue

from weir.qoe_eval.records import RunRecord

_STDERR_KEPT_BYTES = 4000
_PR_SET_PDEATHSIG = 1
# Loaded here: between fork and exec there is no time for it.
_libc = ctypes.CDLL(None)


class SimulatorFailed(RuntimeError):
    """The simulator does not work at all. The message holds its own last words."""


@dataclass(frozen=True)
class SimulatorJob:
    """One run. `name` is for people; `request` is a line of `weir-sim run -`, without its "job" member."""

    name: str
    request: Mapping[str, JsonValue]


JobType = TypeVar("JobType", bound=SimulatorJob)


@dataclass(frozen=True)
class Outcome(Generic[JobType]):
    """The record of one job, or why there is none.

    `refused`: the simulator answered that the job itself is wrong (its input, its model); it did not die, and the
    controller did not fail during the run.
    """

    job: JobType
    record: RunRecord | None = None
    error: str | None = None
    refused: bool = False

    def describe(self) -> str:
        """The failure in one line: which run, and why."""
        return f"{self.job.name}: {self.error}"


class SimulatorWorker(Generic[JobType]):
    """One process and the job that it has. All its pipes are non-blocking: a process that does not read cannot hold
    us up.
    """

    def __init__(self, executable: Path, selector: selectors.BaseSelector) -> None:
        self._executable = executable
        self._selector = selector
        self._process: subprocess.Popen[bytes] | None = None
        self._job: JobType | None = None
        self._limit_s = 0.0
        self._unsent = memoryview(b"")
        self._answer = bytearray()
        self._said = bytearray()
        self.deadline = float("inf")

    @property
    def busy(self) -> bool:
        """True while it has a job."""
        return self._job is not None

    @property
    def dead(self) -> bool:
        """True without a process; the next job starts one."""
        return self._process is None

    def give(self, job: JobType, time_limit_s: float) -> None:
        """Begins with a job, when it has none, to be over before `deadline`.

        Raises:
            SimulatorFailed: the executable does not start.
        """
        process = self._process or self._start()
        self._job = job
        self._limit_s = time_limit_s
        self.deadline = time.monotonic() + time_limit_s
        self._answer.clear()
        self._unsent = memoryview(json.dumps({"job": job.name, **job.request}, separators=(",", ":")).encode() + b"\n")
        self._selector.register(_pipes(process)[0], selectors.EVENT_WRITE, (self, self._send))

    def overstayed(self) -> Outcome[JobType]:
        """Ends the process, whose time is over; what that makes of its job."""
        error = f"no answer from weir-sim within {self._limit_s:g} s; it was ended" + self._last_words()
        outcome = self._finish_dead(error)
        assert outcome is not None  # it has a job: only then is there a time limit
        return outcome

    def close(self) -> None:
        """Ends the process, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in _pipes(process):
            with contextlib.suppress(KeyError):
                self._selector.unregister(pipe)
        if process.poll() is None:
            # Its group: what a controller of the user's own has started, too.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in _pipes(process):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        # An own session: Ctrl-C at the terminal reaches this process, which then ends its children, and not them
        # directly.
        try:
            process = subprocess.Popen(
                [self._executable, "run", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                # Nor does it outlive a parent that is killed.
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise SimulatorFailed(f"{self._executable} does not start: {error.strerror}") from error
        self._said.clear()
        self._process = process
        for pipe in _pipes(process):
            os.set_blocking(pipe.fileno(), False)
        _, answers, messages = _pipes(process)
        self._selector.register(answers, selectors.EVENT_READ, (self, self._receive))
        self._selector.register(messages, selectors.EVENT_READ, (self, self._hear))
        return process

    def _send(self) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            self._unsent = self._unsent[os.write(self._process.stdin.fileno(), self._unsent) :]
        except BrokenPipeError:
            # The process is gone; the end of its standard output tells the rest.
            self._unsent = memoryview(b"")
        except BlockingIOError:
            return
        if not self._unsent:
            self._selector.unregister(self._process.stdin)

    def _receive(self) -> Outcome[JobType] | None:
        if self._process is None or self._process.stdout is None:
            return None
        chunk = os.read(self._process.stdout.fileno(), 1 << 20)
        if not chunk:
            return self._died(self._process)
        self._answer += chunk
        if not self._answer.endswith(b"\n"):
            return None
        line, job = bytes(self._answer), self._job
        try:
            answer = json.loads(line)
            if not isinstance(answer, dict) or job is None or answer.pop("job", None) != job.name:
                raise ValueError("not the answer to this job")
            record = None if "error" in answer else RunRecord.model_validate(answer)
        except ValueError as error:
            return self._finish_dead(f"weir-sim answered with something else than a result ({error}): {line[:200]!r}")
        self._job, self.deadline = None, float("inf")
        if self._unsent:
            # It answered before it had read the whole job.
            self._selector.unregister(_pipes(self._process)[0])
        if "error" in answer:
            return Outcome(job, error=str(answer["error"]), refused=not answer.get("failed"))
        return Outcome(job, record=record)

    def _hear(self) -> None:
        if self._process is None or self._process.stderr is None:
            return
        chunk = os.read(self._process.stderr.fileno(), 1 << 16)
        if not chunk:
            self._selector.unregister(self._process.stderr)
        self._said = (self._said + chunk)[-_STDERR_KEPT_BYTES:]

    def _died(self, process: subprocess.Popen[bytes]) -> Outcome[JobType] | None:
        """The process closed its standard output. Waits a moment for its exit status and takes in what is left of its
        standard error.
        """
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(BlockingIOError, OSError):
            while chunk := os.read(_pipes(process)[2].fileno(), 1 << 16):
                self._said += chunk
        return self._finish_dead(
            f"weir-sim ended ({_status(process.returncode)}) in the middle of a run" + self._last_words()
        )

    def _finish_dead(self, error: str) -> Outcome[JobType] | None:
        job, self._job, self.deadline = self._job, None, float("inf")
        self.close()
        return None if job is None else Outcome(job, error=error)

    def _last_words(self) -> str:
        said = bytes(self._said[-_STDERR_KEPT_BYTES:]).decode(errors="replace").strip()
        return f"; it said: {said}" if said else "; it said nothing"


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Standard input, output and error of a process of `SimulatorWorker`, which has all three."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _status(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def die_with_parent() -> None:
    """For `preexec_fn`: the child is killed when the thread that started it ends, however that happens."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
