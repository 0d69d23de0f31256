"""A runner: one process that drives a vector environment with the policy it is given."""

from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np
import torch
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env.env_runner import EnvRunner

from weir_papers.mvfst.impala.configuration import ImpalaConfiguration
from weir_papers.mvfst.impala.fragment import Fragment
from weir_papers.mvfst.impala.module import PolicyModule, module_specification
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.algorithms import make_environment

_NICENESS = 10


class Runner(EnvRunner):
    """An RLlib runner of `configuration.environment.environments` environments, which go on from fragment to fragment.

    The environment starts with the first fragment, so that its faults are answers to a request.
    """

    def __init__(
        self,
        *,
        config: AlgorithmConfig,
        worker_index: int,
        configuration: ImpalaConfiguration,
        sampler: ScenarioSampler,
        objective: ObjectiveSource | None,
    ) -> None:
        super().__init__(config=config, worker_index=worker_index)
        self._configuration = configuration
        self._sampler = sampler
        self._objective = objective
        self._observations: Any = None
        torch.set_num_threads(1)
        # All runners wait for the learner, which may share a core with some.
        os.nice(_NICENESS)
        self.make_module()

    def make_module(self) -> None:
        """Makes the policy, without parameters of its own."""
        module = module_specification(self._configuration).build()
        assert isinstance(module, PolicyModule)
        self.module = module

    def make_env(self) -> None:
        """Starts the simulators."""
        self.env: BottleneckVecEnv | None = make_environment(
            self._configuration, sampler=self._sampler, objective=self._objective
        )

    def sample(self, *, parameters: dict[str, torch.Tensor], update: int, **kwargs: Any) -> Fragment:
        """The next fragment, acted by the policy of these parameters, which the learner had after `update` updates.

        Raises:
            ComponentFailed: a simulator failed.
            MissingComponent: there is no `weir-sim` on this machine.
        """
        self.module.policy.load_state_dict(parameters)
        if self.env is None:
            self._start(update)
        assert self.env is not None
        count, steps = self.env.num_envs, self._configuration.impala.steps_per_fragment
        observations = np.empty((count, steps + 1, self._observations.shape[1]), dtype=np.float32)
        actions, log_probabilities, rewards = (np.empty((count, steps), dtype=np.float32) for _ in range(3))
        terminated, truncated = (np.zeros((count, steps), dtype=np.bool_) for _ in range(2))
        final: dict[tuple[int, int], np.ndarray] = {}
        episodes: list[dict[str, Any]] = []
        for step in range(steps):
            observations[:, step] = self._observations
            answer = self.module.forward_exploration({Columns.OBS: torch.from_numpy(self._observations)})
            actions[:, step] = answer[Columns.ACTIONS].numpy()[:, 0]
            log_probabilities[:, step] = answer[Columns.ACTION_LOGP].numpy()
            self._observations, rewards[:, step], done, infos = self.env.step(actions[:, step, None].clip(-1.0, 1.0))
            for index in np.flatnonzero(done):
                info = infos[index]
                episodes.append(info["episode"])
                if info["TimeLimit.truncated"]:
                    truncated[index, step] = True
                    final[int(index), step] = info["terminal_observation"]
                else:
                    terminated[index, step] = True
        observations[:, steps] = self._observations
        return Fragment(
            observations,
            actions,
            log_probabilities,
            rewards,
            terminated,
            truncated,
            np.array([final[place] for place in sorted(final)], dtype=np.float32),
            episodes,
            update,
        )

    def _start(self, update: int) -> None:
        """A runner that replaces a lost one, and one of a resumed run, draw other scenarios and actions."""
        words = np.random.SeedSequence([self._configuration.seed, self.worker_index, update]).generate_state(2)
        self._configuration = self._configuration.model_copy(update={"seed": int(words[0] >> 1)})
        torch.manual_seed(int(words[1]))
        self.make_env()
        assert self.env is not None
        self._observations = self.env.reset()

    def get_spaces(self) -> dict[str, tuple[gymnasium.Space[Any], gymnasium.Space[Any]]]:
        """The spaces of the only module."""
        return {DEFAULT_MODULE_ID: (self.module.observation_space, self.module.action_space)}

    def assert_healthy(self) -> None:
        """Checks that there is a policy."""
        assert self.module is not None

    def stop(self) -> None:
        """Ends the simulators."""
        if self.env is not None:
            self.env.close()
