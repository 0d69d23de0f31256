"""Puts MOCC's schedule of landmark objectives into a training run."""

from __future__ import annotations

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from weir.registry import WEIGHTS
from weir.trainer.curriculum.landmarks import LandmarkSchedule
from weir.trainer.gym.sb3 import BottleneckVecEnv


class LandmarkObjectives(BaseCallback):
    """Before every update's steps: the landmark of the schedule into all environments, in the middle of their
    episodes, as an application may change its objective in a call.
    """

    def __init__(self, schedule: LandmarkSchedule) -> None:
        super().__init__()
        self._schedule = schedule

    def _on_rollout_start(self) -> None:
        landmark = self._schedule.at(self.num_timesteps)
        self._schedule.current = landmark
        face = self.training_env
        assert isinstance(face, BottleneckVecEnv)
        face.environment.set_objective(landmark)
        # The next action answers this observation, which the learner keeps as a copy.
        observations = np.array(self.model._last_obs)
        size = face.environment.specification.observation_size
        observations[:, size : size + 3] = landmark
        self.model._last_obs = observations

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        assert self._schedule.current is not None
        for name, weight in zip(WEIGHTS, self._schedule.current, strict=True):
            self.logger.record(f"landmark/{name}", weight)
