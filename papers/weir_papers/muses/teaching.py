"""Muses' teacher (section III-C): an LSTM that classifies states by the best action, taught by dataset aggregation."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from weir_papers.imitation.dataset_aggregation import Episodes
from weir_papers.muses.networks import LARGEST_DELAYS_MS, muses_scenario
from weir_papers.muses.senders import INTERVAL_MS, MULTIPLES, SIGNALS, Agent, Flows, Levels, Oracle, run_flows
from weir_traces.generate.random_domain import Split
from weir_train.learning.algorithms import LinearSchedule
from weir_train.learning.checkpoint import policy_arrays, read_checkpoint, write_checkpoint

# The paper's 1,000 of 10 ms are half as long.
DECISIONS_PER_FLOW: Final = 400
# Flows that run at once.
SENDERS: Final = 64
_FLOW_S: Final = 2 * DECISIONS_PER_FLOW * INTERVAL_MS / 1e3
_WINDOW: Final = 100
_LEARNING_RATE: Final = LinearSchedule(2e-3, 1e-4)
_MOST_GRADIENT_NORM: Final = 1.0


@dataclass(frozen=True)
class Teaching:
    """The size of a teaching.

    Attributes:
        iterations: of dataset aggregation, each of SENDERS flows of DECISIONS_PER_FLOW; the oracle drives the first.
        batches: of `flows_per_batch` whole flows in each iteration; a gradient step for every 100 decisions of them.
        hidden: width of both layers of the LSTM.
    """

    iterations: int
    batches: int = 50
    flows_per_batch: int = 16
    hidden: int = 256

    @property
    def gradient_steps(self) -> int:
        """The number of gradient steps in the whole teaching."""
        return self.iterations * self.batches * DECISIONS_PER_FLOW // _WINDOW


class Network(nn.Module):
    """Two LSTM layers and a linear one, from states (N, T, signals) to scores of the actions (N, T, 7)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.layers = nn.LSTM(len(SIGNALS), hidden, 2, batch_first=True)
        self.scores = nn.Linear(hidden, len(MULTIPLES))

    def forward(self, states: torch.Tensor, memory: Any = None) -> tuple[torch.Tensor, Any]:
        """Scores, and the memory after them."""
        found, memory = self.layers(states, memory)
        return self.scores(found), memory


class Lstm:
    """An agent that takes the most likely action."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._memory: Any = None

    def begin(self) -> None:
        """See `Agent`."""
        self._memory = None

    def __call__(self, states: np.ndarray, labels: Levels) -> Levels:
        """See `Agent`."""
        with torch.no_grad():
            scores, self._memory = self.network(torch.from_numpy(states)[:, None], self._memory)
        return np.asarray(scores[:, 0].argmax(dim=1).numpy())


def teach(
    teaching: Teaching,
    file: Path,
    seed: int,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> tuple[Lstm, list[dict[str, float]]]:
    """The taught LSTM, from its checkpoint where there is one, and of each iteration its `loss` and the `agreement` of
    the agent's actions with the labels on the flows that it drove.

    Raises:
        ComponentFailed: a simulator failed.
    """
    torch.manual_seed(seed)
    # A network as small as this: more threads wait for each other longer than they compute.
    torch.set_num_threads(1)
    network, random = Network(teaching.hidden), np.random.default_rng(seed)
    if file.exists():
        read_checkpoint(file).load_into(network)
        return Lstm(network), []
    optimizer = torch.optim.Adam(network.parameters())
    aggregated = Episodes(SENDERS, teaching.iterations * SENDERS * DECISIONS_PER_FLOW)
    history = []
    for iteration in range(teaching.iterations):
        agent: Agent = Lstm(network) if iteration else Oracle()
        flows = table_ii_flows(
            agent, SENDERS, seed=seed + iteration, first=iteration * SENDERS, simulator=simulator,
            on_progress=None if on_progress is None else _shifted(on_progress, iteration),
        )  # fmt: skip
        for interval in range(flows.labels.shape[1]):
            aggregated.add(flows.states[:, interval], flows.labels[:, interval])
        aggregated.finish(np.arange(SENDERS))
        for group in optimizer.param_groups:
            group["lr"] = _LEARNING_RATE(1.0 - iteration / teaching.iterations)
        losses = [
            _learn(network, optimizer, aggregated, random, teaching.flows_per_batch) for _ in range(teaching.batches)
        ]
        agreement = float((flows.actions == flows.labels).mean())
        history.append({"loss": float(np.mean(losses)), "agreement": agreement})
    write_checkpoint(
        file, "muses", teaching.iterations * SENDERS * DECISIONS_PER_FLOW, policy_arrays(network.state_dict())
    )
    return Lstm(network), history


def table_ii_flows(
    agent: Agent,
    flows: int,
    *,
    seed: int,
    first: int = 0,
    split: Split = "train",
    largest_delay_ms: float = LARGEST_DELAYS_MS[-1],
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Flows:
    """Flows of DECISIONS_PER_FLOW on networks of Table II, from the network `first` on; see `run_flows`."""
    scenarios = [
        muses_scenario(number, split=split, duration_s=_FLOW_S, largest_delay_ms=largest_delay_ms).to_dict()
        for number in range(first, first + flows)
    ]
    return run_flows(agent, scenarios, DECISIONS_PER_FLOW, seed=seed, simulator=simulator, on_progress=on_progress)


def _shifted(on_progress: Callable[[int], None], iteration: int) -> Callable[[int], None]:
    return lambda done: on_progress((iteration * DECISIONS_PER_FLOW + done) * SENDERS)


def _learn(
    network: Network, optimizer: torch.optim.Optimizer, aggregated: Episodes, random: np.random.Generator, flows: int
) -> float:
    """A gradient step for each window of some whole flows; the mean cross entropy."""
    memory, losses = None, []
    for states, labels in aggregated.windows(random, flows, _WINDOW):
        scores, memory = network(states, memory)
        memory = tuple(part.detach() for part in memory)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten().long())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), _MOST_GRADIENT_NORM)
        optimizer.step()
        losses.append(float(loss.detach()))
    return float(np.mean(losses))
