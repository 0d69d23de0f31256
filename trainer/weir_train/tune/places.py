"""Runs the rungs of a search in processes of this machine, or on a connected Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weir_cli.errors import InputError
from weir_eval.runs.task_processes import Report, TaskFailure
from weir_train.tune.rung import Rung, complete_rung

# Retries of one rung after its machine is lost, or while its former process has not yet ended.
_FAILURES = 10
_LONGEST_FAULT = 300


def work_in_process(rung: Rung, report: Report) -> float:
    """Completes a rung for `run_tasks`."""
    return complete_rung(rung, report)


def run_on_cluster(
    rungs: Sequence[Rung], threads: int, on_done: Callable[[Rung, float | TaskFailure], Sequence[Rung]]
) -> None:
    """Completes rungs on machines that share the folders, each on `threads` cores, and the rungs that `on_done` returns
    after each. A rung whose machine is lost continues elsewhere from the checkpoint in its folder.

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
