"""IMPALA with V-trace (section 4) for MVFST-RL's agent.

The paper's actors and learner run side by side, so that what acts is some updates older than what learns. Here they do
so on Ray (`impala/`), or they take turns in one process (`learn`): its actor holds on to parameters of `lag` fragments
ago, which is the same to the learner, and the same in every run.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.distributions import Categorical

from weir_cli.errors import InputError
from weir_papers.mvfst.actor import Actor, Rewards
from weir_papers.mvfst.agent import Agent, Fragment
from weir_papers.mvfst.senders import STATE_WIDTH, Senders
from weir_papers.mvfst.vtrace import vtrace

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


class Learner:
    """Updates an agent from fragments of any actors, which may have acted by older parameters.

    Attributes:
        agent: the one that learns.
        steps: environment steps that it has learned from.
        updates: fragments that it has learned from.
        optimizer: of the agent.
    """

    def __init__(self, agent: Agent, variant: Variant, *, steps: int, learning_rate: float) -> None:
        """`steps` and `learning_rate`: see `Size`."""
        self.agent = agent
        self.steps = self.updates = 0
        self.optimizer = torch.optim.RMSprop(agent.parameters(), lr=learning_rate, alpha=0.99, eps=0.01)
        self._variant, self._last, self._learning_rate = variant, steps, learning_rate

    def learn(self, fragment: Fragment) -> None:
        """One pass over the trajectories of a fragment, in batches.

        Raises:
            InputError: the training has diverged.
        """
        self.steps += fragment.actions.numel()
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate * max(0.0, 1.0 - self.steps / self._last)
        for rows in torch.split(torch.randperm(len(fragment.actions)), TRAJECTORIES_PER_BATCH):
            loss = impala_loss(self.agent, fragment.of(rows), self._variant)
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            norm = torch.nn.utils.clip_grad_norm_(self.agent.parameters(), MOST_GRADIENT_NORM)
            if not norm.isfinite():
                raise InputError("the training has diverged: its gradient is no longer finite; lower learning_rate")
            self.optimizer.step()
        self.updates += 1

    def parameters(self) -> dict[str, torch.Tensor]:
        """A copy of the agent's parameters."""
        return {name: values.detach().clone() for name, values in self.agent.state_dict().items()}


def learn(
    variant: Variant,
    size: Size,
    documents: Sequence[Mapping[str, Any]],
    seed: int,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> tuple[Agent, Rewards]:
    """Trains an agent on emulators, jointly, in this process.

    Raises:
        ComponentFailed: a simulator failed.
        InputError: the training has diverged.
    """
    torch.manual_seed(seed)
    # A network as small as this: more threads wait for each other longer than they compute.
    torch.set_num_threads(1)
    senders = Senders(size.senders, documents, delay_ms=variant.delay_ms, simulator=simulator)
    try:
        agent = Agent(STATE_WIDTH, size.hidden, recurrent=variant.recurrent)
        actor = Actor(senders, agent, seed)
        learner = Learner(agent, variant, steps=size.steps, learning_rate=size.learning_rate)
        recent = deque([learner.parameters()], maxlen=size.lag + 1)
        while learner.steps < size.steps:
            actor.agent.load_state_dict(recent[0])
            learner.learn(actor.unroll(UNROLL))
            recent.append(learner.parameters())
            if on_progress is not None:
                on_progress(learner.steps)
    finally:
        senders.close()
    return agent, actor.take_rewards()


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
    )
    weights = ratios.exp().clamp(max=1.0)
    gradient = -(weights * traced.advantages * log_probabilities).mean()
    errors = BASELINE_COST * (traced.targets - found.values).square().mean()
    entropy: torch.Tensor = chosen.entropy().mean()  # type: ignore[no-untyped-call]
    return gradient + errors - variant.entropy * entropy
