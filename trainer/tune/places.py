"""Where the rungs of a search run: processes of this machine, or a Ray cluster that is joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weir.errors import InputError
from weir.qoe_eval.runs.task_processes import Report, TaskFailure
from weir.simulator.child_process import die_with_parent
from weir.trainer.tune.rung import Rung, complete_rung

# Failures of one rung: its machine is lost, or its former process has not yet ended.
_FAILURES = 10
_LONGEST_FAULT = 300


def work_in_process(rung: Rung, report: Report) -> float:
    """For `run_tasks`: a search that is killed and resumed at once finds none of its trials at work."""
    die_with_parent()
    return complete_rung(rung, report)


def run_on_cluster(
    rungs: Sequence[Rung], threads: int, on_done: Callable[[Rung, float | TaskFailure], Sequence[Rung]]
) -> None:
    """Completes rungs on machines that share the folders, each on `threads` cores, and those that `on_done` returns
    after one. A rung whose machine is lost goes on elsewhere, from the checkpoint in its folder.

    Raises:
        KeyboardInterrupt: after all running rungs have been stopped.
    """
    import ray

    work = ray.remote(num_cpus=threads, max_retries=_FAILURES, retry_exceptions=[InputError])(_work)
    running: dict[Any, Rung] = {work.remote(rung): rung for rung in rungs}
    try:
        while running:
            for ended in ray.wait(list(running))[0]:
                rung = running.pop(ended)
                try:
                    outcome: float | TaskFailure = ray.get(ended)
                except ray.exceptions.RayError as error:
                    outcome = TaskFailure(rung.name, str(error).strip().split("\n")[-1][:_LONGEST_FAULT])
                running |= {work.remote(following): following for following in on_done(rung, outcome)}
    finally:
        for task in running:
            ray.cancel(task, force=True)


def _work(rung: Rung) -> float:
    return complete_rung(rung, lambda steps: None)
