"""Callbacks of a training run: checkpoints and ends between two updates, entropy decay, progress, the means of
episodes, averaged weights; and of an adaptation: an early end.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import JSONOutputFormat
from torch import nn

from weir_cli.files.output import opened
from weir_sim.controllers import WEIGHTS
from weir_train.configuration.training import TrainingConfiguration
from weir_train.learning.algorithms import LinearSchedule
from weir_train.learning.checkpoint import Checkpoint, policy_arrays, write_checkpoint
from weir_train.learning.interruption import Stopped
from weir_train.learning.learner import TrainingProgress
from weir_train.learning.run_record import EPISODES, EPISODES_SHOWN, PROGRESS_LOG
from weir_train.model.file import AVERAGED

# For rollouts of a few steps, too short for one record each.
STEPS_BETWEEN_RECORDS = 1000
_AVERAGED: Final = "averaged"


class ProgressLog(JSONOutputFormat):
    """stable-baselines3's `progress.json`, one line per log call; a resumed run appends to it."""

    def __init__(self, path: Path) -> None:
        self.file = io.TextIOWrapper(io.BufferedWriter(opened(path, append=True)), encoding="utf-8")


class Recorder(BaseCallback):
    """Writes checkpoints, decays entropy, and records progress and the means of finished episodes.

    Between two updates it writes a checkpoint that is due, reports progress, and ends the training early: before it
    takes another step, so that the checkpoint of the end is exact.

    Args:
        configuration: of the training.
        folder: of the run.
        save: writes the checkpoint.
        on_progress: see `TrainingProgress`; a KeyboardInterrupt from it ends the training.
        is_over: polled between updates; true ends the training, but not before its first update.
        steps_between: minimum number of steps between two records of progress.
    """

    def __init__(
        self,
        configuration: TrainingConfiguration,
        folder: Path,
        save: Callable[[], None],
        on_progress: Callable[[TrainingProgress], None] | None,
        is_over: Callable[[], bool],
        steps_between: int,
    ) -> None:
        super().__init__()
        self._configuration = configuration
        self._folder = folder
        self._save = save
        self._on_progress = on_progress
        self._is_over = is_over
        self._episodes: deque[dict[str, Any]] = deque(maxlen=EPISODES_SHOWN)
        self._began_at = self._saved_at = self._recorded_at = 0
        self._steps_between = steps_between
        self._progress: TrainingProgress | None = None

    @property
    def mean_reward(self) -> float:
        """Mean reward per step over the latest episodes; NaN before the first has ended."""
        return float(np.mean([episode["r"] for episode in self._episodes])) if self._episodes else float("nan")

    def _on_training_start(self) -> None:
        self._began_at = self._saved_at = self._recorded_at = self.num_timesteps
        self.logger.output_formats.append(ProgressLog(self._folder / PROGRESS_LOG))

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                self._episodes.append(info["episode"])
        return True

    def _on_rollout_end(self) -> None:
        configuration, ppo = self._configuration, self._configuration.ppo
        if isinstance(self.model, PPO):
            schedule = LinearSchedule(ppo.entropy_coefficient, ppo.entropy_coefficient_end)
            self.model.ent_coef = schedule(1.0 - self.num_timesteps / configuration.steps)
        last = self.num_timesteps >= configuration.steps
        if self.num_timesteps - self._recorded_at < self._steps_between and not last:
            return
        self._recorded_at = self.num_timesteps
        objectives = (
            np.mean([episode["objectives"] for episode in self._episodes], axis=0)
            if self._episodes
            else np.full(3, np.nan)
        )
        for name, value in zip(WEIGHTS, objectives, strict=True):
            self.logger.record(f"objectives/{name}", float(value))
        self.logger.record("rollout/mean_reward_per_step", self.mean_reward)
        self.logger.record(EPISODES, len(self._episodes))
        shown = (float(objectives[0]), float(objectives[1]), float(objectives[2]))
        self._progress = TrainingProgress(self.num_timesteps, self.mean_reward, shown)

    def _on_rollout_start(self) -> None:
        if self.num_timesteps == self._began_at:
            return
        if self.num_timesteps - self._saved_at >= self._configuration.checkpoint_every_steps:
            self._saved_at = self.num_timesteps
            self._save()
        self._report()
        if self._is_over():
            raise Stopped

    def _on_training_end(self) -> None:
        self._report()

    def _report(self) -> None:
        progress, self._progress = self._progress, None
        if self._on_progress is None or progress is None:
            return
        try:
            self._on_progress(progress)
        except KeyboardInterrupt:
            raise Stopped from None


class EarlyEnd(BaseCallback):
    """Ends a training before the next step once `is_over` returns true; callbacks see the end of the training."""

    def __init__(self, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self._is_over = is_over

    def _on_step(self) -> bool:
        return not self._is_over()


class WeightAverage(BaseCallback):
    """Exponential moving average: after every update, average = decay * average + (1 - decay) * weights.

    Args:
        decay: in (0, 1).
        algorithm: of the run.
        folder: of the run. `save` writes the average there, as a checkpoint that `load_policy` reads.
    """

    def __init__(self, decay: float, algorithm: str, folder: Path) -> None:
        super().__init__()
        self._decay = decay
        self._algorithm = algorithm
        self._file = folder / AVERAGED
        self._weights: dict[str, torch.Tensor] = {}
        self._updated_at = 0

    def continue_from(self, found: Checkpoint, policy: nn.Module) -> None:
        """Continues the average of a checkpoint, if it has one.

        Raises:
            InputError: it does not match the policy.
        """
        self._weights, self._updated_at = found.part(_AVERAGED), found.steps
        shapes = {name: weight.shape for name, weight in policy.state_dict().items()}
        if self._weights and {name: weight.shape for name, weight in self._weights.items()} != shapes:
            raise found.mismatch_error("the average of the weights")

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the average as arrays of the run's checkpoint."""
        return {f"{_AVERAGED}/{name}": weight.numpy() for name, weight in self._weights.items()}

    def save(self) -> None:
        """Writes the average; the model does not change."""
        if self._weights:
            write_checkpoint(self._file, self._algorithm, self.num_timesteps, policy_arrays(self._weights))

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        self._update()

    def _on_training_end(self) -> None:
        self._update()

    def _update(self) -> None:
        """Updates the average after an update, once; an empty average begins with the present weights."""
        now = self.model.policy.state_dict()
        if not self._weights:
            self._weights = {name: weight.detach().clone() for name, weight in now.items()}
        elif self.num_timesteps > self._updated_at:
            for name, weight in now.items():
                self._weights[name].lerp_(weight.detach(), 1.0 - self._decay)
        self._updated_at = self.num_timesteps
