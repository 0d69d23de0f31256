"""Flows under a teacher, or under trees while the teacher says what it would have done: what trees learn from."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from weir import Policy
from weir.errors import InputError
from weir.registry import PRESETS
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.gym.episode import Episode, random_objective
from weir.trainer.gym.pool import SimulatorPool
from weir.trainer.gym.rule import rate_window, rule_rate_bps
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.muses.inputs import TreeInputs

_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Flows:
    """What was seen on an even number N of flows of as many intervals each. Flows 2i and 2i + 1 are on the same path
    with the same seed, the first under `balanced`, the other under a random objective.

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


class Pilot(Protocol):
    """Whoever decides for many flows at once."""

    def reset(self, flows: int) -> None:
        """So many flows begin."""

    def decide(self, inputs: np.ndarray) -> np.ndarray:
        """Actions (N,) in [-1, 1] for inputs (N, inputs), one interval after the last."""


def roll_out(
    teacher: bytes,
    inputs: TreeInputs,
    sampler: ScenarioSampler,
    flows: int,
    *,
    seed: int,
    environments: int = 64,
    pilot: Pilot | None = None,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Flows:
    """Flies and remembers; the same arguments give the same flows.

    Args:
        teacher: a model file whose features, history, interval and action are those of `inputs`.
        inputs: what is remembered.
        sampler: gives the paths, all of the same duration.
        flows: how many; rounded up to whole batches.
        seed: of paths and objectives.
        environments: how many fly at once, a simulator process each; even.
        pilot: who decides; None: the teacher itself.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called with the number of flows done.

    Raises:
        InputError: the teacher's action is no rate, or it refuses an observation.
        SimulatorError: a simulator failed.
    """
    specification = inputs.specification
    size = specification.observation_size
    policies = [Policy(teacher) for _ in range(environments)]
    if policies[0].description["action_kind"] != "rate_bps":
        raise InputError("the teacher's action is no rate in bps: give a model that acts around the rule")
    generator = np.random.default_rng(seed)
    steps = round(sampler.settings.minimum_duration_s * 1000 / specification.interval_ms)
    parts: list[Flows] = []
    with closing(SimulatorPool(environments, specification, simulator, _TIMEOUT_S)) as pool:
        for first in range(0, flows, environments):
            episodes = _episodes(sampler, generator, environments)
            pool.reset(dict(enumerate(episodes)))
            for policy in policies:
                policy.reset_state()
            if pilot is not None:
                pilot.reset(environments)
            seen = np.empty((environments, steps, len(inputs.names)), dtype=np.float32)
            actions = np.empty((environments, steps), dtype=np.float32)
            for step in range(steps):
                observations = pool.observations
                seen[:, step] = inputs.of(observations)
                rates = np.array(
                    [
                        policy.run(observation[:size], episode.objective)[0]
                        for policy, observation, episode in zip(policies, observations, episodes, strict=True)
                    ]
                )
                actions[:, step] = _exponents(specification, rates, observations)
                pool.step(actions[:, step] if pilot is None else pilot.decide(seen[:, step]))
            parts.append(Flows(seen, actions, tuple(str(episode.scenario["name"]) for episode in episodes)))
            if on_progress is not None:
                on_progress(first + environments)
    return Flows.joined(parts)


def _episodes(sampler: ScenarioSampler, generator: np.random.Generator, count: int) -> list[Episode]:
    episodes = []
    for _ in range(count // 2):
        path, seed = sampler(int(generator.integers(2**31))), int(generator.integers(2**31))
        episodes += [Episode(path, seed, PRESETS["balanced"]), Episode(path, seed, random_objective(generator))]
    return episodes


def _exponents(specification: EnvironmentSpecification, rates: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Which actions in [-1, 1] around the rule give these rates, (N,)."""
    window = rate_window(specification.interval_ms, specification.history)
    base = rule_rate_bps(np, specification.records(observations), specification.interval_features, window)
    return np.clip(np.log(rates / np.maximum(base, 1.0)) / np.log(specification.action.span), -1.0, 1.0)
