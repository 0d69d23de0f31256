"""Runs jobs through `weir-sim run -`, several processes at once.

One thread, one selector: every process has at most one job; its answer, its death, its standard error and the job's
time limit are all noticed at once. A process that dies or overstays is replaced; its job is answered with a failure.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from weir.errors import MissingComponent
from weir.installation import how_to_get
from weir.qoe_eval.runs.children import die_with_parent

# This many processes that die before the first answer of any: something is wrong with the executable, not with a job.
_DEATHS_TO_GIVE_UP = 3
_STDERR_KEPT_BYTES = 4000


class SimulatorFailed(RuntimeError):
    """The simulator does not work at all. The message holds its own last words."""


@dataclass(frozen=True)
class Outcome:
    """What became of one job: a `weir.result/1` record, or why there is none.

    `job` is the "job" member of its line, with a `name` for people. `refused`: the simulator answered that the job
    itself is wrong (its input, its model), rather than dying of it, or its controller failing in the run.
    """

    job: Any
    record: dict[str, Any] | None = None
    error: str | None = None
    refused: bool = False

    def describe(self) -> str:
        """The failure in one line: which run, and why."""
        return f"{self.job['name']}: {self.error}"


def simulator_versions(executable: Path) -> dict[str, str]:
    """What `weir-sim --version` says.

    Raises:
        MissingComponent: it does not start, or says something else.
    """
    try:
        answer = subprocess.run([executable, "--version"], capture_output=True, text=True, timeout=20, check=True)
        return {str(name): str(version) for name, version in json.loads(answer.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError, AttributeError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise MissingComponent(
            f"{executable} --version does not work: {said.strip()}; it needs the ns-3 that it was built with (apt-get "
            f"install libns3-dev on the same release of Debian); {how_to_get('build')} builds it for this one"
        ) from error


def run_jobs(
    executable: Path, jobs: Iterable[Mapping[str, Any]], processes: int, time_limit_s: float
) -> Generator[Outcome, None, None]:
    """Runs each job (a line of weir-sim's `run -`; its "job" member identifies it) and yields outcomes as they come.

    Closing the generator, or an exception at its consumer (KeyboardInterrupt included), ends all processes.

    Raises:
        SimulatorFailed: the executable does not start, or several processes die and none has ever answered.
    """
    waiting = deque(jobs)
    deaths = answers = 0
    with selectors.DefaultSelector() as selector:
        # Processes are started when they first have a job, and only as many as there are jobs.
        workers = [_Worker(executable, selector) for _ in range(min(processes, len(waiting)))]
        try:
            while waiting or any(worker.busy for worker in workers):
                for worker in workers:
                    if waiting and not worker.busy:
                        worker.give(waiting.popleft(), time_limit_s)
                for outcome, died in _wait(selector, workers):
                    deaths, answers = deaths + died, answers + (not died)
                    if deaths >= _DEATHS_TO_GIVE_UP and not answers:
                        raise SimulatorFailed(f"{executable}, {deaths} times: {outcome.error}")
                    yield outcome
        finally:
            for worker in workers:
                worker.close()


def _wait(selector: selectors.BaseSelector, workers: list[_Worker]) -> list[tuple[Outcome, bool]]:
    """Waits for the next events. Each outcome comes with whether its process died."""
    now = time.monotonic()
    deadline = min(worker.deadline for worker in workers if worker.busy)
    outcomes = []
    for key, _ in selector.select(max(0.0, deadline - now)):
        worker, handle = key.data
        outcome = handle()
        if outcome:
            outcomes.append((outcome, worker.dead))
    now = time.monotonic()
    for worker in workers:
        if worker.busy and now >= worker.deadline:
            outcomes.append((worker.overstayed(), False))
    return outcomes


class _Worker:
    """One process and the job that it has. All its pipes are non-blocking: a process that does not read cannot hold
    us up.
    """

    def __init__(self, executable: Path, selector: selectors.BaseSelector) -> None:
        self._executable = executable
        self._selector = selector
        self._process: subprocess.Popen[bytes] | None = None
        self._job: Mapping[str, Any] | None = None
        self._limit_s = 0.0
        self._unsent = memoryview(b"")
        self._answer = bytearray()
        self._said = bytearray()
        self.deadline = float("inf")

    @property
    def busy(self) -> bool:
        return self._job is not None

    @property
    def dead(self) -> bool:
        return self._process is None

    def give(self, job: Mapping[str, Any], time_limit_s: float) -> None:
        process = self._process or self._start()
        self._job = job
        self._limit_s = time_limit_s
        self.deadline = time.monotonic() + time_limit_s
        self._answer.clear()
        self._unsent = memoryview(json.dumps(job, separators=(",", ":")).encode() + b"\n")
        self._selector.register(_pipes(process)[0], selectors.EVENT_WRITE, (self, self._send))

    def overstayed(self) -> Outcome:
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

    def _receive(self) -> Outcome | None:
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
            if not isinstance(answer, dict) or job is None or answer.get("job") != job.get("job"):
                raise ValueError("not the answer to this job")
        except ValueError as error:
            return self._finish_dead(f"weir-sim answered with something else than a result ({error}): {line[:200]!r}")
        self._job, self.deadline = None, float("inf")
        if self._unsent:
            # It answered before it had read the whole job.
            self._selector.unregister(_pipes(self._process)[0])
        if "error" in answer:
            return Outcome(job.get("job"), error=str(answer["error"]), refused=not answer.get("failed"))
        return Outcome(job.get("job"), record=answer)

    def _hear(self) -> None:
        if self._process is None or self._process.stderr is None:
            return
        chunk = os.read(self._process.stderr.fileno(), 1 << 16)
        if not chunk:
            self._selector.unregister(self._process.stderr)
        self._said = (self._said + chunk)[-_STDERR_KEPT_BYTES:]

    def _died(self, process: subprocess.Popen[bytes]) -> Outcome | None:
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

    def _finish_dead(self, error: str) -> Outcome | None:
        job, self._job, self.deadline = self._job, None, float("inf")
        self.close()
        return None if job is None else Outcome(job.get("job"), error=error)

    def _last_words(self) -> str:
        said = bytes(self._said[-_STDERR_KEPT_BYTES:]).decode(errors="replace").strip()
        return f"; it said: {said}" if said else "; it said nothing"


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Standard input, output and error of a process of `_Worker`, which has all three."""
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
