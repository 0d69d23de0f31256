"""MVFST-RL's network (section 4): two layers, an LSTM that receives the last reward too, and two heads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from weir_papers.mvfst.senders import ACTIONS


@dataclass(frozen=True)
class Fragment:
    """T steps of N senders, float32 unless noted.

    Attributes:
        states: (N, T + 1, D); where an episode ended with step t, `finals` has the state after it, and states[t + 1] is
            the first of the next episode.
        rewards_before: (N, T + 1), the reward before each state, 0 at an episode's beginning.
        actions: (N, T) of int64.
        log_probabilities: (N, T), of the actions under the policy that acted.
        rewards: (N, T), normalized.
        ended: (N, T) of bool.
        finals: (N, T, D), zero where no episode ended.
        last_rewards: (N, T), the reward as it is, of each step.
        memory: (N, M), before the first step.
    """

    states: torch.Tensor
    rewards_before: torch.Tensor
    actions: torch.Tensor
    log_probabilities: torch.Tensor
    rewards: torch.Tensor
    ended: torch.Tensor
    finals: torch.Tensor
    last_rewards: torch.Tensor
    memory: torch.Tensor

    def of(self, rows: torch.Tensor) -> Fragment:
        """The trajectories of some senders."""
        return Fragment(*(getattr(self, name)[rows] for name in Fragment.__dataclass_fields__))


@dataclass(frozen=True)
class Evaluated:
    """The network on a fragment: `scores` (N, T, actions) of the actions, `values` (N, T) of the states, `next_values`
    (N, T) of the states after the steps, those of finished episodes too.
    """

    scores: torch.Tensor
    values: torch.Tensor
    next_values: torch.Tensor


class Agent(nn.Module):
    """The network.

    Args:
        inputs: width of a state.
        hidden: width of both layers and of the memory; the paper has 1024.
        recurrent: with the LSTM; without, a third layer takes its place, as wide.
    """

    def __init__(self, inputs: int, hidden: int, *, recurrent: bool = True) -> None:
        super().__init__()
        self.hidden, self.recurrent = hidden, recurrent
        self.trunk = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.cell = nn.LSTMCell(hidden + 1, hidden) if recurrent else None
        self.layer = None if recurrent else nn.Sequential(nn.Linear(hidden + 1, hidden), nn.ReLU())
        self.scores = nn.Linear(hidden, len(ACTIONS))
        self.value = nn.Linear(hidden, 1)

    def no_memory(self, count: int) -> torch.Tensor:
        """The memory at the beginning of episodes: (count, 2 hidden)."""
        return torch.zeros(count, 2 * self.hidden)

    def forward(
        self, states: torch.Tensor, rewards: torch.Tensor, memory: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States (N, D), the rewards before them (N,) and memory (N, 2 hidden) to scores (N, actions), values (N,) and
        the memory after them.
        """
        return self._heads(self.trunk(states), rewards, memory)

    def evaluate(self, fragment: Fragment) -> Evaluated:
        """All steps of a fragment, from its memory on."""
        features, finals = self.trunk(fragment.states), self.trunk(fragment.finals)
        memory = fragment.memory
        scores, values, ends = [], [], []
        for step in range(fragment.actions.shape[1]):
            score, value, memory = self._heads(features[:, step], fragment.rewards_before[:, step], memory)
            scores.append(score)
            values.append(value)
            ended = fragment.ended[:, step]
            # The value is bootstrapped over the end: time ran out, and nothing else happened.
            ends.append(
                self._heads(finals[:, step], fragment.last_rewards[:, step], memory)[1] if ended.any() else value
            )
            memory = torch.where(ended[:, None], 0.0, memory)
        _, last, _ = self._heads(features[:, -1], fragment.rewards_before[:, -1], memory)
        all_values = torch.stack([*values, last], dim=1)
        next_values = torch.where(fragment.ended, torch.stack(ends, dim=1), all_values[:, 1:])
        return Evaluated(torch.stack(scores, dim=1), all_values[:, :-1], next_values)

    def _heads(
        self, features: torch.Tensor, rewards: torch.Tensor, memory: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        core = torch.cat([features, rewards[:, None]], dim=1)
        if self.cell is not None:
            output, cells = self.cell(core, tuple(memory.chunk(2, dim=1)))
            memory = torch.cat([output, cells], dim=1)
        else:
            assert self.layer is not None
            output = self.layer(core)
        return self.scores(output), self.value(output)[:, 0], memory
