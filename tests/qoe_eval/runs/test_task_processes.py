"""Tasks in processes of their own: done, failed, dead and interrupted."""

import os
import signal
from dataclasses import dataclass
from importlib import import_module

import pytest

from weir.qoe_eval.runs.task_processes import run_tasks

# In a module that the processes of tasks can import too.
WORK = """
import os, time
from pathlib import Path
from weir.errors import InputError

def work(task, report):
    kind, _, path = task.name.partition(":")
    if kind == "refuse":
        raise InputError("no such trace")
    if kind == "raise":
        raise RuntimeError("out of cheese")
    if kind == "die":
        os._exit(7)
    if kind == "long":
        step = 0
        try:
            for step in range(10_000):
                report(step)
                time.sleep(0.01)
        finally:
            Path(path).write_text(str(step))
    report(5)

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
        lambda task: seen.done.append(task.name),
    )
    return seen, failures


def test_the_others_go_on_when_some_fail(module):
    seen, failures = run(module, ["a", "refuse", "raise", "die", "b"])
    assert sorted(seen.done) == ["a", "b"]
    assert sorted(seen.progress) == [("a", 5), ("b", 5)]
    assert sorted(failure.describe() for failure in failures) == [
        "die: its process ended (7)",
        "raise: RuntimeError: out of cheese",
        "refuse: no such trace",
    ]


def test_an_interruption_lets_each_task_keep_what_it_has(module, tmp_path):
    def interrupt(task, steps):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(module, [f"long:{tmp_path}/a", f"long:{tmp_path}/b"], on_progress=interrupt)
    # Not to their end.
    assert all(int((tmp_path / name).read_text()) < 9_999 for name in "ab")
