"""A linear critic, and off-policy evaluation with it: fitted Q evaluation by least squares (LSTD-Q).

Q(s, d) = w . [x(s), d x(s), d^2] + c, where d is how far an action is from that of the starting policy, and x(s) are
scaled features. c is of the block of a call: a path that carries much has high rates and high rewards, and without it
higher rates would seem to be the cause. The fixed point is solved for at once, for many resamples of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from weir.trainer.gym.scaling import scaled_observations
from weir.trainer.gym.specification import EnvironmentSpecification

GAMMA: Final = 0.95
# Resamples are of blocks of so many decisions, which depend on each other more than blocks do.
BLOCK: Final = 50
_RIDGE: Final = 1e-4


@dataclass(frozen=True)
class Steps:
    """Transitions of a block, N: `features` and `next_features` (N, X), `deviations` of the recorded actions (N,),
    `rewards` (N,).
    """

    features: np.ndarray
    deviations: np.ndarray
    rewards: np.ndarray
    next_features: np.ndarray


@dataclass(frozen=True)
class Estimate:
    """A difference of the mean reward of an interval, with the interval that has 95 % of the resamples."""

    difference: float
    low: float
    high: float


def state_features(specification: EnvironmentSpecification, observations: np.ndarray) -> np.ndarray:
    """x(s), (N, X): 1, the newest interval, the mean of the history, the path, the rule's rate, and the objective."""
    scaled = scaled_observations(specification, observations)
    records = specification.records(scaled)
    rest = scaled[:, records.shape[1] * records.shape[2] :]
    return np.column_stack([np.ones(len(scaled)), records[:, 0], records.mean(axis=1), rest]).astype(np.float64)


def state_action_features(features: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """(N, 2 X + 1), see the module."""
    deviations = deviations[:, None]
    return np.concatenate([features, deviations * features, deviations**2], axis=1)


def blocks(values: np.ndarray) -> list[np.ndarray]:
    """Splits an array of a call's decisions, (N, ...), into blocks."""
    return np.array_split(values, max(1, round(len(values) / BLOCK)))


class Equations:
    """The equations whose solution are the weights of Q, as sums over each block: a resample needs no pass over the
    data.

    Args:
        steps_of: the blocks.
        next_deviations: of the policy in the next states, (N,) of each block.
        gamma: discount.
    """

    def __init__(self, steps_of: Sequence[Steps], next_deviations: Sequence[np.ndarray], gamma: float = GAMMA) -> None:
        size = 2 * steps_of[0].features.shape[1] + 1
        self.counts = np.array([len(steps.rewards) for steps in steps_of])
        self._gamma = gamma
        self._matrices = np.zeros((len(steps_of), size, size))
        self._vectors = np.zeros((len(steps_of), size))
        self._changes = np.zeros((len(steps_of), size))
        self._rewards = np.array([steps.rewards.sum() for steps in steps_of])
        for index, (steps, after) in enumerate(zip(steps_of, next_deviations, strict=True)):
            now = state_action_features(steps.features, steps.deviations)
            change = now - gamma * state_action_features(steps.next_features, after)
            self._matrices[index] = now.T @ (change - change.mean(axis=0))
            self._vectors[index] = now.T @ (steps.rewards - steps.rewards.mean())
            self._changes[index] = change.sum(axis=0)

    def solved(self, times: np.ndarray) -> np.ndarray:
        """The weights of Q when each block counts so many times."""
        ridge = _RIDGE * float(times @ self.counts) * np.eye(self._vectors.shape[1])
        return np.linalg.solve(np.tensordot(times, self._matrices, 1) + ridge, times @ self._vectors)

    def value(self, times: np.ndarray, taken: np.ndarray) -> float:
        """The mean value of states, as a reward of an interval; `taken`: sums over each block of the features of states
        and the policy's actions.
        """
        weights = self.solved(times)
        levels = self._rewards - self._changes @ weights
        return float(times @ ((1.0 - self._gamma) * taken @ weights + levels) / (times @ self.counts))


def advantages(weights: np.ndarray, features: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Q(s, d) - Q(s, 0), (N,)."""
    size = features.shape[1]
    return deviations * (features @ weights[size : 2 * size]) + deviations**2 * weights[-1]


def resampled(count: int, generator: np.random.Generator) -> np.ndarray:
    """How often each of `count` blocks is among as many that are drawn with replacement."""
    return np.bincount(generator.integers(count, size=count), minlength=count).astype(np.float64)


def evaluate(
    steps_of: Sequence[Steps],
    deviations: Sequence[np.ndarray],
    next_deviations: Sequence[np.ndarray],
    *,
    resamples: int = 500,
    seed: int = 1,
    gamma: float = GAMMA,
) -> Estimate:
    """Estimates what a policy gains over the starting policy in the states of recorded calls.

    It cannot see: what lies beyond linear features of one interval and the mean of the history; states that the new
    policy would lead to and the recorded calls did not; a sender or path that differs from theirs; and anything that
    viewers notice and the reward does not have.

    Args:
        steps_of: the blocks of calls that the policy did not learn from.
        deviations: of the policy in the states, (N,) of each block.
        next_deviations: in the next states.
        resamples: of the blocks, for the interval.
        seed: of the resamples.
        gamma: discount.
    """
    none = [np.zeros(len(steps.rewards)) for steps in steps_of]
    new, old = Equations(steps_of, next_deviations, gamma), Equations(steps_of, none, gamma)
    taken, own = (
        np.array(
            [state_action_features(steps.features, by).sum(axis=0) for steps, by in zip(steps_of, some, strict=True)]
        )
        for some in (deviations, none)
    )

    def difference(times: np.ndarray) -> float:
        return new.value(times, taken) - old.value(times, own)

    generator = np.random.default_rng(seed)
    drawn = [difference(resampled(len(steps_of), generator)) for _ in range(resamples)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(difference(np.ones(len(steps_of))), float(low), float(high))
