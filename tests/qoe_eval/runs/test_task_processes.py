"""Tasks in processes of their own: done, failed, dead and interrupted."""

import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass
from importlib import import_module

import pytest

from weir_eval.runs.interruption import interruptible
from weir_eval.runs.task_processes import run_tasks

# In a module that the processes of tasks can import too.
WORK = """
import os
import signal
from pathlib import Path
from processes import wait_until
from weir_cli.errors import InputError

def work(task, report):
    kind, _, path = task.name.partition(":")
    if kind == "refuse":
        raise InputError("no such trace")
    if kind == "raise":
        raise RuntimeError("out of cheese")
    if kind == "die":
        os._exit(7)
    if kind == "killed":
        # In the middle of a message.
        os.write(report.__closure__[0].cell_contents.fileno(), b"\\0")
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "handler":
        return signal.getsignal(signal.SIGTERM)
    if kind == "deaf":
        wait_until(lambda: Path(path).exists(), "a file that nobody makes")
    if kind == "long":
        try:
            # The task has no end of its own.
            wait_until(lambda: report(7), "the interruption")
        except KeyboardInterrupt:
            Path(path).write_text("interrupted")
            raise
    report(5)
    return len(task.name)

class Task:
    def __init__(self, name):
        self.name = name
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "task_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(tmp_path))
    return import_module("task_work")


@dataclass
class Seen:
    progress: list
    done: list


def run(module, names, processes=2, on_progress=None):
    seen = Seen([], [])
    failures = run_tasks(
        [module.Task(name) for name in names],
        module.work,
        processes,
        on_progress or (lambda task, steps: seen.progress.append((task.name, steps))),
        lambda task, outcome: seen.done.append((task.name, outcome)),
    )
    return seen, failures


def test_the_others_go_on_when_some_fail(module):
    seen, failures = run(module, ["a", "refuse", "raise", "die", "b"])
    assert sorted(seen.done, key=str) == sorted(
        [("a", 1), ("b", 1), *((failure.name, failure) for failure in failures)], key=str
    )
    assert sorted(seen.progress) == [("a", 5), ("b", 5)]
    assert sorted(failure.describe() for failure in failures) == [
        "die: its process ended with status 7",
        "raise: RuntimeError: out of cheese",
        "refuse: no such trace",
    ]


def test_an_interruption_lets_each_task_keep_what_it_has(module, tmp_path):
    at_work = set()

    def interrupt(task, steps):
        at_work.add(task.name)
        if len(at_work) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(module, [f"long:{tmp_path}/a", f"long:{tmp_path}/b"], on_progress=interrupt)
    assert [(tmp_path / name).read_text() for name in "ab"] == ["interrupted", "interrupted"]


def test_a_process_that_is_killed_while_it_sends_is_a_failure(module):
    _, failures = run(module, ["killed", "a"])
    assert [failure.describe() for failure in failures] == ["killed: its process was killed by SIGKILL"]


def test_processes_inherit_no_signal_handler(module):
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        seen, _ = run(module, ["handler"])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen.done == [("handler", signal.SIG_DFL)]


def test_a_task_larger_than_a_pipe_is_executed(module):
    seen, failures = run(module, ["a" * 1_000_000])
    assert failures == []
    assert seen.done[0][1] == 1_000_000


def test_an_interruption_of_the_thread_kills_tasks_that_do_not_stop(module, tmp_path):
    interrupted = threading.Event()
    tasks = [module.Task(name) for name in ("a", f"deaf:{tmp_path}/none")]

    def interrupt(task, outcome):
        interrupted.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(interrupted, run_tasks)(tasks, module.work, 2, lambda *_: None, interrupt, stop_limit_s=0)
    assert multiprocessing.active_children() == []
