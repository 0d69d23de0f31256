"""Work in threads that is interrupted."""

import asyncio
import threading

import pytest
from processes import wait_until

from weir_eval.runs.interruption import check_interrupted, run_in_thread
from weir_eval.runs.simulator import run_jobs
from weir_eval.runs.simulator_worker import JobOutcome, SimulatorJob


def work_until_interrupted(started, ended):
    started()
    try:
        wait_until(check_interrupted, "the interruption")
    finally:
        ended.append("interrupted")


@pytest.mark.asyncio
async def test_a_cancellation_ends_the_work_in_the_thread():
    loop, started, ended = asyncio.get_running_loop(), asyncio.Event(), []
    task = asyncio.create_task(
        run_in_thread(work_until_interrupted, lambda: loop.call_soon_threadsafe(started.set), ended)
    )
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["interrupted"]


@pytest.mark.asyncio
async def test_other_work_is_not_interrupted():
    assert await run_in_thread(lambda: check_interrupted() or 5) == 5


def test_an_interrupted_replay_ends_the_measurement_of_a_run(tmp_path):
    measuring, ended = threading.Event(), []

    def run(worker, job, time_limit_s):
        if job.name == "long":
            work_until_interrupted(measuring.set, ended)
        measuring.wait(60)
        return JobOutcome(job), False

    outcomes = run_jobs(tmp_path / "none", [SimulatorJob("short", {}), SimulatorJob("long", {})], 2, 30.0, run)
    assert next(outcomes).job.name == "short"
    outcomes.close()
    assert ended == ["interrupted"]
