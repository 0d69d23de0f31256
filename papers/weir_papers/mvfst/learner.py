"""IMPALA with V-trace (section 4) for MVFST-RL's agent, in one process.

The paper's actors and learner run side by side, so that what acts is some updates older than what learns. Simulated
time waits for both; here actors hold on to parameters of `lag` fragments ago, which is the same to the learner, and
the same in every run.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch.distributions import Categorical

from weir_papers.mvfst.agent import Agent, Fragment
from weir_papers.mvfst.impala.vtrace import vtrace
from weir_papers.mvfst.senders import RewardScale, Senders

GAMMA: Final = 0.99
BASELINE_COST: Final = 0.5
MOST_GRADIENT_NORM: Final = 40.0
UNROLL: Final = 75
TRAJECTORIES_PER_BATCH: Final = 8


@dataclass(frozen=True)
class Variant:
    """A way to train, of which Figure 3 compares some.

    Attributes:
        recurrent: with the LSTM.
        entropy: coefficient of the entropy.
        corrected: by V-trace for what acted; without, samples count as if the learner had acted.
        delay_ms: least and most time of a decision while training.
    """

    recurrent: bool = True
    entropy: float = 0.01
    corrected: bool = True
    delay_ms: tuple[float, float] = (0.0, 90.0)


@dataclass(frozen=True)
class Size:
    """The size of a training: environment `steps`, `senders` at once, width `hidden` of the layers, `lag` of the actors
    in fragments, and the learning rate, which falls to 0.
    """

    steps: int = 300_000
    senders: int = 48
    hidden: int = 256
    lag: int = 2
    learning_rate: float = 1e-3


def learn(
    variant: Variant,
    size: Size,
    documents: Sequence[Mapping[str, Any]],
    seed: int,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> tuple[Agent, dict[str, list[float]]]:
    """Trains an agent on emulators, jointly. Returns it, and for each emulator the mean rewards of its episodes as they
    are, in the order of training.

    Raises:
        ComponentFailed: a simulator failed.
    """
    torch.manual_seed(seed)
    # A network as small as this: more threads wait for each other longer than they compute.
    torch.set_num_threads(1)
    senders = Senders(size.senders, documents, delay_ms=variant.delay_ms, simulator=simulator)
    try:
        agent = Agent(senders.width, size.hidden, recurrent=variant.recurrent)
        actor = Actor(senders, agent, seed)
        optimizer = torch.optim.RMSprop(agent.parameters(), lr=size.learning_rate, alpha=0.99, eps=0.01)
        recent = deque([_parameters(agent)], maxlen=size.lag + 1)
        done = 0
        while done < size.steps:
            actor.agent.load_state_dict(recent[0])
            fragment = actor.unroll(UNROLL)
            done += fragment.actions.numel()
            for group in optimizer.param_groups:
                group["lr"] = size.learning_rate * max(0.0, 1.0 - done / size.steps)
            for rows in torch.split(torch.randperm(size.senders), TRAJECTORIES_PER_BATCH):
                loss = impala_loss(agent, fragment.of(rows), variant)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(agent.parameters(), MOST_GRADIENT_NORM)
                optimizer.step()
            recent.append(_parameters(agent))
            if on_progress is not None:
                on_progress(done)
    finally:
        senders.close()
    return agent, actor.rewards


def impala_loss(agent: Agent, fragment: Fragment, variant: Variant) -> torch.Tensor:
    """Policy gradient with V-trace, half of the squared error of the values, entropy: means over the steps."""
    found = agent.evaluate(fragment)
    chosen = Categorical(logits=found.scores)
    log_probabilities = chosen.log_prob(fragment.actions)  # type: ignore[no-untyped-call]
    ratios = log_probabilities.detach() - fragment.log_probabilities
    if not variant.corrected:
        ratios = torch.zeros_like(ratios)
    traced = vtrace(
        ratios,
        fragment.rewards,
        found.values.detach(),
        found.next_values.detach(),
        fragment.ended,
        gamma=GAMMA,
        trace_decay=1.0,
        ratio_limit=1.0,
    )
    weights = ratios.exp().clamp(max=1.0)
    gradient = -(weights * traced.advantages * log_probabilities).mean()
    errors = BASELINE_COST * (traced.targets - found.values).square().mean()
    entropy: torch.Tensor = chosen.entropy().mean()  # type: ignore[no-untyped-call]
    return gradient + errors - variant.entropy * entropy


class Actor:
    """Drives senders with a copy of the agent, and keeps the mean reward of every episode."""

    def __init__(self, senders: Senders, agent: Agent, seed: int) -> None:
        self._senders = senders
        self.agent = Agent(senders.width, agent.hidden, recurrent=agent.recurrent)
        self.rewards: dict[str, list[float]] = defaultdict(list)
        self._scale = RewardScale()
        self._states = torch.from_numpy(senders.reset(seed))
        self._before = torch.zeros(senders.count)
        self._memory = agent.no_memory(senders.count)
        self._sums, self._lengths = np.zeros(senders.count), np.zeros(senders.count, dtype=np.int64)

    def unroll(self, steps: int) -> Fragment:
        """The next steps of all senders."""
        count, width = self._senders.count, self._senders.width
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

    def _count(self, names: Sequence[str], rewards: np.ndarray, ended: np.ndarray) -> None:
        self._sums += rewards
        self._lengths += 1
        for index in np.flatnonzero(ended):
            self.rewards[names[int(index)]].append(float(self._sums[index] / self._lengths[index]))
        self._sums[ended], self._lengths[ended] = 0.0, 0


def _parameters(agent: Agent) -> dict[str, torch.Tensor]:
    return {name: values.detach().clone() for name, values in agent.state_dict().items()}
