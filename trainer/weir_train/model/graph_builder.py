"""Builds an ONNX graph node by node, on rows of float32, with operators that the library allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

OPSET: Final = 17
IR_VERSION: Final = 8
# Turns any difference between two floats into a large number; a power of two, so that it causes no rounding.
GATE: Final = 2.0**80


class GraphBuilder:
    """Collects nodes and initializers, and names nodes in the order in which they are added."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, np.ndarray] = {}

    def constant(self, name: str, values: Any) -> str:
        """Adds an initializer and returns its name; floats become float32."""
        array = np.asarray(values)
        self._constants[name] = array if array.dtype == np.int64 else array.astype(np.float32)
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node with one output and returns the output's name."""
        output = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def gemm(self, value: str, name: str, weight: Any, bias: Any) -> str:
        """Computes value * weight + bias, (1, n) times (n, m)."""
        return self.node("Gemm", value, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias))

    def clip(self, value: str, low: float, high: float) -> str:
        """Clips elements to [low, high]."""
        bounds = (self.constant(f"bound_{bound!r}", np.float32(bound)) for bound in (float(low), float(high)))
        return self.node("Clip", value, *bounds)

    def part(self, value: str, first: int, end: int) -> str:
        """Selects the columns [first, end) of a row."""
        bounds = (self.constant(f"column_{column}", np.array([column], dtype=np.int64)) for column in (first, end, 1))
        return self.node("Slice", value, *bounds)

    def model(self, inputs: Mapping[str, int], outputs: Mapping[str, tuple[str, int]]) -> onnx.ModelProto:
        """Returns the collected nodes as a model."""
        names = {value: name for name, (value, _) in outputs.items()}
        for node in self._nodes:
            node.input[:] = [names.get(value, value) for value in node.input]
            node.output[:] = [names.get(value, value) for value in node.output]
        graph = helper.make_graph(
            self._nodes,
            "weir",
            [_row(name, width) for name, width in inputs.items()],
            [_row(name, width) for name, (_, width) in outputs.items()],
            [numpy_helper.from_array(values, name) for name, values in self._constants.items()],
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, producer_name="weir", opset_imports=[opset], ir_version=IR_VERSION)


def recurrent_nodes(graph: GraphBuilder, inputs: str, cells: nn.LSTM) -> tuple[str, str]:
    """Adds a step of all LSTM layers from the model's input `state`, as in `RecurrentActor`. Returns the output of the
    last layer, and the next state.
    """
    size, layers = cells.hidden_size, cells.num_layers
    outputs, after = [], []
    for layer in range(layers):
        output, cell = (graph.part("state", size * part, size * (part + 1)) for part in (layer, layers + layer))
        gates = []
        for value, kind in ((inputs, "ih"), (output, "hh")):
            weight, bias = (
                graph.constant(f"actor.cells.{name}", getattr(cells, name).detach().numpy())
                for name in (f"weight_{kind}_l{layer}", f"bias_{kind}_l{layer}")
            )
            gates.append(graph.node("Gemm", value, weight, bias, transB=1))
        gate = graph.node("Add", *gates)
        parts = [graph.part(gate, size * part, size * (part + 1)) for part in range(4)]
        take, keep, give = (graph.node("Sigmoid", parts[part]) for part in (0, 1, 3))
        new_memory = graph.node("Mul", take, graph.node("Tanh", parts[2]))
        after.append(graph.node("Add", graph.node("Mul", keep, cell), new_memory))
        inputs = graph.node("Mul", give, graph.node("Tanh", after[-1]))
        outputs.append(inputs)
    return inputs, graph.node("Concat", *outputs, *after, axis=1)


def level_nodes(graph: GraphBuilder, scores: str, levels: torch.Tensor) -> str:
    """Computes the mean of levels (L, 1) under the softmax of their scores."""
    highest = graph.node("ReduceMax", scores, axes=[1], keepdims=1)
    weights = graph.node("Exp", graph.node("Sub", scores, highest))
    total = graph.node("Gemm", weights, graph.constant("head.ones", np.ones(levels.shape)))
    weighted = graph.node("Gemm", weights, graph.constant("head.levels", levels.numpy()))
    return graph.node("Div", weighted, total)


def _row(name: str, width: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])
