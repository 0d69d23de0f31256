"""The order in which training visits MOCC's landmark objectives (section 4.2, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from weir.trainer.configuration.landmarks import Landmark, LandmarkSettings, Weights, landmarks

_NEIGHBOURS = ((1, -1, 0), (1, 0, -1), (0, 1, -1), (0, -1, 1), (-1, 0, 1), (-1, 1, 0))


def neighbours(landmark: Landmark) -> list[Landmark]:
    """Those that differ by one step in two weights (on the edge of the simplex also such as are no landmarks)."""
    i, j, k = landmark
    return [(i + a, j + b, k + c) for a, b, c in _NEIGHBOURS]


def sort_by_neighbourhood(vertices: Sequence[Landmark], bootstrap: Sequence[Landmark]) -> list[Landmark]:
    """MOCC's Algorithm 1: every vertex once, each bootstrapped one followed by its share of those nearest to it.

    As published: from each bootstrapped vertex in turn, Dijkstra's algorithm takes the nearest vertices not yet visited
    until ceil(|V| / |O|) are; distances do not lead through vertices that an earlier search took. Of several equally
    near, or when none is in reach, the first in `vertices` is taken, which the paper leaves open.

    Args:
        vertices: all landmarks.
        bootstrap: some of them.
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


class LandmarkSchedule:
    """Which landmark is trained when; a function of the steps done, so that a resumed run goes on in it.

    Also an objective source for the environment: the landmark in force, which `LandmarkObjectives` sets; while none is,
    any of them.
    """

    def __init__(self, settings: LandmarkSettings, steps: int) -> None:
        """
        Args:
            settings: the table.
            steps: of the whole training.
        """
        divisions = settings.divisions
        order = sort_by_neighbourhood(landmarks(divisions), settings.bootstrap_landmarks)
        self.order: list[Weights] = [(i / divisions, j / divisions, k / divisions) for i, j, k in order]
        self.bootstrap = settings.bootstrap
        self.bootstrap_steps = settings.bootstrap_share * steps
        self.visit_steps = (steps - self.bootstrap_steps) / (settings.visits * len(order))
        # Without a traversal the bootstrapped objectives are visited as often as the landmarks would be.
        self.bootstrap_visit_steps = self.visit_steps or steps / (settings.visits * len(self.bootstrap))
        self.current: Weights | None = None

    def at(self, step: int) -> Weights:
        """The landmark that is trained after `step` steps."""
        if step < self.bootstrap_steps:
            return self.bootstrap[int(step / self.bootstrap_visit_steps) % len(self.bootstrap)]
        if self.visit_steps == 0:
            return self.bootstrap[-1]
        # A little more than the quotient: a visit's first step belongs to it, whatever the rounding.
        return self.order[int((step - self.bootstrap_steps) / self.visit_steps + 1e-9) % len(self.order)]

    def __call__(self, generator: np.random.Generator) -> Weights:
        """The objective of an episode that begins."""
        return self.current or self.order[int(generator.integers(len(self.order)))]
