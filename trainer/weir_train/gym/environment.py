"""The Gymnasium environment `weir/Bottleneck-v0`: one bottleneck, one agent that answers with a target rate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from weir_cli.errors import InputError
from weir_sim.objectives import checked_objective
from weir_train.gym.episode import EpisodeSource
from weir_train.gym.pool import SimulatorPool
from weir_train.gym.rewards import Reward, mocc_objectives, resolve_reward
from weir_train.gym.specification import EnvironmentSpecification, ObjectiveSource, ScenarioSource
from weir_train.gym.step import StepRecord

DEFAULT = EnvironmentSpecification()


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
        """
        Args:
            scenario: see `EpisodeSource`.
            specification: interval, features, history, action and whatever else is the same in all episodes.
            objective: see `EpisodeSource`.
            reward: a name in `weir_train.gym.rewards.REWARDS` that the stack supports, or a function like them.
            simulator: path of `weir-sim`; see `find_simulator`.
            timeout_s: time limit for an answer of the simulator.
            render_mode: None; the environment does not render.

        Raises:
            InputError: a value is out of range or unknown.
        """
        if render_mode is not None:
            raise InputError(f"render_mode {render_mode!r}: this environment does not render")
        self.render_mode = None
        self._episodes = EpisodeSource(scenario, objective)
        self._reward = resolve_reward(reward, specification.stack)
        self._pool = SimulatorPool(1, specification, simulator, timeout_s)
        self.observation_space, self.action_space = specification.spaces()

    @property
    def specification(self) -> EnvironmentSpecification:
        """The argument of the constructor."""
        return self._pool.specification

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
        episode = self._episodes.draw(self.np_random, options)
        self._pool.reset({0: episode})
        info = {
            "scenario": episode.scenario.get("name"),
            "seed": episode.seed,
            "objective": np.array(episode.objective),
        }
        return self._pool.observations[0].copy(), info

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Runs one interval under `action`, shape (1,), clipped to [-1, 1].

        Raises:
            ComponentFailed: the simulator failed, or there is no episode.
        """
        self._pool.step(np.asarray(action))
        values = self._pool.steps[0].copy()
        record = StepRecord(values)
        objective = self._pool.objectives[0].astype(np.float64)
        info: dict[str, Any] = dict(zip(self.specification.step_fields, values.tolist(), strict=True))
        info["objectives"] = mocc_objectives(record)
        return (
            self._pool.observations[0].copy(),
            float(self._reward(record, objective)),
            False,
            bool(self._pool.flags[0]),
            info,
        )

    def set_objective(self, objective: str | Sequence[float]) -> None:
        """Changes the objective during the episode, from the next step on, as an application may during a call."""
        self._pool.objectives[0] = checked_objective(objective)

    def close(self) -> None:
        """Ends the simulator process."""
        self._pool.close()
