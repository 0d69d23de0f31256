"""MOCC's landmark objectives (section 4.2): the order in which offline training visits them, and a callback for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from weir_train.gym.sb3 import BottleneckVecEnv

Weights = tuple[float, float, float]
# Weights as multiples of 1 / DIVISIONS: exact, where sums of tenths are not.
Landmark = tuple[int, int, int]

# Steps of 0.1 give 36 landmarks, as in MOCC's Table 2.
DIVISIONS: Final = 10
BOOTSTRAP: Final[tuple[Landmark, ...]] = ((6, 3, 1), (1, 6, 3), (3, 1, 6))
BOOTSTRAP_SHARE: Final = 0.2
_NEIGHBOURS: Final = ((1, -1, 0), (1, 0, -1), (0, 1, -1), (0, -1, 1), (-1, 0, 1), (-1, 1, 0))


def landmarks(divisions: int = DIVISIONS) -> list[Landmark]:
    """All (i, j, k) of positive integers with the sum `divisions`, in lexicographic order: (n - 1)(n - 2) / 2 of them.

    Weights of 0 are excluded: no application has such an objective (MOCC, section 4.2).
    """
    return [(i, j, divisions - i - j) for i in range(1, divisions - 1) for j in range(1, divisions - i)]


def neighbours(landmark: Landmark) -> list[Landmark]:
    """Those that differ by one step in two weights (on the edge of the simplex also such as are no landmarks)."""
    i, j, k = landmark
    return [(i + a, j + b, k + c) for a, b, c in _NEIGHBOURS]


def sort_by_neighbourhood(vertices: Sequence[Landmark], bootstrap: Sequence[Landmark]) -> list[Landmark]:
    """MOCC's Algorithm 1: every vertex once, each bootstrapped one followed by its share of those nearest to it.

    As published: from each bootstrapped vertex in turn, Dijkstra's algorithm takes the nearest vertices not yet visited
    until ceil(|V| / |O|) are; distances do not lead through vertices that an earlier search took. Of several equally
    near, or when none is in reach, the first in `vertices` is taken, which the paper leaves open.
    """
    order: list[Landmark] = []
    visited: set[Landmark] = set()
    for origin in bootstrap:
        adjacent = set(neighbours(origin))
        distance = {vertex: 1.0 if vertex in adjacent else math.inf for vertex in vertices}
        visits = math.ceil(len(vertices) / len(bootstrap))
        if origin not in visited:
            order.append(origin)
            visited.add(origin)
            visits -= 1
        while visits > 0 and len(order) < len(vertices):
            nearest = min((vertex for vertex in vertices if vertex not in visited), key=distance.__getitem__)
            order.append(nearest)
            visited.add(nearest)
            visits -= 1
            for vertex in neighbours(nearest):
                if vertex in distance and vertex not in visited:
                    distance[vertex] = min(distance[vertex], distance[nearest] + 1)
    return order


def weights_of(landmark: Landmark) -> Weights:
    """The objective of a landmark, whose numbers sum to its divisions."""
    i, j, k = landmark
    return i / sum(landmark), j / sum(landmark), k / sum(landmark)


def bootstrap_of(divisions: int) -> list[Landmark]:
    """The landmarks with these divisions that are nearest to the three bootstrapped objectives of the paper."""

    def distance(landmark: Landmark, origin: Landmark) -> float:
        return sum(abs(a - b) for a, b in zip(weights_of(landmark), weights_of(origin), strict=True))

    found = landmarks(divisions)
    nearest = (min(found, key=lambda landmark: distance(landmark, origin)) for origin in BOOTSTRAP)
    return list(dict.fromkeys(nearest))


class LandmarkSchedule:
    """The landmark of each step of a training: first the bootstrap objectives in turn for BOOTSTRAP_SHARE of the steps,
    then all landmarks in the order of the neighbourhood sort, round after round. A visit is as long as an update.

    It is also an objective source for environments: any landmark, which `LandmarkObjectives` replaces.
    """

    def __init__(
        self, steps: int, visit_steps: int, excluded: Sequence[Landmark] = (), divisions: int = DIVISIONS
    ) -> None:
        """
        Args:
            steps: of the whole training, of all environments together.
            visit_steps: of a visit.
            excluded: landmarks that are not visited.
            divisions: of the landmarks, from 4 on.
        """
        vertices = [landmark for landmark in landmarks(divisions) if landmark not in excluded]
        bootstrap = [landmark for landmark in bootstrap_of(divisions) if landmark not in excluded]
        self.bootstrap = [weights_of(landmark) for landmark in bootstrap]
        self.order = [weights_of(landmark) for landmark in sort_by_neighbourhood(vertices, bootstrap)]
        self.visit_steps = visit_steps
        self.bootstrap_visits = round(BOOTSTRAP_SHARE * steps / visit_steps)

    def at(self, step: int) -> Weights:
        """The landmark that is trained after `step` steps."""
        visit = step // self.visit_steps
        if visit < self.bootstrap_visits:
            return self.bootstrap[visit % len(self.bootstrap)]
        return self.order[(visit - self.bootstrap_visits) % len(self.order)]

    def __call__(self, generator: np.random.Generator) -> Weights:
        """The objective of an episode that begins."""
        return self.order[int(generator.integers(len(self.order)))]


class LandmarkObjectives(BaseCallback):
    """Sets the landmark of the schedule in all environments before the steps of every update, in the middle of
    episodes, as an application may change its objective in a call.
    """

    def __init__(self, schedule: LandmarkSchedule) -> None:
        super().__init__()
        self._schedule = schedule
        self._weights = np.empty((0, 3))

    def _on_rollout_start(self) -> None:
        landmark = self._schedule.at(self.num_timesteps)
        self._weights = np.tile(landmark, (self.training_env.num_envs, 1))
        # The next action answers this observation, which the learner keeps as a copy.
        self.model._last_obs = np.array(self.model._last_obs)
        self._set(self.model._last_obs)

    def _on_step(self) -> bool:
        # The next episode began with another objective.
        if self.locals["dones"].any():
            self._set(self.locals["new_obs"])
        return True

    def _set(self, observations: np.ndarray) -> None:
        environment = self.training_env
        assert isinstance(environment, BottleneckVecEnv)
        environment.environment.set_objectives(self._weights)
        size = environment.environment.specification.observation_size
        observations[:, size : size + 3] = self._weights
