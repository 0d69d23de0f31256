"""Many environments at once, one simulator process each, as a `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from weir_cli.errors import InputError
from weir_sim.objectives import checked_objective
from weir_train.gym.environment import DEFAULT
from weir_train.gym.episode import Episode, EpisodeSource
from weir_train.gym.pool import SimulatorPool
from weir_train.gym.rewards import Reward, mocc_objectives, resolve_reward
from weir_train.gym.specification import EnvironmentSpecification, ObjectiveSource, ScenarioSource
from weir_train.gym.step import StepRecord


class BottleneckVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`BottleneckEnv` N times: environment i, with seed s + i, behaves like a single one with that seed.

    All actions are sent before any reply is read. When an episode ends, the next begins in the same step
    (`AutoresetMode.SAME_STEP`), while the other environments still run; `info["final_obs"]` then holds its last
    observation.

    `info` of a step: every step field and `objectives` as arrays, with gymnasium's `_name` masks; the next step
    overwrites them.
    """

    # gymnasium annotates this class attribute as an instance attribute.
    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # type: ignore[misc]

    def __init__(
        self,
        num_envs: int | None = None,
        scenario: ScenarioSource | None = None,
        specification: EnvironmentSpecification = DEFAULT,
        *,
        objective: ObjectiveSource = "balanced",
        reward: str | Reward = "mocc",
        simulator: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
        render_mode: None = None,
    ) -> None:
        """Like `BottleneckEnv`, with `num_envs` environments (None: one per core)."""
        if render_mode is not None:
            raise InputError(f"render_mode {render_mode!r}: this environment does not render")
        self.num_envs = num_envs or len(os.sched_getaffinity(0))
        if self.num_envs < 1:
            raise InputError(f"num_envs {num_envs}: at least 1")
        self.render_mode = None
        self._episodes = EpisodeSource(scenario, objective)
        self._reward = resolve_reward(reward, specification.stack)
        self._pool = SimulatorPool(self.num_envs, specification, simulator, timeout_s)
        self._generators = [seeding.np_random()[0] for _ in range(self.num_envs)]
        self._current: list[Episode | None] = [None] * self.num_envs
        self._all = np.ones(self.num_envs, dtype=np.bool_)
        # The record of the latest step and its part of `info`: views of arrays that the pool overwrites in each step.
        self._record = StepRecord(self._pool.steps)
        self._columns: dict[str, np.ndarray] = {"_objectives": self._all}
        for name in specification.step_fields:
            self._columns |= {name: getattr(self._record, name), "_" + name: self._all}
        self.single_observation_space, self.single_action_space = specification.spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    @property
    def specification(self) -> EnvironmentSpecification:
        """The argument of the constructor."""
        return self._pool.specification

    @property
    def episodes(self) -> list[Episode | None]:
        """The current episode of each environment."""
        return list(self._current)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode in every environment.

        Args:
            seed: environment i draws with seed + i; or one seed each.
            options: as in `BottleneckEnv.reset`, for these episodes.
        """
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int | np.integer) else list(seed)
            if len(seeds) != self.num_envs:
                raise InputError(f"{len(seeds)} seeds for {self.num_envs} environments")
            for index, value in enumerate(seeds):
                if value is not None:
                    self._generators[index] = seeding.np_random(int(value))[0]
        self._pool.reset({index: self._draw(index, options) for index in range(self.num_envs)})
        return self._pool.observations.copy(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Runs one interval in every environment; `actions` has shape (num_envs, 1) and is clipped to [-1, 1].

        Raises:
            ComponentFailed: a simulator failed; all environments must be reset.
        """
        pool, record = self._pool, self._record
        objectives = pool.objectives.astype(np.float64)
        ended = pool.step(np.asarray(actions), self._draw)
        record.mocc_measures = None
        rewards = np.asarray(self._reward(record, objectives), dtype=np.float64)
        infos: dict[str, Any] = self._columns | {"objectives": mocc_objectives(record)}
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        if ended:
            truncated[ended] = True
            final = np.full(self.num_envs, None, dtype=object)
            for index in ended:
                final[index] = pool.final_observations[index].copy()
            infos |= {"final_obs": final, "_final_obs": truncated}
        return pool.observations.copy(), rewards, terminated, truncated, infos

    def set_objectives(self, objectives: np.ndarray) -> None:
        """Changes the objective of each environment, shape (num_envs, 3), during the episodes, from the next step on;
        earlier observations still have the old one.
        """
        self._pool.objectives[:] = [checked_objective(objective.tolist()) for objective in objectives]

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the simulator processes."""
        self._pool.close()

    def _draw(self, index: int, options: Mapping[str, Any] | None = None) -> Episode:
        episode = self._episodes.draw(self._generators[index], options)
        self._current[index] = episode
        return episode
