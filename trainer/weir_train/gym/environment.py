"""The Gymnasium environment `weir/Bottleneck-v0`: one bottleneck, one agent that answers with a target rate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from weir_train.gym.rewards import Reward
from weir_train.gym.specification import EnvironmentSpecification, ObjectiveSource, ScenarioSource
from weir_train.gym.vector import DEFAULT, BottleneckVectorEnv


class BottleneckEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """The agent is the estimator of the scenario's first flow, at its receiver or its sender; a step is one decision
    interval of the estimator's time. At the sender that is the time of the arrivals, which feedback reports: the
    simulated time of a step varies, and is zero when late feedback completes several intervals at once.

    Observation: float32 of shape (width,), SI units: the features of each interval of the history, newest first, those
    of the path, the objective's three weights (and the privileged fields, if requested). Action: float32 of shape (1,)
    in [-1, 1], converted to a rate by the action specification. An episode is truncated after the scenario's duration;
    none terminates. The first observation, as in a call, is that of the first interval, which is at the start rate,
    with two intervals without packets before it.

    `info` of a step: every name of the specification's `step_fields` (`weir_train.gym.step`) as a float, and
    `objectives`, the three measures of MOCC Eq. 2 (float64 of shape (3,)). `info` of a reset: `scenario` (its name),
    `seed` and `objective`, which determine the episode together with the actions.
    """

    # gymnasium annotates this class attribute as an instance attribute.
    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self,
        scenario: ScenarioSource | None = None,
        specification: EnvironmentSpecification = DEFAULT,
        *,
        objective: ObjectiveSource = "balanced",
        reward: str | Reward = "mocc",
        simulator: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
        render_mode: None = None,
    ) -> None:
        """The arguments are those of `BottleneckVectorEnv`."""
        self._vector = BottleneckVectorEnv(
            1,
            scenario,
            specification,
            objective=objective,
            reward=reward,
            simulator=simulator,
            timeout_s=timeout_s,
            autoreset_mode=AutoresetMode.DISABLED,
            render_mode=render_mode,
        )
        self.render_mode = None
        self.specification = specification
        self.observation_space, self.action_space = specification.spaces()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: of the random draws of this and all later episodes.
            options: "scenario" and "objective" for this episode, each as the constructor takes it.

        Raises:
            InputError: an option is unknown, or its file cannot be read.
            ComponentFailed: the simulator failed; the next reset starts another.
            SimulatorRefusal: the simulator does not run this scenario.
        """
        super().reset(seed=seed)
        episode = self._vector.episode_source.draw(self.np_random, options)
        info = {
            "scenario": episode.scenario.get("name"),
            "seed": episode.seed,
            "objective": np.array(episode.objective),
        }
        return self._vector.start([episode])[0], info

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Runs one interval under `action`, shape (1,), clipped to [-1, 1].

        Raises:
            ComponentFailed: the simulator failed, or there is no episode.
        """
        observations, rewards, terminated, truncated, infos = self._vector.step(action)
        info: dict[str, Any] = {name: float(infos[name][0]) for name in self.specification.step_fields}
        info["objectives"] = infos["objectives"][0]
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def set_objective(self, objective: str | Sequence[float]) -> None:
        """Changes the objective during the episode, from the next step on, as an application may during a call."""
        self._vector.set_objectives([objective])

    def close(self) -> None:
        """Ends the simulator process."""
        self._vector.close_extras()
