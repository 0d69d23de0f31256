"""Training runs of all algorithms in a folder: checkpoints, resume, progress, TensorBoard, and a record of the run."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from stable_baselines3.common.callbacks import BaseCallback

from weir_cli.errors import InputError
from weir_cli.files.output import alone_in, make_folder, refuse_other_results, write_text
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.algorithms import check_checkpoint
from weir_train.learning.checkpoint import read_checkpoint
from weir_train.learning.curriculum import Curriculum
from weir_train.learning.held_out import independent_paths
from weir_train.learning.learner import TrainingProgress, TrainingRun, learner_of
from weir_train.learning.provenance import begin_part
from weir_train.learning.run_record import ConfigurationFile, TrainingRecord, read_training_record
from weir_train.model.file import CHECKPOINT, CONFIGURATION


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training run. `checkpoint` can be resumed and exported. `was_complete` is true if nothing was
    left to do. `mean_reward` is over the latest episodes, NaN if none has ended.
    """

    checkpoint: Path
    steps: int
    interrupted: bool
    mean_reward: float
    was_complete: bool = False


def train(
    configuration: TrainingConfiguration,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    evaluate_every_steps: int | None = None,
    curriculum: Curriculum | None = None,
    objective: ObjectiveSource | None = None,
    callbacks: Sequence[BaseCallback] = (),
    is_over: Callable[[], bool] | None = None,
    command: str | None = None,
    configuration_file: ConfigurationFile | None = None,
    address: str | None = None,
) -> TrainingResult:
    """Trains until `configuration.steps` environment steps are done, `is_over`, or Ctrl-C, which ends the update and
    keeps a checkpoint. A resumed training has the parameters of one that was not interrupted; see `reinforce`.

    Args:
        configuration: of the training.
        out: folder for the checkpoint, the configuration, the record of the run and TensorBoard's events.
        resume: continue from the checkpoint in `out`, with the code of the parts before.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called after every update; see `TrainingProgress`.
        evaluate_every_steps: interval of evaluations, which keep the best policy; see `EvaluationCallback`. They judge
            scenarios that `ScenarioSampler.hold_out` takes from the training, also when it is resumed. None: never.
        curriculum: over the traces, instead of the configuration's.
        objective: of episodes, instead of the configuration's.
        callbacks: of stable-baselines3, in addition to those of every run.
        is_over: called after every update; true ends the training with a checkpoint, after a last evaluation. Only for
            learners from rewards without a cluster.
        command: for the record, in which it begins a part.
        configuration_file: for the record.
        address: of the cluster that the algorithm trains on; see `connected`.

    Raises:
        InputError: the folder has a checkpoint and `resume` is false, or vice versa, or results of another command, or
            another command is using it, or it was trained with other code; a scenario file or a teacher is missing; the
            training diverged, or does not fit into memory.
        ComponentFailed: a simulator failed; the last checkpoint stays.
        MissingComponent: the algorithm needs Ray, which is not installed.
        ClusterError: a runner failed, or a distributed training makes no progress; its checkpoint is written first.
        KeyboardInterrupt: a second Ctrl-C; the last checkpoint stays.
    """
    started = time.monotonic()
    folder = Path(out)
    checkpoint = folder / CHECKPOINT
    if resume and not checkpoint.is_file():
        raise InputError(f"{folder}: has no {CHECKPOINT} to resume from")
    if not resume and checkpoint.exists():
        raise InputError(f"{folder}: already holds a training run; resume it, or give another folder")
    found = read_checkpoint(checkpoint) if resume else None
    if found is not None:
        check_checkpoint(configuration, found)
        if found.steps >= configuration.steps:
            return TrainingResult(checkpoint, found.steps, False, math.nan, was_complete=True)
    refuse_other_results(folder, CONFIGURATION)
    if evaluate_every_steps is not None and not configuration.from_rewards:
        raise InputError(f"--eval: algorithm {configuration.algorithm} has no evaluations; omit it")
    if is_over is not None and (configuration.on_cluster or not configuration.from_rewards):
        raise InputError(f"--minutes: algorithm {configuration.algorithm} trains all of its steps; give fewer")
    sampler = ScenarioSampler(configuration.scenarios)
    make_folder(folder)
    with alone_in(folder):
        torch.set_num_threads(configuration.threads)
        record = read_training_record(folder) if resume else TrainingRecord()
        begin_part(record, configuration, found.steps if found else 0, command, folder, simulator)
        write_text(folder / CONFIGURATION, configuration.model_dump_json(indent=1) + "\n")
        record.interrupted = True
        if found is not None and found.is_within_run and evaluate_every_steps is not None and not record.held_out:
            _check_not_trained_on(configuration, folder)
        holds_out = evaluate_every_steps is not None or bool(record.held_out)
        held_out = sampler.hold_out() if holds_out else []
        record.held_out = [str(document["name"]) for document in held_out]
        record.held_out_paths = independent_paths(held_out)
        record.configuration = configuration_file
        record.save(folder)
        run = TrainingRun(
            configuration=configuration, folder=folder, record=record, sampler=sampler, held_out=held_out,
            steps_done=found.steps if found else 0, resume=resume, simulator=simulator, on_progress=on_progress,
            evaluate_every_steps=evaluate_every_steps, curriculum=curriculum, objective=objective, callbacks=callbacks,
            is_over=is_over, address=address,
        )  # fmt: skip
        try:
            record.steps, record.interrupted, mean_reward = learner_of(configuration).train(run)
        except MemoryError as error:
            raise InputError(
                f"the training does not fit into memory ({error}): lower environments, steps_per_update, buffer_size "
                "or hidden"
            ) from None
        record.wall_s = round(record.wall_s + time.monotonic() - started, 1)
        record.steps_per_s = round(record.steps / max(record.wall_s, 0.1), 1)
        record.save(folder)
    return TrainingResult(checkpoint, record.steps, record.interrupted, mean_reward)


def _check_not_trained_on(configuration: TrainingConfiguration, folder: Path) -> None:
    """Refuses evaluations of a run that began without them and draws all of its files."""
    if configuration.scenarios.source == "files":
        raise InputError(
            f"--eval: {folder} was begun without it, and trains on all of its files: omit it, or train anew in another "
            "folder"
        )
