"""Runs jobs in chunks on the machines of a connected Ray cluster; chunks of a lost machine are restarted elsewhere.

The machines need only the same installation of Weir: models are sent with the jobs.
"""

from __future__ import annotations

import platform
import tempfile
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError
from weir_cli.files.input import sha256_of_file
from weir_eval.runs.jobs import ReplayJob, ReplayPlan, member_digests
from weir_eval.runs.measured_runs import MeasuredRun, measured_runs
from weir_eval.runs.simulator_worker import JobOutcome
from weir_sim.cluster import core_count
from weir_sim.controllers import is_pool
from weir_sim.executables import find_simulator

# The overhead of tasks with fewer jobs would dominate.
_CHUNK = 15
# More than one, so that a machine never waits for its next task.
_TASKS_PER_CORE = 2
_LOSSES_TO_GIVE_UP = 5


def check_travels(plan: ReplayPlan) -> None:
    """Raises InputError for controllers and videos in files that other machines do not have."""
    if plan.call:
        raise InputError("--stack libwebrtc: runs on this machine; omit it or --address")
    for name in plan.controllers:
        if name in plan.custom or (is_pool(name) and member_digests(name)):
            raise InputError(f"--controller '{name}': runs from a file of this machine; omit it or --address")


def cluster_runs(simulator: Path, jobs: Sequence[ReplayJob], time_limit_s: float) -> Generator[MeasuredRun, None, None]:
    """`measured_runs` on the cluster, with the same records; `simulator` is that of this machine. Closing the
    generator, or an exception in its consumer, ends all tasks.

    Raises:
        ComponentFailed: on some machine the executable does not start, or always dies.
    """
    import ray

    task = ray.remote(max_retries=_LOSSES_TO_GIVE_UP)(_run_chunk)
    models = ray.put({path: Path(path).read_bytes() for path in filter(None, set(map(_model, jobs)))})
    waiting = deque(list(jobs[start : start + _CHUNK]) for start in range(0, len(jobs), _CHUNK))
    running: dict[Any, list[ReplayJob]] = {}
    simulator_sha256 = sha256_of_file(simulator)
    try:
        while waiting or running:
            # The number of machines may change.
            while waiting and len(running) < _TASKS_PER_CORE * max(1, core_count()):
                chunk = waiting.popleft()
                running[task.remote(chunk, models, simulator_sha256, time_limit_s)] = chunk
            for answered in ray.wait(list(running))[0]:
                chunk = running.pop(answered)
                try:
                    runs = ray.get(answered)
                except (ray.exceptions.WorkerCrashedError, ray.exceptions.ObjectLostError) as error:
                    lost = f"its machine was lost {_LOSSES_TO_GIVE_UP + 1} times ({type(error).__name__})"
                    runs = [MeasuredRun(JobOutcome(job, error=lost)) for job in chunk]
                # Restore the jobs of this machine, whose models are local files.
                by_key = {job.key: job for job in chunk}
                for run in runs:
                    yield replace(run, outcome=replace(run.outcome, job=by_key[run.outcome.job.key]))
    finally:
        for task_running in running:
            ray.cancel(task_running, force=True)


def _run_chunk(
    jobs: Sequence[ReplayJob], models: dict[str, bytes], simulator_sha256: str, time_limit_s: float
) -> list[MeasuredRun]:
    """Runs a chunk; executed on a machine of the cluster."""
    simulator = find_simulator()
    if sha256_of_file(simulator) != simulator_sha256:
        error = f"machine {platform.node()} has another build of {simulator.name}; give all machines the same"
        return [MeasuredRun(JobOutcome(jobs[0], error=error, refused=True))]
    with tempfile.TemporaryDirectory(prefix="weir-") as folder:
        files = {path: Path(folder, f"{number}.onnx") for number, path in enumerate(models)}
        for path, file in files.items():
            file.write_bytes(models[path])
        here = [
            replace(job, request={**job.request, "model": str(files[own])}) if (own := _model(job)) else job
            for job in jobs
        ]
        return list(measured_runs(simulator, here, 1, time_limit_s))


def _model(job: ReplayJob) -> str | None:
    path = job.request["model"]
    return path if isinstance(path, str) else None
