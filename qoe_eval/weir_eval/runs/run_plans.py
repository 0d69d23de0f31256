"""Runs plans of replays (scenarios, controllers, seeds), and writes the results to one folder.

    inputs x controllers x seeds --> jobs --> weir-sim processes --> results.jsonl, series/ --> summary.json,
    report.html

An interrupted replay resumes: runs with a complete record from the same scenario, options, model and simulator are not
repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weir_cli.errors import InputError
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.cluster_runs import cluster_runs
from weir_eval.runs.jobs import ReplayJob, ReplayPlan, plan_jobs
from weir_eval.runs.measured_runs import MeasuredRun, measured_runs
from weir_eval.runs.simulator_worker import JobOutcome
from weir_eval.runs.store import RunStore

# Time limit of a run, in addition to the simulated time: hundreds of times the usual time. Virtual calls with real
# video may take one second per simulated second, and more on a busy machine; their simulated time counts by the factor.
_TIME_LIMIT_S = 30.0
_CALL_TIME_FACTOR = 5.0

OnProgress = Callable[[int, int, str], None]


@dataclass
class ReplayOutcome:
    """All complete records, in the order of the plans, and failures. `by_plan` has the records of each plan."""

    records: list[RunRecord] = field(default_factory=list)
    by_plan: list[list[RunRecord]] = field(default_factory=list)
    failures: list[JobOutcome[ReplayJob]] = field(default_factory=list)
    reused: int = 0

    @property
    def refused(self) -> JobOutcome[ReplayJob] | None:
        """The first run that the simulator refused; it ended the replay."""
        return next((failure for failure in self.failures if failure.refused), None)

    def all_records(self) -> list[RunRecord]:
        """The records, for replays that require all of them.

        Raises:
            InputError: a run failed; the message has the first failure.
        """
        if self.failures:
            raise InputError(self.failures[0].describe())
        return self.records


def complete_plans(
    plans: Sequence[ReplayPlan],
    folder: Path,
    processes: int | None,
    on_progress: OnProgress | None = None,
    before_runs: Callable[[], None] = lambda: None,
) -> ReplayOutcome:
    """Makes the missing runs, appending each record as it completes. A run in several plans is made once. `processes`:
    number on this machine; None: use the connected cluster.

    A run that the simulator refuses ends the replay: the refusal (for example of a bad model) would recur for every run
    of that controller. Runs that die or exceed the time limit are failures, and the others continue. `on_progress` gets
    the numbers of complete and of all runs, and the name of the latest. `before_runs` is
    called when the folder is ready.

    Raises:
        InputError: the folder cannot be used.
        MissingComponent: the simulator does not work.
        ComponentFailed: the simulator always dies.
        KeyboardInterrupt: interrupted; complete runs are kept.
    """
    if not plans:
        return ReplayOutcome()
    jobs: dict[str, ReplayJob] = {}
    keys_by_plan = []
    for plan in plans:
        planned = plan_jobs(plan)
        keys_by_plan.append(list(planned))
        for key, job in planned.items():
            if key not in jobs or job.keep_series:
                jobs[key] = job
    store = RunStore(folder)
    outcome = ReplayOutcome()
    done = {record.key: record for record in store.start({key: job.keep_series for key, job in jobs.items()})}
    before_runs()
    outcome.reused = len(done)
    missing = [job for key, job in jobs.items() if key not in done]
    longest_s = max(
        (
            scenario.duration_s * (_CALL_TIME_FACTOR if plan.call else 1.0)
            for plan in plans
            for scenario in plan.scenarios
        ),
        default=0.0,
    )
    runs = _runs(missing, processes, _TIME_LIMIT_S + longest_s)
    try:
        for run in runs:
            record = run.outcome.record
            if record is None:
                outcome.failures.append(run.outcome)
                if run.outcome.refused:
                    break
                continue
            store.append(record, run.series)
            done[record.key] = record
            if on_progress:
                on_progress(len(done), len(jobs), f"{record.scenario} · {record.controller}")
    finally:
        runs.close()
    outcome.by_plan = [[done[key] for key in keys if key in done] for keys in keys_by_plan]
    outcome.records = [done[key] for key in jobs if key in done]
    return outcome


def _runs(jobs: Sequence[ReplayJob], processes: int | None, limit_s: float) -> Generator[MeasuredRun, None, None]:
    """Runs the jobs, simulator by simulator."""
    for simulator in dict.fromkeys(job.simulator for job in jobs):
        own = [job for job in jobs if job.simulator == simulator]
        if processes is None:
            yield from cluster_runs(simulator, own, limit_s)
        else:
            yield from measured_runs(simulator, own, processes, limit_s)
