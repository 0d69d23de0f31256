"""MOCC's landmark objectives and their order (section 4.2, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field, PositiveInt, model_validator

from weir.trainer.learning.settings import Settings

Weights = tuple[float, float, float]
# Weights as multiples of the step: exact, where sums of tenths are not.
Landmark = tuple[int, int, int]

_NEIGHBOURS = ((1, -1, 0), (1, 0, -1), (0, 1, -1), (0, -1, 1), (-1, 0, 1), (-1, 1, 0))


class LandmarkSettings(Settings):
    """The table `landmarks`, for `objective = "landmarks"`.

    The landmarks are all objectives whose weights are positive multiples of `step`: 36 for 0.1, as in MOCC's Table 2.
    First come the `bootstrap` objectives, in turn, for `bootstrap_share` of all steps. The rest is `visits` rounds over
    all landmarks, in the order of the neighbourhood sort.
    """

    step: float = Field(0.1, ge=0.02, le=1.0 / 3.0 + 1e-9)
    bootstrap: tuple[Weights, ...] = Field(((0.6, 0.3, 0.1), (0.1, 0.6, 0.3), (0.3, 0.1, 0.6)), min_length=1)
    bootstrap_share: float = Field(0.2, ge=0.0, le=1.0)
    visits: PositiveInt = 10

    @model_validator(mode="after")
    def _on_the_grid(self) -> LandmarkSettings:
        if abs(self.divisions * self.step - 1.0) > 1e-6:
            raise ValueError(f"step {self.step:g}: must divide 1, as 0.1 or 0.05 do")
        known = set(landmarks(self.divisions))
        for weights in self.bootstrap:
            units = tuple(round(weight * self.divisions) for weight in weights)
            exact = all(abs(unit / self.divisions - weight) < 1e-6 for unit, weight in zip(units, weights, strict=True))
            if not exact or units not in known:
                raise ValueError(
                    f"bootstrap {list(weights)}: is no landmark: three positive multiples of {self.step:g} of sum 1"
                )
        if len(set(self.bootstrap)) != len(self.bootstrap):
            raise ValueError("bootstrap: an objective is there twice")
        return self

    @property
    def divisions(self) -> int:
        """How many steps make 1."""
        return round(1.0 / self.step)

    @property
    def bootstrap_landmarks(self) -> tuple[Landmark, ...]:
        """`bootstrap` in multiples of the step."""
        first, second, third = zip(*self.bootstrap, strict=True)
        return tuple(
            (round(a * self.divisions), round(b * self.divisions), round(c * self.divisions))
            for a, b, c in zip(first, second, third, strict=True)
        )


def landmarks(divisions: int) -> list[Landmark]:
    """All (i, j, k) of positive integers with the sum `divisions`, in lexicographic order: (n - 1)(n - 2) / 2 of them.

    Weights of 0 are left out: such objectives make no sense for any application (MOCC, section 4.2).
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
