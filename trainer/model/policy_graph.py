"""The ONNX graph of a deployed policy, written node by node.

Few nodes, of few operators: the whole observation is scaled as one vector, and the rule is a few products instead of a
case distinction. The library computes these operators by itself (`estimator/src/policy/network_plan.cc`); another one
here needs a step there, or the model is left to ONNX Runtime, which spends 0.2 us on a node however little it computes.
Parameters keep the names and values they have in `DeployedPolicy`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from weir.trainer.gym import rule
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.policies.feature_scaling import (
    ABSOLUTE_RATE_SCALE,
    INPUT_LIMIT,
    MINIMUM_RATE_BPS,
    REFERENCE_RATE_BPS,
    FeatureScaling,
    scaling_vectors,
)
from weir.trainer.policies.networks import DeployedPolicy
from weir.trainer.policies.off_policy import SaturationLimit

OPSET: Final = 17
IR_VERSION: Final = 8

# Makes any difference between two floats a large number, and, as a power of two, rounds nothing.
_GATE: Final = 2.0**80
# Whatever is a number of packets above 0 is above this.
_SOME_PACKETS: Final = 2.0**-20
_QUEUE_THRESHOLD: Final = np.float32(rule.QUEUE_THRESHOLD_S)
_BELOW_THRESHOLD: Final = np.nextafter(_QUEUE_THRESHOLD, np.float32(0))

# What the rule's cases are made of: linear in rate, queue, received, target and 1, cut to 1 and more. A gate is
# enormous where its case holds and 1 where it does not.
_ATOMS: Final[dict[str, Mapping[str, float]]] = {
    "target": {"target": 1.0},
    "grown_target": {"target": rule.INCREASE_FACTOR},
    "headroom": {"rate": rule.HEADROOM_FACTOR, "one": rule.HEADROOM_BPS},
    "least_drained": {"rate": rule.MINIMUM_BACKOFF},
    "drained_more": {
        "queue": -1.0 / rule.QUEUE_SCALE_S / rule.MINIMUM_BACKOFF,
        "one": (1.0 + rule.QUEUE_TARGET_S / rule.QUEUE_SCALE_S) / rule.MINIMUM_BACKOFF,
    },
    "idle_target": {"target": rule.NO_ARRIVAL_FACTOR},
    "if_no_queue": {"queue": -_GATE, "one": _GATE * float(_QUEUE_THRESHOLD)},
    "if_queue": {"queue": _GATE, "one": -_GATE * float(_BELOW_THRESHOLD)},
    "if_arrivals": {"received": _GATE},
    "if_silence": {"received": -_GATE, "one": _GATE * _SOME_PACKETS},
}
# The rule is the largest of these; each is the smallest of its members, and a member is a product of atoms.
_CASES: Final[tuple[tuple[tuple[str, ...], ...], ...]] = (
    (("target",), ("if_no_queue",), ("if_arrivals",)),
    (("grown_target",), ("headroom",), ("if_no_queue",), ("if_arrivals",)),
    (("least_drained", "drained_more"), ("if_queue",), ("if_arrivals",)),
    (("idle_target",), ("if_silence",)),
)


def policy_graph(deployed: DeployedPolicy, specification: EnvironmentSpecification) -> onnx.ModelProto:
    """The model: `observation` (1, D) and `objective` (1, 3) to `action` (1, 1), as `DeployedPolicy` computes it. The
    same policy gives the same model.
    """
    graph = _Graph()
    log_rule = _log_rule(graph, deployed.scaling) if deployed.scaling.knows_rule else None
    if log_rule is None:
        reference = graph.constant("reference", [[math.log(REFERENCE_RATE_BPS)]])
    else:
        reference = graph.node("Max", log_rule, graph.constant("minimum_rate", math.log(MINIMUM_RATE_BPS)))
    scaled = _scaled(graph, specification, reference)
    absolute = graph.gemm(
        reference, "absolute", [[ABSOLUTE_RATE_SCALE]], [-ABSOLUTE_RATE_SCALE * math.log(REFERENCE_RATE_BPS)]
    )
    layers = {name: module for name, module in deployed.named_modules() if not list(module.children())}
    del layers["scaling"]
    preference = {name: layers.pop(name) for name in list(layers) if ".preference." in name}
    inputs = graph.node("Concat", scaled, absolute, _layers(graph, "objective", preference), axis=1)
    action = graph.clip(_layers(graph, inputs, layers), -1.0, 1.0)
    if specification.action.kind == "around_rule":
        assert log_rule is not None
        span = graph.constant("log_span", [[math.log(specification.action.span)]])
        log_rate = graph.node("Gemm", action, span, log_rule)
        action = graph.clip(graph.node("Exp", log_rate), specification.action.min_bps, specification.action.max_bps)
    return graph.model(specification.observation_size, action)


class _Graph:
    """Collects nodes and initialisers; everything is named in the order in which it comes."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, np.ndarray] = {}

    def constant(self, name: str, values: Any) -> str:
        """An initialiser; floats become float32."""
        array = np.asarray(values)
        self._constants[name] = array if array.dtype == np.int64 else array.astype(np.float32)
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output, whose name is returned."""
        output = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def gemm(self, value: str, name: str, weight: Any, bias: Any) -> str:
        """value * weight + bias, (1, n) times (n, m)."""
        return self.node("Gemm", value, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias))

    def clip(self, value: str, low: float, high: float) -> str:
        """Elements cut to low and high."""
        bounds = (self.constant(f"bound_{bound!r}", np.float32(bound)) for bound in (float(low), float(high)))
        return self.node("Clip", value, *bounds)

    def model(self, observation_size: int, action: str) -> onnx.ModelProto:
        """What was collected; `action` is the name of what becomes the output."""
        self._nodes[-1].output[0] = "action"
        assert self._nodes[-1].name == action
        graph = helper.make_graph(
            self._nodes,
            "weir",
            [
                helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, observation_size]),
                helper.make_tensor_value_info("objective", TensorProto.FLOAT, [1, 3]),
            ],
            [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, 1])],
            [numpy_helper.from_array(values, name) for name, values in self._constants.items()],
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, producer_name="weir", opset_imports=[opset], ir_version=IR_VERSION)


def _log_rule(graph: _Graph, scaling: FeatureScaling) -> str:
    """The logarithm of what the ten-line rule would answer in bps, (1, 1); see `weir.trainer.gym.rule`. Rates below 1
    bps count as that.
    """
    names = scaling.features
    places = {
        "rate": [names.index(rule.RATE) + age * len(names) for age in range(scaling.window)],
        "queue": [names.index(rule.QUEUE)],
        "received": [names.index(rule.RECEIVED)],
        "target": [names.index(rule.TARGET)],
    }
    atoms = list(_ATOMS)
    weight, bias = np.zeros((scaling.specification.observation_size, len(atoms))), np.zeros(len(atoms))
    for column, atom in enumerate(_ATOMS.values()):
        for term, factor in atom.items():
            if term == "one":
                bias[column] = factor
            else:
                weight[places[term], column] = factor / len(places[term])
    positive = graph.clip(graph.gemm("observation", "rule_atoms", weight, bias), 1.0, _GATE**1.25)
    members = max(len(case) for case in _CASES)
    products = np.zeros((len(atoms), len(_CASES), members))
    for row, case in enumerate(_CASES):
        for column in range(members):
            # A case with fewer members repeats its last.
            for name in case[min(column, len(case) - 1)]:
                products[atoms.index(name), row, column] = 1.0
    size = len(_CASES) * members
    logarithms = graph.gemm(
        graph.node("Log", positive), "rule_cases", products.reshape(len(atoms), size), np.zeros(size)
    )
    shape = graph.constant("rule_shape", np.array([1, len(_CASES), members], dtype=np.int64))
    cases = graph.node("ReduceMin", graph.node("Reshape", logarithms, shape), axes=[2], keepdims=0)
    return graph.node("ReduceMax", cases, axes=[1], keepdims=1)


def _scaled(graph: _Graph, specification: EnvironmentSpecification, reference: str) -> str:
    """The scaled observation, (1, observation_size); see `Scaling`."""
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


def _layers(graph: _Graph, value: str, layers: Mapping[str, nn.Module]) -> str:
    """Linear layers and activations by name, in their order."""
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
        elif not isinstance(layer, SaturationLimit):
            raise TypeError(f"{name}: there is no node for a {type(layer).__name__}")
    return value
