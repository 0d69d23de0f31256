"""The ONNX graph of a deployed policy, written node by node.

The graph has few nodes and operators: the whole observation is scaled as one vector, and the rule is a few products
instead of a case distinction. The library itself computes the graph of a policy without recurrent layers
(`estimator/src/onnx/dense_network_plan.cc`). A graph with another operator, such as that of a recurrent policy, needs
ONNX Runtime, which spends 0.2 us on a node however little it computes. Parameters keep the names and values they have
in `DeployedPolicy`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import onnx
from torch import nn

from weir import RULE
from weir_train.gym import rule
from weir_train.gym.scaling import (
    ABSOLUTE_RATE_SCALE,
    INPUT_LIMIT,
    MINIMUM_RATE_BPS,
    REFERENCE_RATE_BPS,
    scaling_vectors,
)
from weir_train.gym.specification import EnvironmentSpecification
from weir_train.model.graph_builder import GATE, GraphBuilder, level_nodes, recurrent_nodes
from weir_train.policies.networks import DeployedPolicy
from weir_train.policies.recurrent import LevelHead, RecurrentActor

# Below any number of packets above 0.
_SOME_PACKETS: Final = 2.0**-20
_QUEUE_THRESHOLD: Final = np.float32(RULE["queue_threshold_s"])
_BELOW_THRESHOLD: Final = np.nextafter(_QUEUE_THRESHOLD, np.float32(0))

# The terms of the rule's cases: linear in rate, queue, received, target and 1, clipped to at least 1. A gate is
# very large if its case applies, else 1.
_ATOMS: Final[dict[str, Mapping[str, float]]] = {
    "target": {"target": 1.0},
    "grown_target": {"target": RULE["increase_factor"]},
    "headroom": {"rate": RULE["headroom_factor"], "one": RULE["headroom_bps"]},
    "least_drained": {"rate": RULE["minimum_backoff"]},
    "drained_more": {
        "queue": -1.0 / RULE["queue_scale_s"] / RULE["minimum_backoff"],
        "one": (1.0 + RULE["queue_target_s"] / RULE["queue_scale_s"]) / RULE["minimum_backoff"],
    },
    "idle_target": {"target": RULE["no_arrival_factor"]},
    "if_no_queue": {"queue": -GATE, "one": GATE * float(_QUEUE_THRESHOLD)},
    "if_queue": {"queue": GATE, "one": -GATE * float(_BELOW_THRESHOLD)},
    "if_arrivals": {"received": GATE},
    "if_silence": {"received": -GATE, "one": GATE * _SOME_PACKETS},
}
# The rule is the largest of these cases; a case is the smallest of its members; a member is a product of atoms.
_CASES: Final[tuple[tuple[tuple[str, ...], ...], ...]] = (
    (("target",), ("if_no_queue",), ("if_arrivals",)),
    (("grown_target",), ("headroom",), ("if_no_queue",), ("if_arrivals",)),
    (("least_drained", "drained_more"), ("if_queue",), ("if_arrivals",)),
    (("idle_target",), ("if_silence",)),
)


def policy_graph(deployed: DeployedPolicy, specification: EnvironmentSpecification) -> onnx.ModelProto:
    """Returns the model: `observation` (1, D) and `objective` (1, 3), for a recurrent policy also `state` (1, S), to
    `action` (1, 1) and then `next_state` (1, S), like `DeployedPolicy`. The same policy gives the same model.
    """
    graph = GraphBuilder()
    scaled, log_rule = scaled_nodes(graph, specification)
    layers = {name: module for name, module in deployed.named_modules() if not list(module.children())}
    del layers["scaling"]
    preference = {name: layers.pop(name) for name in list(layers) if ".preference." in name}
    value = graph.node("Concat", *scaled, _layers(graph, "objective", preference), axis=1)
    widths, next_state = {"observation": specification.observation_size, "objective": 3}, {}
    if isinstance(deployed.actor, RecurrentActor):
        del layers["actor.cells"]
        widths["state"] = deployed.actor.state_size
        value, state = recurrent_nodes(graph, value, deployed.actor.cells)
        next_state = {"next_state": (state, deployed.actor.state_size)}
    value = _layers(graph, value, layers)
    if isinstance(deployed.head, LevelHead):
        value = level_nodes(graph, value, deployed.head.levels)
    action = graph.clip(value, -1.0, 1.0)
    if specification.action.kind == "around_rule":
        assert log_rule is not None
        action = rate_node(graph, specification, action, log_rule)
    return graph.model(widths, {"action": (action, 1)} | next_state)


def scaled_nodes(graph: GraphBuilder, specification: EnvironmentSpecification) -> tuple[tuple[str, str], str | None]:
    """Returns the outputs of `FeatureScaling` for `observation`, without the objective: the features (1,
    observation_size) and the rule's rate (1, 1); then the logarithm of the rule's rate in bps, (1, 1), if the features
    determine it.
    """
    log_rule = _log_rule(graph, specification) if specification.knows_rule else None
    if log_rule is None:
        reference = graph.constant("reference", [[math.log(REFERENCE_RATE_BPS)]])
    else:
        reference = graph.node("Max", log_rule, graph.constant("minimum_rate", math.log(MINIMUM_RATE_BPS)))
    scaled = _scaled(graph, specification, reference)
    absolute = graph.gemm(
        reference, "absolute", [[ABSOLUTE_RATE_SCALE]], [-ABSOLUTE_RATE_SCALE * math.log(REFERENCE_RATE_BPS)]
    )
    return (scaled, absolute), log_rule


def rate_node(graph: GraphBuilder, specification: EnvironmentSpecification, action: str, log_rule: str) -> str:
    """Computes the rate in bps, (1, 1), for an action around the rule."""
    span = graph.constant("log_span", [[math.log(specification.action.span)]])
    log_rate = graph.node("Gemm", action, span, log_rule)
    return graph.clip(graph.node("Exp", log_rate), specification.action.min_bps, specification.action.max_bps)


def _log_rule(graph: GraphBuilder, specification: EnvironmentSpecification) -> str:
    """Computes the logarithm of the ten-line rule's rate in bps, (1, 1); see `weir_train.gym.rule`. The result is at
    least 0, and higher than the rule's for rates below 4 bps.
    """
    names = specification.interval_features
    places = {
        "rate": [names.index(rule.RATE) + age * len(names) for age in range(specification.rule_window)],
        "queue": [names.index(rule.QUEUE)],
        "received": [names.index(rule.RECEIVED)],
        "target": [names.index(rule.TARGET)],
    }
    atoms = list(_ATOMS)
    weight, bias = np.zeros((specification.observation_size, len(atoms))), np.zeros(len(atoms))
    for column, atom in enumerate(_ATOMS.values()):
        for term, factor in atom.items():
            if term == "one":
                bias[column] = factor
            else:
                weight[places[term], column] = factor / len(places[term])
    positive = graph.clip(graph.gemm("observation", "rule_atoms", weight, bias), 1.0, GATE**1.25)
    members = max(len(case) for case in _CASES)
    products = np.zeros((len(atoms), len(_CASES), members))
    for row, case in enumerate(_CASES):
        for column in range(members):
            # A case with fewer members repeats its last one.
            for name in case[min(column, len(case) - 1)]:
                products[atoms.index(name), row, column] = 1.0
    size = len(_CASES) * members
    logarithms = graph.gemm(
        graph.node("Log", positive), "rule_cases", products.reshape(len(atoms), size), np.zeros(size)
    )
    shape = graph.constant("rule_shape", np.array([1, len(_CASES), members], dtype=np.int64))
    cases = graph.node("ReduceMin", graph.node("Reshape", logarithms, shape), axes=[2], keepdims=0)
    return graph.node("ReduceMax", cases, axes=[1], keepdims=1)


def _scaled(graph: GraphBuilder, specification: EnvironmentSpecification, reference: str) -> str:
    """Computes the scaled observation, (1, observation_size); see `Scaling`."""
    vectors = {
        name: graph.constant(f"scaling.{name}", values) for name, values in scaling_vectors(specification).items()
    }
    shifted = graph.node("Add", "observation", vectors["shift"])
    logarithm = graph.node("Log", graph.node("Max", shifted, vectors["floor"]))
    power = graph.node("Exp", graph.node("Mul", logarithm, vectors["power"]))
    slope = graph.node("Tanh", graph.node("Mul", "observation", vectors["slope"]))
    terms = graph.node(
        "Sum",
        graph.node("Mul", logarithm, vectors["logarithm"]),
        graph.node("Mul", power, vectors["power_gain"]),
        slope,
        vectors["offset"],
    )
    return graph.clip(graph.node("Gemm", reference, vectors["reference"], terms), -INPUT_LIMIT, INPUT_LIMIT)


def _layers(graph: GraphBuilder, value: str, layers: Mapping[str, nn.Module]) -> str:
    """Adds linear layers and activations by name, in their order."""
    for name, layer in layers.items():
        if isinstance(layer, nn.Linear):
            parameters = (
                graph.constant(f"{name}.{kind}", getattr(layer, kind).detach().numpy()) for kind in ("weight", "bias")
            )
            value = graph.node("Gemm", value, *parameters, transB=1)
        elif isinstance(layer, nn.Tanh):
            value = graph.node("Tanh", value)
        elif isinstance(layer, nn.ReLU):
            value = graph.node("Relu", value)
        else:
            raise TypeError(f"{name}: there is no node for a {type(layer).__name__}")
    return value
