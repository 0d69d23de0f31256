"""Runs jobs in `weir-sim run -`, several processes at once.

Each process has at most one job, and a thread that waits for its answer, its end or the job's time limit. A process
that dies or exceeds the limit is replaced; its job fails.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import typer

from weir_cli.errors import ComponentFailed
from weir_cli.installation import how_to_get
from weir_eval.runs.interruption import interruptible
from weir_eval.runs.simulator_worker import JobOutcome, JobType, RunJob, SimulatorWorker

# If this many processes die before any has answered, the executable is at fault, not a job.
_DEATHS_TO_GIVE_UP = 3


def say_left_out(names: Iterable[str], unavailable: Collection[str]) -> None:
    """Prints on standard error which of the controllers `names` are omitted because they are `unavailable`, if any."""
    if omitted := [name for name in dict.fromkeys(names) if name in unavailable]:
        typer.echo(f"weir: left out: {', '.join(omitted)}; they need {how_to_get('webrtc')}", err=True)


def run_jobs(
    executable: Path,
    jobs: Iterable[JobType],
    processes: int,
    time_limit_s: float,
    run: RunJob[JobType] = SimulatorWorker.run,
) -> Generator[JobOutcome[JobType], None, None]:
    """Runs each job and yields outcomes as they complete. `run` is called in the thread of a worker.

    Closing the generator, or an exception in its consumer (including KeyboardInterrupt), ends all processes.

    Raises:
        ComponentFailed: the executable does not start, or several processes die and none has ever answered.
    """
    waiting = deque(jobs)
    deaths = answers = 0
    # Each process is started with its first job; there are at most as many as jobs.
    workers = [SimulatorWorker[JobType](executable) for _ in range(min(processes, len(waiting)))]
    idle = list(workers)
    interrupted = threading.Event()
    running: dict[Future[tuple[JobOutcome[JobType], bool]], SimulatorWorker[JobType]] = {}
    try:
        with ThreadPoolExecutor(max(len(workers), 1)) as threads:
            try:
                while waiting or running:
                    while waiting and idle:
                        worker = idle.pop()
                        work = interruptible(interrupted, run)
                        running[threads.submit(work, worker, waiting.popleft(), time_limit_s)] = worker
                    # Wait with a timeout: Python misses a Ctrl-C just before it begins to wait.
                    for done in wait(running, 0.2, FIRST_COMPLETED).done:
                        idle.append(running.pop(done))
                        outcome, died = done.result()
                        deaths, answers = deaths + died, answers + (not died)
                        if deaths >= _DEATHS_TO_GIVE_UP and not answers:
                            raise ComponentFailed(f"{executable}, {deaths} times: {outcome.error}")
                        yield outcome
            finally:
                interrupted.set()
                while not all(run.done() for run in running):
                    for worker in workers:
                        worker.kill()
                    wait(running, timeout=0.1)
    finally:
        for worker in workers:
            worker.close()
