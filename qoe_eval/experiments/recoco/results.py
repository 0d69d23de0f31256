"""What `weir experiment recoco` measures, kept one file a model, and GCC's scores on the same traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import InputError
from weir.files.input import read_text
from weir.files.output import write_text
from weir.qoe_eval.measures.flow_series import read_flow_series
from weir.qoe_eval.measures.recoco import RecocoScores, recoco_scores, recoco_scores_of_series
from weir.qoe_eval.runs.jobs import ReplayPlan, plan_jobs
from weir.qoe_eval.runs.simulator import run_jobs
from weir.qoe_eval.runs.task_processes import Report
from weir.traces.schema.scenario import Scenario
from weir.trainer.recoco import (
    RecocoModel,
    StepRecord,
    drop_replay_buffer,
    mean_reward,
    run_policy,
    train_model,
    trained_policy,
)

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
        """What a result must have been made from to be taken as this task's."""
        values = [one.model_dump() for one in self.model.trace_values]
        return json.loads(json.dumps(asdict(self.model) | {"trace_values": values, "evaluated": self.evaluated}))


def complete_model(task: ModelTask, report: Report) -> None:
    """Trains the task's model, from where it was left, runs it on each trace and writes its result.

    Raises:
        KeyboardInterrupt: `report` did; what is trained is kept.
        InputError: a run has no score, or the simulator refused it.
    """
    if not train_model(task.model, task.files, task.folder, report, task.simulator):
        raise KeyboardInterrupt
    policy = trained_policy(task.folder)
    traces = {}
    for name in task.evaluated:
        record = run_policy(task.model, task.files, name, policy, task.simulator)
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
        raise InputError(f"{path}: is not a result of `weir experiment recoco` ({error}); remove it") from None


def scores_of_record(record: StepRecord) -> RecocoScores | None:
    """ReCoCo's scores of a run in the gym, whose steps of 200 ms are the paper's."""
    delay_ms = np.where(record.packets_received > 0, record.one_way_delay_mean_ms, np.nan)
    return recoco_scores(record.receive_rate_bps, record.capacity_bps, delay_ms, record.loss_ratio)


def gcc_results(scenarios: Mapping[str, Scenario], simulator: Path, processes: int) -> dict[str, list[TraceResult]]:
    """GCC's scores by name of trace: one run of each, from its beginning, as the models have it. GCC has no training
    that seeds could repeat.

    Raises:
        InputError: a run failed.
        SimulatorFailed: the simulator does not work.
    """
    plan = ReplayPlan(list(scenarios.values()), ["gcc"], (0.4, 0.5, 0.1), [0], None, simulator, "measured")
    results: dict[str, list[TraceResult]] = {name: [] for name in scenarios}
    for outcome in run_jobs(simulator, plan_jobs(plan).values(), processes, _GCC_TIME_LIMIT_S):
        if outcome.record is None:
            raise InputError(outcome.describe())
        flow = outcome.record["flows"][0]
        series = read_flow_series(outcome.record, flow)
        received = flow["packets_received"]
        scores = recoco_scores_of_series(series, flow["bytes_received"] / received) if series and received else None
        if scores is None:
            raise InputError(f"{outcome.job.name}: nothing arrived, hence no score")
        results[outcome.record["scenario"]].append(TraceResult(scores))
    return results
