"""The results of `weir paper recoco`: one file a model, and GCC's scores on the same traces."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from weir_cli.errors import InputError
from weir_cli.files.input import read_text
from weir_cli.files.output import write_text
from weir_eval.measures.flow_series import read_flow_series
from weir_eval.measures.recoco import RecocoScores, recoco_scores, recoco_scores_of_series
from weir_eval.runs.jobs import ReplayPlan, plan_jobs
from weir_eval.runs.progress import end_with_failures
from weir_eval.runs.simulator import run_jobs
from weir_eval.runs.task_processes import Report, TaskFailure, run_tasks
from weir_papers.recoco.models import RecocoModel
from weir_traces.schema.scenario import Scenario
from weir_train.gym.step import StepRecord

SCHEMA = "weir.recoco-model/1"
RESULT = "result.json"
_GCC_TIME_LIMIT_S = 300.0


@dataclass(frozen=True)
class TraceResult:
    """One run on one trace: ReCoCo's scores, and the mean of its reward where it was measured."""

    scores: RecocoScores
    mean_reward: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self.scores) | {"overall": self.scores.overall, "mean_reward": self.mean_reward}


@dataclass(frozen=True)
class ModelTask:
    """A model to train and to run on `evaluated`, in a process of its own."""

    model: RecocoModel
    files: Mapping[str, Path]
    evaluated: tuple[str, ...]
    folder: Path
    simulator: Path

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    @property
    def description(self) -> dict[str, Any]:
        """Identifies a result of this task."""
        return json.loads(json.dumps(asdict(self.model) | {"evaluated": self.evaluated}))


def complete_model(task: ModelTask, report: Report) -> None:
    """Trains the task's model, from where it was left, runs it on each trace and writes its result.

    Raises:
        KeyboardInterrupt: `report` did; what is trained is kept.
        InputError: a run has no score, or the simulator refused it.
    """
    from weir_papers.recoco.training import drop_replay_buffer, mean_reward, run_policy, train_model

    if not train_model(task.model, task.files, task.folder, report, task.simulator):
        raise KeyboardInterrupt
    traces = {}
    for name in task.evaluated:
        record = run_policy(task.model, task.files, name, task.folder, task.simulator)
        scores = scores_of_record(record)
        if scores is None:
            raise InputError(f"model {task.name} on {name}: nothing arrived, hence no score")
        traces[name] = TraceResult(scores, mean_reward(record)).to_dict()
    document = {"schema": SCHEMA, "model": task.description, "traces": traces}
    write_text(task.folder / RESULT, json.dumps(document, indent=1, allow_nan=False) + "\n")
    drop_replay_buffer(task.folder)


def read_result(task: ModelTask) -> dict[str, TraceResult] | None:
    """The task's result by trace; nothing when there is none yet.

    Raises:
        InputError: the file cannot be read, or is about another model.
    """
    path = task.folder / RESULT
    if not path.exists():
        return None
    try:
        document = json.loads(read_text(path))
        if document["model"] != task.description:
            raise InputError(f"{path}: is of a model that was trained otherwise; give another --out")
        return {
            name: TraceResult(RecocoScores(row["rate"], row["delay"], row["loss"]), row["mean_reward"])
            for name, row in document["traces"].items()
        }
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: is not a result of `weir paper recoco` ({error}); remove it") from None


def scores_of_record(record: StepRecord) -> RecocoScores | None:
    """ReCoCo's scores of a run in the gym, whose steps of 200 ms are the paper's."""
    delay_ms = np.where(record.packets_received > 0, record.one_way_delay_mean_ms, np.nan)
    return recoco_scores(record.receive_rate_bps, record.capacity_bps, delay_ms, record.loss_ratio)


def gcc_results(
    controller: str, scenarios: Mapping[str, Scenario], simulator: Path, processes: int
) -> dict[str, list[TraceResult]]:
    """GCC's scores by name of trace, at the sender ("gcc") or, as the models, at the receiver ("gcc-remb"): one run of
    each, from its beginning, as the models have it. GCC has no training that seeds could repeat.

    Raises:
        InputError: a run failed.
        ComponentFailed: the simulator does not work.
    """
    plan = ReplayPlan(list(scenarios.values()), [controller], (0.4, 0.5, 0.1), [0], None, simulator, "measured")
    results: dict[str, list[TraceResult]] = {name: [] for name in scenarios}
    for outcome in run_jobs(simulator, plan_jobs(plan).values(), processes, _GCC_TIME_LIMIT_S):
        if outcome.record is None:
            raise InputError(outcome.describe())
        flow = outcome.record.flows[0]
        series = read_flow_series(outcome.record, flow)
        received = flow.packets_received
        scores = recoco_scores_of_series(series, flow.bytes_received / received) if series and received else None
        if scores is None:
            raise InputError(f"{outcome.job.name}: nothing arrived, hence no score")
        results[outcome.record.scenario].append(TraceResult(scores))
    return results


class TaskProgress:
    """Trains models, several at once, with a progress bar over all their steps; without a terminal, a line a model."""

    def __init__(self, console: Console, total: int, *, quiet: bool) -> None:
        self._console, self._total = console, total
        self._plain = not quiet and not console.is_terminal
        self._done: dict[str, int] = {}
        self._started = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.1f} %"))
        self._bar = Progress(
            *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True,
            disable=quiet or self._plain, speed_estimate_period=300.0,
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=total)

    def __enter__(self) -> TaskProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def complete(self, tasks: Sequence[ModelTask], processes: int) -> dict[str, dict[str, TraceResult]]:
        """Completes the tasks that have no result yet; all results by task and trace.

        Raises:
            typer.Exit: status 1, after a message: a model failed; the others are complete.
        """
        missing = [task for task in tasks if read_result(task) is None]
        self._done |= {task.name: task.model.steps for task in tasks if task not in missing}
        failures = run_tasks(missing, complete_model, processes, self._show, self._finish)
        end_with_failures([failure.describe() for failure in failures], self._console)
        return {task.name: read_result(task) or {} for task in tasks}

    def _show(self, task: ModelTask, steps: int) -> None:
        self._done[task.name] = min(steps, task.model.steps)
        self._bar.update(self._task, completed=sum(self._done.values()), description=task.name)

    def _finish(self, task: ModelTask, outcome: TaskFailure | None) -> None:
        if outcome is not None:
            return
        self._show(task, task.model.steps)
        if self._plain:
            share, minutes = sum(self._done.values()) / self._total, (time.monotonic() - self._started) / 60
            self._console.print(f"{task.name}: complete; {share:.0%} of all steps after {minutes:.0f} min")
