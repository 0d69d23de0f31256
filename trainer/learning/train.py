"""Training: PPO, TD3 or SAC of stable-baselines3 in the vectorised environment, with checkpoints, resume, progress and
TensorBoard.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import stable_baselines3
import torch
from stable_baselines3.common.callbacks import BaseCallback

from weir.errors import InputError
from weir.files.output import make_folder, write_text
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.configuration.training import LANDMARKS, TrainingConfiguration
from weir.trainer.curriculum.callback import SAMPLING_LOG, TraceCurriculum
from weir.trainer.curriculum.curriculum import TraceValuesSource, make_curriculum
from weir.trainer.curriculum.landmark_callback import LandmarkObjectives
from weir.trainer.curriculum.landmarks import LandmarkSchedule
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.gym.vector import BottleneckVectorEnv
from weir.trainer.learning.algorithms import (
    check_algorithm,
    checkpoint_steps,
    load_model,
    load_policy,
    make_model,
    save_checkpoint,
)
from weir.trainer.learning.evaluation import Evaluation, EvaluationCallback
from weir.trainer.learning.recorder import Recorder, TrainingProgress
from weir.trainer.learning.run_record import (
    CHECKPOINT,
    CONFIGURATION,
    ConfigurationFile,
    RunRecord,
    load_run_configuration,
    read_run_record,
)
from weir.trainer.learning.weight_average import WeightAverage

__all__ = [
    "CHECKPOINT",
    "CONFIGURATION",
    "TrainingProgress",
    "TrainingResult",
    "load_policy",
    "load_run_configuration",
    "make_environment",
    "make_model",
    "save_checkpoint",
    "train",
]


@dataclass(frozen=True)
class TrainingResult:
    """How training ended. `checkpoint` can be resumed from and exported. `was_complete`: there was nothing left to do.
    `mean_reward` is over the latest episodes, not a number when none has ended.
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
    trace_values: TraceValuesSource | None = None,
    evaluate_every_steps: int | None = None,
    command: str | None = None,
    configuration_file: ConfigurationFile | None = None,
) -> TrainingResult:
    """Trains until `configuration.steps` environment steps are done, or until interrupted (Ctrl-C), which keeps a
    checkpoint.

    Args:
        configuration: what to train.
        out: folder for the checkpoint, the configuration, figures of the run and TensorBoard's events.
        resume: go on from the checkpoint in `out`; the scenarios are then others than before it.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called after every update; see `TrainingProgress`.
        trace_values: gives what a `reward` or `gap` curriculum goes by, instead of the configuration's table.
        evaluate_every_steps: evaluate this often, and keep the best policy; see `EvaluationCallback`. None: never.
        command: that training was asked for by, for the record.
        configuration_file: that the configuration was read from, for the record.

    Raises:
        InputError: the folder holds a checkpoint and `resume` is false, or the other way round; a scenario
            file or a value of a trace is missing.
        SimulatorError: a simulator failed; the last checkpoint stands.
    """
    started = time.monotonic()
    folder = Path(out)
    checkpoint = folder / CHECKPOINT
    if resume and not checkpoint.is_file():
        raise InputError(f"{folder}: has no {CHECKPOINT} to resume from")
    if not resume and checkpoint.exists():
        raise InputError(f"{folder}: already holds a training run; resume it, or give another folder")
    if resume:
        check_algorithm(configuration, checkpoint)
        if (steps_done := checkpoint_steps(checkpoint)) >= configuration.steps:
            return TrainingResult(checkpoint, steps_done, False, math.nan, was_complete=True)
    sampler = ScenarioSampler(configuration.scenarios)
    curriculum = make_curriculum(configuration, sampler.documents, trace_values, simulator)
    landmarks = _landmarks(configuration)
    make_folder(folder)
    write_text(folder / CONFIGURATION, configuration.model_dump_json(indent=1) + "\n")
    torch.set_num_threads(configuration.threads)
    record = read_run_record(folder) if resume else RunRecord()
    record.planned_steps = configuration.steps
    record.interrupted = True
    record.commands += [command] if command else []
    record.configuration = configuration_file
    record.versions = _versions()
    record.save(folder)
    earlier_s = record.wall_s
    with ExitStack() as stack:
        environment = make_environment(configuration, simulator, objective=landmarks, sampler=sampler)
        stack.callback(environment.close)
        model = (
            load_model(configuration, checkpoint, environment)
            if resume
            else make_model(configuration, environment, folder)
        )
        if resume:
            # Otherwise the scenarios from the very beginning would come a second time.
            environment.seed(configuration.seed + model.num_timesteps)
        average = WeightAverage(decay, folder) if (decay := configuration.ppo.weight_average_decay) > 0 else None

        def save() -> None:
            save_checkpoint(model, checkpoint, replay_buffer=configuration.saves_buffer)
            if average is not None:
                average.save()

        recorder = Recorder(configuration, folder, save, on_progress)
        callbacks: list[BaseCallback] = [recorder]
        if average is not None:
            callbacks.append(average)
        if curriculum is not None:
            traces = TraceCurriculum(sampler, curriculum, configuration.steps, folder / SAMPLING_LOG)
            traces.prepare(model.num_timesteps)
            callbacks.append(traces)
        if landmarks is not None:
            callbacks.append(LandmarkObjectives(landmarks))
        evaluating = None
        if evaluate_every_steps is not None:
            evaluation = stack.enter_context(Evaluation(configuration, simulator=simulator))
            evaluating = EvaluationCallback(evaluation, configuration, folder, evaluate_every_steps)
            callbacks.append(evaluating)
        interrupted = False
        try:
            model.learn(
                max(0, configuration.steps - model.num_timesteps),
                callbacks,
                log_interval=1 if configuration.algorithm == "ppo" else 4 * environment.num_envs,
                tb_log_name=configuration.name,
                reset_num_timesteps=not resume,
            )
        except KeyboardInterrupt:
            interrupted = True
        save()
    record.steps = model.num_timesteps
    record.interrupted = interrupted
    if evaluating is not None:
        record.rule_mean_reward = evaluating.rule_mean_reward
    record.wall_s = round(earlier_s + time.monotonic() - started, 1)
    record.steps_per_s = round(record.steps / max(record.wall_s, 0.1), 1)
    record.save(folder)
    return TrainingResult(checkpoint, model.num_timesteps, interrupted, recorder.mean_reward)


def make_environment(
    configuration: TrainingConfiguration,
    simulator: str | os.PathLike[str] | None = None,
    *,
    objective: ObjectiveSource | None = None,
    sampler: ScenarioSampler | None = None,
) -> BottleneckVecEnv:
    """The environments a configuration asks for, seeded by it; `objective` and `sampler`: instead of the
    configuration's.
    """
    settings = configuration.environment
    if objective is None:
        objective = _landmarks(configuration) or settings.objective
    scenarios = ScenarioSampler(configuration.scenarios) if sampler is None else sampler
    environment = BottleneckVectorEnv(
        settings.environments, scenarios, objective=objective, simulator=simulator, **settings.arguments()
    )
    face = BottleneckVecEnv(environment)
    face.seed(configuration.seed)
    return face


def _versions() -> dict[str, str]:
    return {
        "stable-baselines3": stable_baselines3.__version__,
        "torch": torch.__version__,
        "gymnasium": gymnasium.__version__,
    }


def _landmarks(configuration: TrainingConfiguration) -> LandmarkSchedule | None:
    if configuration.environment.objective != LANDMARKS:
        return None
    return LandmarkSchedule(configuration.landmarks, configuration.steps)
