"""Flows that trees learn from: run by the teacher, or by trees while the teacher labels each decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from weir_papers.imitation.teachers import Teacher
from weir_papers.muses.mixture import Mixture, no_state
from weir_papers.muses.tree_inputs import TreeInputs
from weir_sim.controllers import PRESETS
from weir_train.gym.episode import Episode, random_objective
from weir_train.gym.vector import BottleneckVectorEnv

# The scenario document of a seed.
Paths = Callable[[int], dict[str, Any]]

_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Flows:
    """Inputs and actions on an even number N of flows of as many intervals each. Flows 2i and 2i + 1 are on the same
    path with the same seed, the first under `balanced`, the other under a random objective.

    `inputs`: float32 (N, intervals, inputs), see `TreeInputs`. `actions`: float32 (N, intervals), the teacher's, the
    exponent of the rule's rate in [-1, 1]. `paths`: the scenarios' names.
    """

    inputs: np.ndarray
    actions: np.ndarray
    paths: tuple[str, ...]

    @classmethod
    def joined(cls, parts: Sequence[Flows]) -> Flows:
        """All flows of all parts, in order."""
        return cls(
            np.concatenate([part.inputs for part in parts]),
            np.concatenate([part.actions for part in parts]),
            tuple(path for part in parts for path in part.paths),
        )


def roll_out(
    teacher: Teacher,
    inputs: TreeInputs,
    paths: Paths,
    flows: int,
    duration_s: float,
    *,
    seed: int,
    environments: int = 64,
    mixture: Mixture | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Flows:
    """Runs flows of `duration_s` each, counted by decisions, and records them; the same arguments give the same flows.
    The teacher labels each interval, and decides where `mixture` is None; it is not the oracle, which has no answer at
    first. `flows` is rounded up to whole batches of `environments`, which is even.

    Raises:
        ComponentFailed: a simulator failed.
    """
    specification = inputs.specification
    generator = np.random.default_rng(seed)
    steps = round(duration_s * 1000 / specification.interval_ms)
    # The first decision comes after an interval, and none comes in an interval that the sender left empty.
    episode_s = 2 * duration_s + specification.interval_ms / 1000
    unknown_bps = np.full(environments, np.nan)
    parts: list[Flows] = []
    vector = BottleneckVectorEnv(
        environments, specification=specification, timeout_s=_TIMEOUT_S, autoreset_mode=AutoresetMode.DISABLED
    )
    with closing(vector):
        for first in range(0, flows, environments):
            episodes = _episodes(paths, generator, environments, episode_s)
            observations = vector.start(episodes)
            teacher.forget(np.arange(environments))
            state = no_state(environments)
            seen = np.empty((environments, steps, len(inputs.names)), dtype=np.float32)
            actions = np.empty((environments, steps), dtype=np.float32)
            for step in range(steps):
                seen[:, step] = inputs.of(observations)
                actions[:, step] = teacher(observations, unknown_bps)
                decided = actions[:, step]
                if mixture is not None:
                    decided, state = mixture.decide(seen[:, step], state)
                observations = vector.step(decided)[0]
            parts.append(Flows(seen, actions, tuple(str(episode.scenario["name"]) for episode in episodes)))
            if on_progress is not None:
                on_progress(first + environments)
    return Flows.joined(parts)


def windows(flows: np.ndarray, samples: int) -> np.ndarray:
    """(flows, intervals, ...) cut into (windows, samples, ...), in order, without a rest that is no whole window."""
    whole = flows.shape[1] // samples * samples
    return flows[:, :whole].reshape(-1, samples, *flows.shape[2:])


def twins(values: np.ndarray, flows: int) -> np.ndarray:
    """For each window of `flows` flows the value of its path's window under `balanced`."""
    by_flow = values.reshape(flows, -1, *values.shape[1:])
    return np.repeat(by_flow[::2], 2, axis=0).reshape(values.shape)


def _episodes(paths: Paths, generator: np.random.Generator, count: int, duration_s: float) -> list[Episode]:
    episodes = []
    for _ in range(count // 2):
        path, seed = paths(int(generator.integers(2**31))), int(generator.integers(2**31))
        path = path | {"duration_s": duration_s}
        episodes += [Episode(path, seed, PRESETS["balanced"]), Episode(path, seed, random_objective(generator))]
    return episodes
