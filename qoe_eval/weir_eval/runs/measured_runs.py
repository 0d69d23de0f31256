"""Runs jobs in `weir-sim` and computes their measures."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from weir_eval.measures.metrics import flows_under_test_of, run_metrics
from weir_eval.measures.run_causes import run_episodes
from weir_eval.records.run_record import MediaRecord, RunRecord
from weir_eval.records.series import Series
from weir_eval.runs.jobs import ReplayJob
from weir_eval.runs.simulator import run_jobs
from weir_eval.runs.simulator_worker import JobOutcome, SimulatorWorker


@dataclass(frozen=True)
class MeasuredRun:
    """The outcome of a job, with measures in its record, and its series if the job keeps them."""

    outcome: JobOutcome[ReplayJob]
    series: Series | None = None


def measured_runs(
    simulator: Path, jobs: Sequence[ReplayJob], processes: int, time_limit_s: float
) -> Generator[MeasuredRun, None, None]:
    """`run_jobs`, with measures in the records."""
    with closing(run_jobs(simulator, jobs, processes, time_limit_s, _run)) as outcomes:
        for outcome in outcomes:
            yield MeasuredRun(outcome) if outcome.record is None else _measured(outcome, outcome.record)


def _run(worker: SimulatorWorker[ReplayJob], job: ReplayJob, time_limit_s: float) -> tuple[JobOutcome[ReplayJob], bool]:
    run = job.call.run if job.call and job.call.run else SimulatorWorker[ReplayJob].run
    return run(worker, job, time_limit_s)


def _measured(outcome: JobOutcome[ReplayJob], answer: RunRecord) -> MeasuredRun:
    job = outcome.job
    tested = list(job.media) or None
    metrics = run_metrics(answer, tested)
    lean, series = answer.without_series()
    about: dict[str, object] = {
        "key": job.key,
        "media": {name: MediaRecord.model_validate(media) for name, media in job.media.items()},
        "variation": job.variation,
        "model_sha256": job.model_sha256,
        "metrics": metrics,
    }
    if job.decision_delay_ms:
        about["decision_delay_ms"] = job.decision_delay_ms
    if job.call:
        about |= {"stack": "libwebrtc", "virtual_call": job.call.description()}
    if answer.series:
        about["episodes"] = run_episodes(answer, flows_under_test_of(answer, tested))
    return MeasuredRun(replace(outcome, record=lean.model_copy(update=about)), series if job.keep_series else None)
