"""`BottleneckVectorEnv` as a stable-baselines3 `VecEnv`: a thin adapter without further processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from weir_train.gym.vector import BottleneckVectorEnv


class BottleneckVecEnv(VecEnv):
    """A vector environment for stable-baselines3.

    `infos` are empty dictionaries except at an episode's end, where they hold `terminal_observation`,
    `TimeLimit.truncated` and `episode` (mean reward `r`, length `l`, mean `objectives`, as in stable-baselines3's
    Monitor); `latest` is the `info` of the vector environment.
    """

    def __init__(self, environment: BottleneckVectorEnv) -> None:
        self.environment = environment  # first: the base class reads its render mode
        super().__init__(environment.num_envs, environment.single_observation_space, environment.single_action_space)
        self.latest: dict[str, Any] = {}
        self._actions = np.zeros((environment.num_envs, 1), dtype=np.float32)
        self._returns = np.zeros(environment.num_envs)
        self._objectives = np.zeros((environment.num_envs, 3))
        self._lengths = np.zeros(environment.num_envs, dtype=np.int64)
        self._nothing: list[dict[str, Any]] = [{} for _ in range(environment.num_envs)]

    def reset(self) -> np.ndarray:
        """Starts an episode in all environments."""
        seed = None if self._seeds[0] is None else [int(value) for value in self._seeds if value is not None]
        observations, _ = self.environment.reset(seed=seed)
        self._returns[:] = 0
        self._objectives[:] = 0
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Stores the actions; `step_wait` steps all environments together."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Runs one interval in all environments."""
        observations, rewards, _, done, latest = self.environment.step(self._actions)
        self.latest = latest
        self._returns += rewards
        self._objectives += latest["objectives"]
        self._lengths += 1
        infos = self._nothing
        if done.any():
            infos = [{} for _ in range(self.num_envs)]
            for index in np.flatnonzero(done):
                length = int(self._lengths[index])
                infos[index] = {
                    "terminal_observation": latest["final_obs"][index],
                    "TimeLimit.truncated": True,
                    "episode": {
                        "r": float(self._returns[index]) / length,
                        "l": length,
                        "objectives": self._objectives[index] / length,
                    },
                }
                self._returns[index] = 0
                self._objectives[index] = 0
                self._lengths[index] = 0
        return observations, rewards.astype(np.float32), done, infos

    def state(self) -> dict[str, np.ndarray]:
        """Returns the state in the middle of episodes, for `restore`."""
        return self.environment.state() | {name: sums.copy() for name, sums in self._sums().items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues the episodes of `state`. Raises as `BottleneckVectorEnv.restore`."""
        for name, sums in self._sums().items():
            sums[:] = state[name]
        self.environment.restore(state)
        # Seeds are for the next reset, which is not needed.
        self._reset_seeds()

    def _sums(self) -> dict[str, np.ndarray]:
        """Returns the sums over the steps of the running episodes, by name."""
        return {"returns": self._returns, "objectives": self._objectives, "steps": self._lengths}

    def close(self) -> None:
        """Ends the simulator processes."""
        self.environment.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Returns the vector environment's attribute once per index."""
        value = getattr(self.environment, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Sets an attribute of the vector environment (all environments share it)."""
        setattr(self.environment, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Calls a method of the vector environment once, and returns its result for every index."""
        value = getattr(self.environment, method_name)(*method_args, **method_kwargs)
        return [value for _ in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """Returns False: no environment is wrapped."""
        return [False for _ in self._get_indices(indices)]
