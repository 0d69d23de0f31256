"""Training: PPO, TD3 or SAC of stable-baselines3 in the vectorised environment, with checkpoints, resume, progress and
TensorBoard.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from stable_baselines3.common.callbacks import BaseCallback

from weir.traces.errors import InputError
from weir.traces.input_files import parse_json, read_text
from weir.traces.output_files import make_folder, write_text
from weir.trainer.algorithms import load_model, load_policy, make_model, save_checkpoint
from weir.trainer.configuration import LANDMARKS, EnvironmentSettings, TrainingConfiguration
from weir.trainer.curriculum import TraceValuesSource, make_curriculum
from weir.trainer.curriculum_callback import SAMPLING_LOG, TraceCurriculum
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.gym.specification import ObjectiveSource, ScenarioSource
from weir.trainer.gym.vector import BottleneckVectorEnv
from weir.trainer.landmark_callback import LandmarkObjectives
from weir.trainer.landmarks import LandmarkSchedule
from weir.trainer.recorder import Recorder, TrainingProgress
from weir.trainer.scenarios import ScenarioSampler

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

CHECKPOINT = "checkpoint.zip"
CONFIGURATION = "configuration.json"
FIGURES = "training.json"


@dataclass(frozen=True)
class TrainingResult:
    """How training ended. `checkpoint` can be resumed from and exported."""

    checkpoint: Path
    steps: int
    interrupted: bool
    mean_reward: float


def train(
    configuration: TrainingConfiguration,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    trace_values: TraceValuesSource | None = None,
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
    sampler = ScenarioSampler(configuration.scenarios)
    curriculum = make_curriculum(configuration, sampler.documents, trace_values, simulator)
    landmarks = _landmarks(configuration)
    make_folder(folder)
    write_text(folder / CONFIGURATION, configuration.model_dump_json(indent=1) + "\n")
    torch.set_num_threads(configuration.threads)
    environment = make_environment(configuration, simulator, objective=landmarks, sampler=sampler)
    try:
        model = (
            load_model(configuration, checkpoint, environment)
            if resume
            else make_model(configuration, environment, folder)
        )
        if resume:
            # Otherwise the scenarios from the very beginning would come a second time.
            environment.seed(configuration.seed + model.num_timesteps)
        recorder = Recorder(configuration, checkpoint, on_progress)
        callbacks: list[BaseCallback] = [recorder]
        if curriculum is not None:
            traces = TraceCurriculum(sampler, curriculum, configuration.steps, folder / SAMPLING_LOG)
            traces.prepare(model.num_timesteps)
            callbacks.append(traces)
        if landmarks is not None:
            callbacks.append(LandmarkObjectives(landmarks))
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
        save_checkpoint(model, checkpoint, replay_buffer=configuration.saves_buffer)
    finally:
        environment.close()
    _write_figures(folder / FIGURES, model.num_timesteps, time.monotonic() - started, resume)
    return TrainingResult(checkpoint, model.num_timesteps, interrupted, recorder.mean_reward)


def _write_figures(path: Path, steps: int, wall_s: float, resume: bool) -> None:
    """`steps`, `wall_s` and `steps_per_s` of the whole run, earlier parts of a resumed one included; what
    `weir experiment policy --training` reads.
    """
    if resume and path.is_file():
        wall_s += json.loads(path.read_text(encoding="utf-8"))["wall_s"]
    figures = {"steps": steps, "wall_s": round(wall_s, 1), "steps_per_s": round(steps / wall_s, 1)}
    write_text(path, json.dumps(figures) + "\n")


def make_vector_environment(
    settings: EnvironmentSettings,
    count: int,
    scenarios: ScenarioSource,
    *,
    objective: ObjectiveSource = "balanced",
    simulator: str | os.PathLike[str] | None = None,
) -> BottleneckVectorEnv:
    """`count` environments as the table `environment` of a configuration describes them."""
    return BottleneckVectorEnv(
        count,
        scenarios,
        objective=objective,
        reward=settings.reward,
        interval_ms=settings.interval_ms,
        features=settings.features,
        history=settings.history,
        action=settings.specification().action,
        guard=settings.guard,
        privileged=settings.privileged_critic,
        simulator=simulator,
        timeout_s=settings.timeout_s,
    )


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
    environment = make_vector_environment(
        settings, settings.environments, scenarios, objective=objective, simulator=simulator
    )
    face = BottleneckVecEnv(environment)
    face.seed(configuration.seed)
    return face


def load_run_configuration(folder: str | os.PathLike[str]) -> TrainingConfiguration:
    """The configuration a training folder was made with.

    Raises:
        InputError: the folder has none.
    """
    path = Path(folder) / CONFIGURATION
    values = parse_json(read_text(path), str(path))
    try:
        return TrainingConfiguration.model_validate(values)
    except ValueError as error:
        raise InputError(f"{path}: is not the configuration of a training run: {error}") from None


def _landmarks(configuration: TrainingConfiguration) -> LandmarkSchedule | None:
    if configuration.environment.objective != LANDMARKS:
        return None
    return LandmarkSchedule(configuration.landmarks, configuration.steps)
