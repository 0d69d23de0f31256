"""Actors of IMPALA (section 4): senders that a copy of the agent drives, in this process or in one of Ray's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from torch.distributions import Categorical

from weir_papers.mvfst.agent import Agent, Fragment
from weir_papers.mvfst.senders import STATE_WIDTH, RewardScale, Senders

Rewards = dict[str, list[float]]
"""The mean rewards of episodes as they are, by emulator, in the order of training."""


class Actor:
    """Acts by its own `agent`, whose parameters the caller sets, and remembers the senders from fragment to fragment.

    Args:
        senders: which it drives, and does not close.
        agent: the one that learns.
        seed: of the episodes.
    """

    def __init__(self, senders: Senders, agent: Agent, seed: int) -> None:
        self._senders = senders
        self.agent = Agent(STATE_WIDTH, agent.hidden, recurrent=agent.recurrent)
        self._rewards: Rewards = defaultdict(list)
        self._scale = RewardScale()
        self._states = torch.from_numpy(senders.reset(seed))
        self._before = torch.zeros(senders.count)
        self._memory = agent.no_memory(senders.count)
        self._sums, self._lengths = np.zeros(senders.count), np.zeros(senders.count, dtype=np.int64)

    def unroll(self, steps: int) -> Fragment:
        """The next steps of all senders."""
        count, width = self._senders.count, STATE_WIDTH
        states, before = torch.empty(count, steps + 1, width), torch.empty(count, steps + 1)
        actions, ended = torch.empty(count, steps, dtype=torch.int64), torch.zeros(count, steps, dtype=torch.bool)
        log_probabilities, rewards, last_rewards = (torch.empty(count, steps) for _ in range(3))
        finals, memory = torch.zeros(count, steps, width), self._memory
        for step in range(steps):
            states[:, step], before[:, step] = self._states, self._before
            with torch.no_grad():
                scores, _, self._memory = self.agent(self._states, self._before, self._memory)
            chosen = Categorical(logits=scores)
            actions[:, step] = chosen.sample()  # type: ignore[no-untyped-call]
            log_probabilities[:, step] = chosen.log_prob(actions[:, step])  # type: ignore[no-untyped-call]
            found = self._senders.step(actions[:, step].numpy())
            rewards[:, step] = torch.from_numpy(self._scale(found.names, found.rewards))
            last_rewards[:, step] = torch.from_numpy(found.rewards.astype(np.float32))
            ended[:, step] = torch.from_numpy(found.ended)
            finals[:, step] = torch.from_numpy(found.finals)
            self._count(found.names, found.rewards, found.ended)
            self._states = torch.from_numpy(found.states)
            self._before = torch.where(ended[:, step], 0.0, last_rewards[:, step])
            self._memory = torch.where(ended[:, step, None], 0.0, self._memory)
        states[:, steps], before[:, steps] = self._states, self._before
        return Fragment(states, before, actions, log_probabilities, rewards, ended, finals, last_rewards, memory)

    def take_rewards(self) -> Rewards:
        """Those of the episodes that have ended since the last call."""
        found, self._rewards = dict(self._rewards), defaultdict(list)
        return found

    def _count(self, names: Sequence[str], rewards: np.ndarray, ended: np.ndarray) -> None:
        self._sums += rewards
        self._lengths += 1
        for index in np.flatnonzero(ended):
            self._rewards[names[int(index)]].append(float(self._sums[index] / self._lengths[index]))
        self._sums[ended], self._lengths[ended] = 0.0, 0
