"""Rewards of policies and controllers on the test networks of MOCC, under a hundred objectives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from weir_papers.mocc.landmarks import Weights, landmarks, weights_of
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.rewards import mocc_objectives
from weir_train.gym.vector import BottleneckVectorEnv
from weir_train.learning.reference_runs import reference_runs

# Evenly over the simplex, as the paper's hundred: 105 of them.
OBJECTIVES: Final[tuple[Weights, ...]] = tuple(weights_of(landmark) for landmark in landmarks(16))
SEED: Final = 1_000_003

# From observations (N, width) to actions (N, 1).
Act = Callable[[np.ndarray], np.ndarray]


class Testbed:
    """Test networks, with one environment each.

    Args:
        settings: of the environment.
        files: the networks, all of one duration.
        simulator: path of `weir-sim`; see `find_simulator`.
    """

    def __init__(
        self, settings: TrainingConfiguration, files: Sequence[Path], simulator: str | os.PathLike[str] | None = None
    ) -> None:
        environment = settings.environment
        self._documents = [Scenario.load(file).to_dict() for file in files]
        self._drawn = 0
        self._interval_ms, self._simulator = environment.interval_ms, simulator
        self._environment = BottleneckVectorEnv(len(files), self._next, simulator=simulator, **environment.arguments())
        # The first interval comes before the first decision, and the last would start the next episode.
        self._steps = int(self._documents[0]["duration_s"] * 1000 / environment.interval_ms) - 2

    def measures(self, act: Act, objective: Weights) -> np.ndarray:
        """The means of MOCC's three measures (Eq. 2) on each network, (networks, 3), where the policy receives the
        objective.
        """
        self._drawn = 0
        observations, _ = self._environment.reset(seed=SEED, options={"objective": objective})
        total = np.zeros((self._environment.num_envs, 3))
        for _ in range(self._steps):
            observations, *_, infos = self._environment.step(act(observations))
            total += infos["objectives"]
        return total / self._steps

    def rewards(self, act: Act, objectives: Sequence[Weights] = OBJECTIVES) -> np.ndarray:
        """The mean reward under each objective on each network, (objectives, networks)."""
        return np.stack([self.measures(act, objective) @ np.array(objective) for objective in objectives])

    def rewards_of_controllers(self, controllers: Sequence[str]) -> dict[str, np.ndarray]:
        """The same of controllers that have no objective, by name; their networks run once."""
        runs = reference_runs(
            self._documents, controllers, seed=SEED, interval_ms=self._interval_ms, simulator=self._simulator
        )
        return {
            name: np.array(OBJECTIVES) @ np.stack([mocc_objectives(record).mean(axis=0) for record in records]).T
            for name, records in runs.items()
        }

    def close(self) -> None:
        """Ends the simulator processes."""
        self._environment.close()

    def _next(self, seed: int) -> dict[str, Any]:
        """The network of the environment that starts: they start in order."""
        self._drawn += 1
        return self._documents[(self._drawn - 1) % len(self._documents)]
