"""Puts a curriculum over traces into a training run, and writes down what was drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from weir.files.output import append
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.curriculum.curriculum import Curriculum
from weir.trainer.gym.sb3 import BottleneckVecEnv

SAMPLING_LOG = "sampling.jsonl"
_DIGITS = 6


class TraceCurriculum(BaseCallback):
    """Sets the sampler's probabilities before every update's steps, and feeds finished episodes back.

    When a trace that is being played is not to be played any more, all environments begin anew. The learner stays the
    same, with its replay buffer if it has one. The log has a line for every episode that begins: the step, its trace,
    and the probabilities it was drawn with, in the order of the scenarios.
    """

    def __init__(self, sampler: ScenarioSampler, curriculum: Curriculum, total_steps: int, log: Path) -> None:
        super().__init__()
        self._sampler = sampler
        self._curriculum = curriculum
        self._total_steps = total_steps
        self._path = log
        self._playing: list[int] = []

    def prepare(self, step: int) -> None:
        """Before the first episodes are drawn, with `step` steps done."""
        self._sampler.probabilities = self._curriculum.probabilities(step / self._total_steps)

    def _on_training_start(self) -> None:
        self._began(range(self.training_env.num_envs))

    def _on_rollout_start(self) -> None:
        self.prepare(self.num_timesteps)
        assert self._sampler.probabilities is not None
        if np.all(self._sampler.probabilities[self._playing] > 0):
            return
        # What stable-baselines3 itself does when it begins with fresh environments.
        self.model._last_obs = self._environment.reset()
        if hasattr(self.model, "_last_episode_starts"):
            self.model._last_episode_starts = np.ones(self.training_env.num_envs, dtype=bool)
        self._began(range(self.training_env.num_envs))

    def _on_step(self) -> bool:
        ended = [index for index, info in enumerate(self.locals["infos"]) if "episode" in info]
        if ended:
            size = self._environment.environment.specification.observation_size
            for index in ended:
                info = self.locals["infos"][index]
                objective = info["terminal_observation"][size : size + 3]
                self._curriculum.finished(self._playing[index], info["episode"]["r"], objective)
            self._began(ended)
        return True

    @property
    def _environment(self) -> BottleneckVecEnv:
        assert isinstance(self.training_env, BottleneckVecEnv)
        return self.training_env

    def _began(self, environments: range | list[int]) -> None:
        assert self._sampler.probabilities is not None
        episodes = self._environment.environment.episodes
        self._playing = [self._sampler.index_of(episode.scenario) for episode in episodes if episode is not None]
        probabilities = np.round(self._sampler.probabilities, _DIGITS).tolist()
        names = [self._sampler.documents[self._playing[index]]["name"] for index in environments]
        lines = [{"step": self.num_timesteps, "trace": name, "probabilities": probabilities} for name in names]
        append(self._path, "".join(json.dumps(line) + "\n" for line in lines).encode())
