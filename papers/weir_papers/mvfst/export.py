"""The agent as a model file of `weir.schema` 1, with the window, the history of actions and the LSTM in its state.

In training the simulator reports the last reward and the round trip of a rate. The file computes both from feedback.
Its action is the rate, window / (smallest round trip so far, as in the paper, + 95th percentile of the queueing delay),
on the logarithmic scale of the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import onnx
import torch
from torch import nn

import weir
from weir_papers.mvfst.agent import Agent
from weir_papers.mvfst.senders import (
    ACTIONS,
    BETA,
    EPSILON,
    HISTORY,
    LARGEST_WINDOW,
    LEAST_DELAY_MS,
    MAXIMUM_BPS,
    MINIMUM_BPS,
    PACKET_BITS,
    PLUS,
    SMALLEST_WINDOW,
    SPECIFICATION,
    START_WINDOW,
    TIMES,
)
from weir_train.gym.scaling import scaled_inputs, scaling_vectors
from weir_train.gym.specification import EnvironmentSpecification
from weir_train.model.export import finish, floats
from weir_train.model.golden_inputs import golden_inputs, golden_states
from weir_train.model.graph_builder import GATE, GraphBuilder, recurrent_nodes
from weir_train.model.policy_graph import scaled_nodes

_RATE, _QUEUE, _BASE, _PACKETS = (
    "receive_rate_bps", "queueing_delay_p95_s", "base_round_trip_time_s", "packets_received",
)  # fmt: skip
EXPORTED: Final = replace(SPECIFICATION, features=(*SPECIFICATION.features, _QUEUE))
"""The features of a file. The network does not see the last."""

_CHOICE: Final = len(ACTIONS) + 1
_LEAST_ROUND_TRIP_S, _MOST_ROUND_TRIP_S = 1e-3, 60.0
# The action of the rate e^x is _SLOPE x + _OFFSET.
_SLOPE: Final = 2.0 / np.log(MAXIMUM_BPS / MINIMUM_BPS)
_OFFSET: Final = -1.0 - _SLOPE * np.log(MINIMUM_BPS)


def export(
    agent: Agent,
    specification: EnvironmentSpecification,
    path: str | os.PathLike[str],
    *,
    name: str = "mvfst",
    version: str = weir.__version__,
    provenance: Mapping[str, Any] | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> None:
    """Writes and checks the file: the same agent gives the same bytes. See `weir_train.model.export.export`.

    Raises:
        InputError: the file cannot be written, or the library refuses it, as it does one of 16 MiB.
    """
    on_stage("writing the graph")
    deployed = DeployedAgent(agent)
    model, golden = agent_graph(deployed), _golden(deployed)
    on_stage("checking it in ONNX Runtime and the library")
    finish(model, EXPORTED, path, golden, name=name, version=version, provenance=provenance or {})


class DeployedAgent(nn.Module):
    """Maps `observation` (1, D), of the features of EXPORTED, and `state` (1, S) to `action` (1, 1), the most likely
    one, and `next_state`. The state has the memory of the agent; the HISTORY latest choices as in `Senders`, the newest
    first, each one-hot and the window after it; the window less START_WINDOW; and the smallest round trip so far as
    the time by which it is below 60 s. At the start of a call it is zero.
    """

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self.agent = agent
        self.state_size = 2 * agent.hidden + HISTORY * _CHOICE + 2
        self._vectors = {key: torch.from_numpy(values) for key, values in scaling_vectors(EXPORTED).items()}
        self._seen = [EXPORTED.observed.index(feature) for feature in SPECIFICATION.observed]

    @property
    def first_weight(self) -> torch.Tensor:
        """The weights of the first layer for all features of EXPORTED, (hidden, inputs)."""
        first, size = self.agent.trunk[0], len(self._seen)
        assert isinstance(first, nn.Linear)
        weight = first.weight.detach()
        spread = torch.zeros(len(weight), EXPORTED.observation_size)
        spread[:, self._seen] = weight[:, :size]
        return torch.cat([spread, weight[:, size:]], dim=1)

    def forward(self, observation: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """See the class."""
        memory, history, window, below = torch.split(state, [2 * self.agent.hidden, HISTORY * _CHOICE, 1, 1], dim=1)
        rate, queue, base, packets = (
            observation[:, EXPORTED.columns[feature]] for feature in (_RATE, _QUEUE, _BASE, _PACKETS)
        )
        no_objective = torch.zeros(len(observation), 3)
        scaled = scaled_inputs(torch, EXPORTED, self._vectors, torch.cat([observation, no_objective], dim=1))
        inputs = torch.cat([scaled[:, self._seen], scaled[:, EXPORTED.observation_size, None], history], dim=1)
        delay_ms = (1e3 * queue).clamp(min=LEAST_DELAY_MS)
        reward = torch.log(rate / 8e6 + EPSILON) - BETA * torch.log(delay_ms + EPSILON)
        # Before the first choice there was no reward.
        before = reward * history[:, : _CHOICE - 1].sum(dim=1, keepdim=True)
        scores, _, memory = self.agent(inputs, before[:, 0], memory)
        chosen = torch.nn.functional.one_hot(scores.argmax(dim=1), len(ACTIONS)).float()
        choices = (window + START_WINDOW) * torch.from_numpy(TIMES).float() + torch.from_numpy(PLUS).float()
        window = (choices * chosen).sum(dim=1, keepdim=True).clamp(SMALLEST_WINDOW, LARGEST_WINDOW)
        # Without packets it is an assumed one.
        below = torch.maximum(below, (_MOST_ROUND_TRIP_S - base) * packets.clamp(0.0, 1.0))
        round_trip = torch.minimum(base, _MOST_ROUND_TRIP_S - below) + queue
        rate_log = torch.log(window * PACKET_BITS) - torch.log(round_trip.clamp(min=_LEAST_ROUND_TRIP_S))
        newest = torch.cat([chosen, 0.3 * torch.log(window / START_WINDOW)], dim=1)
        after = torch.cat([memory, newest, history[:, :-_CHOICE], window - START_WINDOW, below], dim=1)
        return (_SLOPE * rate_log + _OFFSET).clamp(-1.0, 1.0), after


def agent_graph(deployed: DeployedAgent) -> onnx.ModelProto:
    """The model of `DeployedAgent`, whose objective is not used."""
    agent, graph = deployed.agent, GraphBuilder()
    remembered, columns = 2 * agent.hidden, EXPORTED.columns
    history = graph.part("state", remembered, remembered + HISTORY * _CHOICE)
    rate, queue, base, packets = (
        graph.part("observation", columns[feature].start, columns[feature].start + 1)
        for feature in (_RATE, _QUEUE, _BASE, _PACKETS)
    )
    value = graph.node("Concat", *scaled_nodes(graph, EXPORTED)[0], history, axis=1)
    first, _, second, _ = agent.trunk
    value = _linear(graph, value, "actor.trunk.0", first, deployed.first_weight)
    value = _linear(graph, graph.node("Relu", value), "actor.trunk.2", second)
    core = graph.node("Concat", graph.node("Relu", value), _last_reward(graph, rate, queue, remembered), axis=1)
    if agent.cell is not None:
        cells = nn.LSTM(agent.hidden + 1, agent.hidden)
        cells.load_state_dict({f"{key}_l0": values for key, values in agent.cell.state_dict().items()})
        output, memory = recurrent_nodes(graph, core, cells)
    else:
        assert agent.layer is not None
        output = graph.node("Relu", _linear(graph, core, "actor.layer", agent.layer[0]))
        memory = graph.part("state", 0, remembered)
    chosen = _one_hot(graph, _linear(graph, output, "head", agent.scores))
    window = _next_window(graph, chosen, deployed.state_size)
    below, shortest = _shortest(graph, base, packets, deployed.state_size)
    round_trip = graph.clip(graph.node("Add", shortest, queue), _LEAST_ROUND_TRIP_S, 1e3)
    rate_log = graph.node("Sub", graph.node("Log", window), graph.node("Log", round_trip))
    action = graph.clip(graph.gemm(rate_log, "action", [[_SLOPE]], [_SLOPE * np.log(PACKET_BITS) + _OFFSET]), -1.0, 1.0)
    size = graph.gemm(graph.node("Log", window), "size", [[0.3]], [-0.3 * np.log(START_WINDOW)])
    later = graph.part("state", remembered, remembered + (HISTORY - 1) * _CHOICE)
    more = graph.gemm(window, "more", [[1.0]], [-START_WINDOW])
    after = graph.node("Concat", memory, chosen, size, later, more, below, axis=1)
    widths = {"observation": EXPORTED.observation_size, "objective": 3, "state": deployed.state_size}
    return graph.model(widths, {"action": (action, 1), "next_state": (after, deployed.state_size)})


def _linear(graph: GraphBuilder, value: str, name: str, layer: nn.Module, weight: torch.Tensor | None = None) -> str:
    """Computes a linear layer, with other weights where they are given."""
    assert isinstance(layer, nn.Linear)
    weight = layer.weight if weight is None else weight
    return graph.gemm(value, name, weight.detach().numpy().T, layer.bias.detach().numpy())


def _last_reward(graph: GraphBuilder, rate: str, queue: str, remembered: int) -> str:
    """Computes the last reward, (1, 1), zero before the first choice."""
    throughput = graph.node("Log", graph.gemm(rate, "throughput", [[1.0 / 8e6]], [EPSILON]))
    delay_ms = graph.clip(graph.gemm(queue, "delay", [[1e3]], [0.0]), LEAST_DELAY_MS, 1e9)
    delay = graph.node("Log", graph.gemm(delay_ms, "delay_shift", [[1.0]], [EPSILON]))
    reward = graph.node("Gemm", delay, graph.constant("beta", [[-BETA]]), throughput)
    chosen = graph.part("state", remembered, remembered + _CHOICE - 1)
    began = graph.gemm(chosen, "began", np.ones((_CHOICE - 1, 1)), [0.0])
    return graph.node("Mul", reward, began)


def _one_hot(graph: GraphBuilder, scores: str) -> str:
    """Computes ones at the highest scores, zeros elsewhere."""
    best = graph.node("ReduceMax", scores, axes=[1], keepdims=1)
    behind = graph.node("Gemm", best, graph.constant("minus_ones", -np.ones((1, len(ACTIONS)))), scores)
    steep = graph.gemm(behind, "steep", GATE * np.eye(len(ACTIONS)), np.ones(len(ACTIONS)))
    return graph.clip(steep, 0.0, 1.0)


def _next_window(graph: GraphBuilder, chosen: str, state_size: int) -> str:
    """Computes the window in packets, (1, 1), after a choice."""
    window = graph.gemm(graph.part("state", state_size - 2, state_size - 1), "window", [[1.0]], [START_WINDOW])
    choices = graph.gemm(window, "choices", TIMES[None], PLUS)
    taken = graph.gemm(graph.node("Mul", choices, chosen), "taken", np.ones((len(ACTIONS), 1)), [0.0])
    return graph.clip(taken, SMALLEST_WINDOW, LARGEST_WINDOW)


def _shortest(graph: GraphBuilder, base: str, packets: str, state_size: int) -> tuple[str, str]:
    """Computes the smallest round trip so far, (1, 1), as the state has it, and in seconds."""
    known = graph.node("Mul", graph.gemm(base, "base", [[-1.0]], [_MOST_ROUND_TRIP_S]), graph.clip(packets, 0.0, 1.0))
    below = graph.node("Max", graph.part("state", state_size - 1, state_size), known)
    return below, graph.node("Min", base, graph.gemm(below, "shortest", [[-1.0]], [_MOST_ROUND_TRIP_S]))


def _golden(deployed: DeployedAgent) -> list[dict[str, list[float]]]:
    observations, objectives = golden_inputs(EXPORTED)
    states = golden_states(deployed.state_size)
    with torch.no_grad():
        actions, after = deployed(torch.from_numpy(observations), torch.from_numpy(states))
    names = ("observation", "objective", "state", "action", "next_state")
    rows = zip(observations, objectives, states, actions.numpy(), after.numpy(), strict=True)
    return [{name: floats(values) for name, values in zip(names, row, strict=True)} for row in rows]
