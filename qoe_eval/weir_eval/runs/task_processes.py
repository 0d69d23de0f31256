"""Runs long tasks in separate processes, several at once, with progress; interrupted tasks can keep their results.

A task is a picklable object with a `name`. The function that executes it gets the task and `report`, which it calls
often with its progress: `report` raises KeyboardInterrupt if the task must stop, because of Ctrl-C or because the
program that started it has ended. The function's result is picklable, too.

Any process may be killed at any time, so processes share nothing. Each is spawned, not forked: it inherits no signal
handler and no lock of this program. Each has a connection of its own, which a killed process closes.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Protocol, TypeVar

from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_eval.runs.interruption import check_interrupted
from weir_sim.child_process import die_with_parent, exit_text

_REPORT_INTERVAL_S = 0.3
# A stopped task writes its results first; the simulators of a killed task end by themselves.
_STOP_LIMIT_S = 60.0
_POLL_S = 0.2


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """A display name, unique among the tasks."""


TaskType = TypeVar("TaskType", bound=Named)
Result = TypeVar("Result")
Report = Callable[[int], None]


@dataclass(frozen=True)
class TaskFailure:
    """A task that did not complete, and why."""

    name: str
    error: str

    def describe(self) -> str:
        """The failure on one line."""
        return f"{self.name}: {self.error}"


@dataclass
class _Running(Generic[TaskType]):
    task: TaskType
    process: Any
    concluded: bool = False


def run_tasks(
    tasks: Sequence[TaskType],
    work: Callable[[TaskType, Report], Result],
    processes: int,
    on_progress: Callable[[TaskType, int], None],
    on_done: Callable[[TaskType, Result | TaskFailure], Iterable[TaskType] | None],
    stop_limit_s: float = _STOP_LIMIT_S,
) -> list[TaskFailure]:
    """Executes all tasks in order, `processes` at once, and returns the failures, which do not stop other tasks.
    `work`, a top-level function of a module, runs in the task's process; the callbacks run in this process. `on_done`
    gets the result of `work` or the failure, and may return further tasks. An exception in a callback stops all running
    tasks; those that have not ended after `stop_limit_s` are killed.

    Raises:
        KeyboardInterrupt: interrupted; all running tasks have stopped.
    """
    context = multiprocessing.get_context("spawn")
    waiting = deque(tasks)
    running: dict[Connection, _Running[TaskType]] = {}
    failures: list[TaskFailure] = []
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                task = waiting.popleft()
                own_end, other_end = context.Pipe()
                process = context.Process(target=_run, args=(other_end,), name=task.name)
                # The child inherits the blocked signal: Ctrl-C at the terminal is for this program, which then stops
                # its tasks.
                before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                try:
                    process.start()
                    running[own_end] = _Running(task, process)
                finally:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)
                other_end.close()
                # After the start: as an argument, a large task would block the start of a process that is killed.
                with suppress(OSError):
                    own_end.send((work, task))
            check_interrupted()
            for connection in wait(list(running), _POLL_S):
                assert isinstance(connection, Connection)
                child = running[connection]
                try:
                    kind, value = connection.recv()
                except (EOFError, OSError):  # OSError: killed while it sent
                    child.process.join()
                    del running[connection]
                    connection.close()
                    if child.concluded:
                        continue
                    kind, value = "failed", f"its process {exit_text(child.process.exitcode)}"
                if kind == "steps":
                    on_progress(child.task, value)
                    continue
                child.concluded = True
                if kind == "failed":
                    value = TaskFailure(child.task.name, value)
                    failures.append(value)
                if kind != "stopped":
                    waiting.extend(on_done(child.task, value) or ())
    finally:
        for connection in running:
            with suppress(OSError):
                connection.send(None)
        deadline_s = time.monotonic() + stop_limit_s
        for connection, child in running.items():
            child.process.join(max(0.0, deadline_s - time.monotonic()))
            if child.process.is_alive():
                child.process.kill()
                child.process.join()
            connection.close()
    return failures


def _run(connection: Connection) -> None:
    die_with_parent()
    latest_s = 0.0

    def report(steps: int) -> None:
        nonlocal latest_s
        now_s = time.monotonic()
        if now_s - latest_s < _REPORT_INTERVAL_S:
            return
        latest_s = now_s
        # A request to stop, or the end of the program that started it.
        if connection.poll():
            raise KeyboardInterrupt
        try:
            connection.send(("steps", steps))
        except OSError:
            raise KeyboardInterrupt from None

    try:
        try:
            work, task = connection.recv()
            done = work(task, report)
        except KeyboardInterrupt:
            connection.send(("stopped", None))
        except Exception as error:  # whatever it is, the other tasks continue
            known = isinstance(error, InputError | ComponentFailed | MissingComponent)
            connection.send(("failed", str(error) if known else f"{type(error).__name__}: {error}"))
        else:
            connection.send(("done", done))
    except OSError:
        # The parent no longer listens.
        return
