"""One `weir-sim run -` process, its jobs and their outcomes."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import JsonValue

from weir_cli.errors import ComponentFailed
from weir_eval.records.run_record import RunRecord
from weir_sim.child_process import die_with_parent, end, exit_text, kill, last_words


@dataclass(frozen=True)
class SimulatorJob:
    """One run. `name` is for messages; `request` is a line of `weir-sim run -`, without its "job" member."""

    name: str
    request: Mapping[str, JsonValue]


JobType = TypeVar("JobType", bound=SimulatorJob)


@dataclass(frozen=True)
class JobOutcome(Generic[JobType]):
    """The record of one job, or the reason why there is none.

    `refused`: the simulator answered that the job itself is invalid (its input, its model); it did not die, and the
    controller did not fail during the run.
    """

    job: JobType
    record: RunRecord | None = None
    error: str | None = None
    refused: bool = False

    def describe(self) -> str:
        """The failed run and the reason, on one line."""
        return f"{self.job.name}: {self.error}"


class SimulatorWorker(Generic[JobType]):
    """One process, which runs one job at a time; started with the first job, and again after its end."""

    def __init__(self, executable: Path) -> None:
        self._executable = executable
        self._process: subprocess.Popen[bytes] | None = None
        # Standard error of the process.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (`close` closes it)

    def run(self, job: JobType, time_limit_s: float) -> tuple[JobOutcome[JobType], bool]:
        """Runs a job. Returns its outcome, and True if the process failed other than by exceeding the time limit.

        Raises:
            ComponentFailed: the executable does not start.
        """
        if self._process is not None and self._process.poll() is not None:
            self._end()
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        self._errors.truncate(0)
        late = threading.Event()

        def expire() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(time_limit_s, expire)
        timer.start()
        request = json.dumps({"job": job.name, **job.request}, separators=(",", ":")).encode()
        try:
            # If the process has ended, the read below returns at once.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(request + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if line.endswith(b"\n") and not late.is_set():
            return self._read(job, line)
        status = self._end()
        last = last_words(self._errors)
        if late.is_set():
            return JobOutcome(
                job, error=f"no answer from weir-sim within {time_limit_s:g} s; it was ended{last}"
            ), False
        return JobOutcome(job, error=f"weir-sim {exit_text(status)} in the middle of a run{last}"), True

    @property
    def pid(self) -> int:
        """The number of the process; 0 while there is none."""
        return self._process.pid if self._process else 0

    def kill(self) -> None:
        """Kills the process and those started by its custom controller, from any thread; its job fails."""
        if process := self._process:
            kill(process)

    def close(self) -> None:
        """Ends the process, which must not have a job."""
        self.kill()
        if self._process is not None:
            self._end()
        self._errors.close()

    def _start(self) -> subprocess.Popen[bytes]:
        # In its own session, so that Ctrl-C at the terminal reaches only this process, which then ends its children.
        try:
            return subprocess.Popen(
                [self._executable, "run", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
                # It must not outlive a parent that is killed.
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise ComponentFailed(f"{self._executable} does not start: {error.strerror}") from error

    def _read(self, job: JobType, line: bytes) -> tuple[JobOutcome[JobType], bool]:
        try:
            answer = json.loads(line)
            if not isinstance(answer, dict) or answer.pop("job", None) != job.name:
                raise ValueError("not the answer to this job")
            if "error" in answer:
                return JobOutcome(job, error=str(answer["error"]), refused=not answer.get("failed")), False
            return JobOutcome(job, record=RunRecord.model_validate(answer)), False
        except ValueError as error:
            self.kill()
            self._end()
            fault = f"weir-sim answered with something else than a result ({error}): {line[:200]!r}"
            return JobOutcome(job, error=fault), True

    def _end(self) -> int:
        """Waits briefly for the end of the process, which has closed its output; returns its exit status."""
        process = self._process
        assert process is not None
        status = end(process, 2)
        self._process = None
        # Closes its pipes.
        with contextlib.suppress(BrokenPipeError), process:
            pass
        return status


RunJob = Callable[[SimulatorWorker[JobType], JobType, float], tuple[JobOutcome[JobType], bool]]
"""A function like `SimulatorWorker.run`."""
