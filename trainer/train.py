"""Training: PPO of stable-baselines3 in the vectorised environment, with checkpoints, resume, progress and
TensorBoard.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from weir.traces.errors import InputError
from weir.trainer.configuration import TrainingConfiguration
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.gym.vector import BottleneckVectorEnv
from weir.trainer.networks import PreferencePolicy
from weir.trainer.scenarios import ScenarioSampler

CHECKPOINT = "checkpoint.zip"
CONFIGURATION = "configuration.json"
EPISODES_SHOWN = 200


@dataclass(frozen=True)
class TrainingProgress:
    """What a progress display shows, once per update."""

    steps: int
    total_steps: int
    mean_reward: float
    objectives: tuple[float, float, float]


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
) -> TrainingResult:
    """Trains until `configuration.steps` environment steps are done, or until interrupted (Ctrl-C), which keeps a
    checkpoint.

    Args:
        configuration: what to train.
        out: folder for the checkpoint, the configuration and TensorBoard's events.
        resume: go on from the checkpoint in `out`; the scenarios are then others than before it.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called after every update.

    Raises:
        InputError: the folder holds a checkpoint and `resume` is false, or the other way round.
        SimulatorError: a simulator failed; the last checkpoint stands.
    """
    folder = Path(out)
    checkpoint = folder / CHECKPOINT
    if resume and not checkpoint.is_file():
        raise InputError(f"{folder}: has no {CHECKPOINT} to resume from")
    if not resume and checkpoint.exists():
        raise InputError(f"{folder}: already holds a training run; resume it, or give another folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIGURATION).write_text(configuration.model_dump_json(indent=1) + "\n", encoding="utf-8")
    torch.set_num_threads(configuration.threads)
    environment = make_environment(configuration, simulator)
    try:
        model = (
            _load(configuration, checkpoint, environment) if resume else make_model(configuration, environment, folder)
        )
        callback = _Recorder(configuration, checkpoint, on_progress)
        interrupted = False
        try:
            model.learn(
                max(0, configuration.steps - model.num_timesteps),
                callback,
                tb_log_name=configuration.name,
                reset_num_timesteps=not resume,
            )
        except KeyboardInterrupt:
            interrupted = True
        save_checkpoint(model, checkpoint)
    finally:
        environment.close()
    return TrainingResult(checkpoint, model.num_timesteps, interrupted, callback.mean_reward)


def make_environment(
    configuration: TrainingConfiguration, simulator: str | os.PathLike[str] | None = None
) -> BottleneckVecEnv:
    """The environments a configuration asks for, seeded by it."""
    settings = configuration.environment
    environment = BottleneckVectorEnv(
        settings.environments,
        ScenarioSampler(configuration.scenarios),
        objective=settings.objective,
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
    face = BottleneckVecEnv(environment)
    face.seed(configuration.seed)
    return face


def make_model(configuration: TrainingConfiguration, environment: BottleneckVecEnv, folder: Path | None = None) -> PPO:
    """A fresh learner; TensorBoard's events go to `folder` when TensorBoard is installed."""
    ppo = configuration.ppo
    return PPO(
        PreferencePolicy,
        environment,
        learning_rate=_Schedule(ppo.learning_rate, ppo.learning_rate_end),
        n_steps=ppo.steps_per_update,
        batch_size=ppo.batch_size,
        n_epochs=ppo.epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy_coefficient,
        vf_coef=ppo.value_coefficient,
        max_grad_norm=ppo.maximum_gradient_norm,
        target_kl=ppo.target_kl,
        seed=configuration.seed,
        device="cpu",
        tensorboard_log=str(folder / "tensorboard") if folder is not None and find_spec("tensorboard") else None,
        policy_kwargs={
            "specification": configuration.environment.specification(),
            "preference_size": configuration.policy.preference_size,
            "hidden": configuration.policy.hidden,
            "log_std_init": configuration.policy.initial_log_standard_deviation,
        },
    )


def load_policy(checkpoint: str | os.PathLike[str]) -> PreferencePolicy:
    """The policy of a checkpoint.

    Raises:
        InputError: the file is missing or no checkpoint.
    """
    if not Path(checkpoint).is_file():
        raise InputError(f"{checkpoint}: there is no such checkpoint")
    try:
        policy = PPO.load(checkpoint, device="cpu").policy
    except (ValueError, KeyError, EOFError, RuntimeError, OSError) as error:
        raise InputError(f"{checkpoint}: is not a checkpoint of `weir train`: {error}") from None
    if not isinstance(policy, PreferencePolicy):
        raise InputError(f"{checkpoint}: holds a {type(policy).__name__}, not a policy of `weir train`")
    return policy


def load_run_configuration(folder: str | os.PathLike[str]) -> TrainingConfiguration:
    """The configuration a training folder was made with.

    Raises:
        InputError: the folder has none.
    """
    path = Path(folder) / CONFIGURATION
    try:
        return TrainingConfiguration.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is not the configuration of a training run: {error}") from None


def save_checkpoint(model: PPO, path: Path) -> None:
    """Writes the checkpoint so that an interruption leaves the old one or the new one, never half of one."""
    partial = path.with_suffix(".partial.zip")
    model.save(partial)
    partial.replace(path)


def _load(configuration: TrainingConfiguration, checkpoint: Path, environment: BottleneckVecEnv) -> PPO:
    model = PPO.load(checkpoint, env=environment, device="cpu")
    # Otherwise the scenarios from the very beginning would come a second time.
    environment.seed(configuration.seed + model.num_timesteps)
    return model


class _Schedule:
    """Linear from `start` at the first step to `end` at the last; stable-baselines3 passes the share that remains."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def __call__(self, remaining: float) -> float:
        return self.end + (self.start - self.end) * max(0.0, min(1.0, remaining))


class _Recorder(BaseCallback):
    """Checkpoints, entropy decay, progress and the means of finished episodes."""

    def __init__(
        self,
        configuration: TrainingConfiguration,
        checkpoint: Path,
        on_progress: Callable[[TrainingProgress], None] | None,
    ) -> None:
        super().__init__()
        self._configuration = configuration
        self._checkpoint = checkpoint
        self._on_progress = on_progress
        self._episodes: list[dict[str, Any]] = []
        self._saved_at = 0

    @property
    def mean_reward(self) -> float:
        """Mean reward per step over the latest episodes; not a number before the first ended."""
        return float(np.mean([episode["r"] for episode in self._episodes])) if self._episodes else float("nan")

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                self._episodes.append(info["episode"])
        return True

    def _on_rollout_end(self) -> None:
        assert isinstance(self.model, PPO)
        del self._episodes[:-EPISODES_SHOWN]
        ppo = self._configuration.ppo
        done = min(1.0, self.num_timesteps / self._configuration.steps)
        self.model.ent_coef = ppo.entropy_coefficient + (ppo.entropy_coefficient_end - ppo.entropy_coefficient) * done
        objectives = (
            np.mean([episode["objectives"] for episode in self._episodes], axis=0)
            if self._episodes
            else np.full(3, np.nan)
        )
        for name, value in zip(("throughput", "latency", "loss"), objectives, strict=True):
            self.logger.record(f"objectives/{name}", float(value))
        self.logger.record("rollout/mean_reward_per_step", self.mean_reward)
        if self.num_timesteps - self._saved_at >= self._configuration.checkpoint_every_steps:
            self._saved_at = self.num_timesteps
            save_checkpoint(self.model, self._checkpoint)
        if self._on_progress is not None:
            shown = (float(objectives[0]), float(objectives[1]), float(objectives[2]))
            self._on_progress(TrainingProgress(self.num_timesteps, self._configuration.steps, self.mean_reward, shown))
