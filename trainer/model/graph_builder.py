"""Builds an ONNX graph node by node: rows of float32 in, rows out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET: Final = 17
IR_VERSION: Final = 8
# Makes any difference between two floats a large number, and, as a power of two, rounds nothing.
GATE: Final = 2.0**80


class GraphBuilder:
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

    def part(self, value: str, first: int, end: int) -> str:
        """The columns `first` to `end` of a row."""
        bounds = (self.constant(f"column_{column}", np.array([column], dtype=np.int64)) for column in (first, end, 1))
        return self.node("Slice", value, *bounds)

    def model(self, inputs: Mapping[str, int], outputs: Mapping[str, tuple[str, int]]) -> onnx.ModelProto:
        """What was collected.

        Args:
            inputs: width of each.
            outputs: of each the name of the value that it is, and its width.
        """
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


def _row(name: str, width: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])
