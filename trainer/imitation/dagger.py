"""Dataset aggregation (Ross et al. 2011), as Muses trains its teacher (INFOCOM 2022, section II-C): the student acts, a
teacher tells what would have been right there, and the student learns from all it was ever told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.imitation.episodes import Episodes
from weir.trainer.imitation.teachers import Teacher
from weir.trainer.learning.algorithms import LinearSchedule
from weir.trainer.policies.recurrent import RecurrentPolicy

MOST_DECISIONS: Final = 600_000
EPISODES_PER_BATCH: Final = 32
STEPS_PER_WINDOW: Final = 100
BATCHES_PER_ITERATION: Final = 12
MOST_GRADIENT_NORM: Final = 1.0
LEARNING_RATE: Final = LinearSchedule(2e-3, 1e-4)

# Muses: learning is over when for 100 iterations the loss was within 5e-3 of the mean of the 10 before.
SETTLED_CHANGE: Final = 5e-3
SETTLED_BEFORE: Final = 10
SETTLED_ITERATIONS: Final = 100


@dataclass(frozen=True)
class ImitationProgress:
    """After an iteration: how many are done, the mean loss (see `RecurrentPolicy.loss`) and the mean reward a decision
    of the student while it acted.
    """

    iteration: int
    loss: float
    mean_reward: float


def imitate(
    policy: RecurrentPolicy,
    teacher: Teacher,
    environment: BottleneckVecEnv,
    *,
    iterations: int,
    decisions: int,
    seed: int = 1,
    losses: Sequence[float] = (),
    on_iteration: Callable[[ImitationProgress], None] | None = None,
) -> None:
    """Teaches the policy until all iterations are done or the loss has settled.

    Args:
        policy: the student.
        teacher: tells it.
        environment: where it acts; begins anew.
        iterations: how many at most, earlier ones included.
        decisions: of an iteration, of all environments together; more until a first episode has ended.
        seed: of the choice of what is learned.
        losses: of the iterations that were done before.
        on_iteration: called after each.

    Raises:
        SimulatorError: a simulator failed.
    """
    student = _Student(policy, teacher, environment, seed)
    known = list(losses)
    while len(known) < iterations and not has_settled(known):
        reward = student.act(-(-decisions // environment.num_envs))
        known.append(student.learn(LEARNING_RATE(1.0 - len(known) / iterations)))
        if on_iteration is not None:
            on_iteration(ImitationProgress(len(known), known[-1], reward))


def has_settled(losses: Sequence[float]) -> bool:
    """Whether the loss of each of the last iterations was about the mean of those before it."""
    if len(losses) < SETTLED_BEFORE + SETTLED_ITERATIONS:
        return False
    means = np.convolve(losses, np.full(SETTLED_BEFORE, 1.0 / SETTLED_BEFORE), mode="valid")[:-1]
    changes = np.abs(np.asarray(losses[SETTLED_BEFORE:]) - means)
    return bool((changes[-SETTLED_ITERATIONS:] < SETTLED_CHANGE).all())


class _Student:
    """Acts, remembers what it is told, and learns that."""

    def __init__(self, policy: RecurrentPolicy, teacher: Teacher, environment: BottleneckVecEnv, seed: int) -> None:
        self._policy = policy
        self._teacher = teacher
        self._environment = environment
        self._random = np.random.default_rng(seed)
        self._optimizer = torch.optim.Adam(policy.parameters())
        self._episodes = Episodes(environment.num_envs, MOST_DECISIONS)
        self._observations = environment.reset()
        # The path is known after the first interval.
        self._optimal_bps = np.full(environment.num_envs, np.nan)
        self._state = torch.zeros(environment.num_envs, policy.actor.state_size)

    def act(self, steps: int) -> float:
        """That many decisions in every environment, more until a first episode has ended; the mean reward."""
        rewards: list[float] = []
        while len(rewards) < steps or not self._episodes.decisions:
            with torch.no_grad():
                inputs = self._policy.scaling(torch.from_numpy(self._observations))
                actions, self._state = self._policy(inputs[:, None], self._state)
            self._episodes.add(inputs.numpy(), self._teacher(self._observations, self._optimal_bps))
            observations, reward, done, _ = self._environment.step(actions[:, 0].numpy())
            self._observations = np.asarray(observations)
            rewards.append(float(reward.mean()))
            ended = np.flatnonzero(done)
            self._episodes.finish(ended)
            self._teacher.forget(ended)
            self._state[ended] = 0.0
            self._optimal_bps = np.where(done, np.nan, self._environment.latest["optimal_bps"])
        return float(np.mean(rewards))

    def learn(self, learning_rate: float) -> float:
        """`BATCHES_PER_ITERATION` batches of what is remembered; the mean loss."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        losses = []
        for _ in range(BATCHES_PER_ITERATION):
            state = torch.zeros(EPISODES_PER_BATCH, self._policy.actor.state_size)
            for inputs, told in self._episodes.windows(self._random, EPISODES_PER_BATCH, STEPS_PER_WINDOW):
                loss, state = self._policy.loss(inputs, state.detach(), told)
                self._optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self._policy.parameters(), MOST_GRADIENT_NORM)
                self._optimizer.step()
                losses.append(float(loss.detach()))
        return float(np.mean(losses))
