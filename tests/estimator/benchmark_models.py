"""Models of the size of real ones, with random weights, which `make bench` times beside the shipped model.

A model decides in three steps: it scales the observation, a network computes an action from -1 to 1, and the action
becomes a rate around that of the ten-line rule. The models here have the first and the last step of the shipped model,
so that they differ from it in the network alone:

- `dense_million`: two wide layers, with a million weights. Weir itself computes it.
- `lstm_sized`: LSTM layers of the size of Muses' teacher. ONNX Runtime computes it and the next one.
- `muses_sized`: decision trees as Muses has them, one for each kind of path.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper
from tree_models import OPSETS, Grown, tree_node

SHIPPED = Path(__file__).parents[2] / "estimator" / "models" / "weir.onnx"

# Turns any difference between two floats into a large number; a power of two, so that it causes no rounding.
GATE = 2.0**80

# From a model without metadata, kind of action and further keys of the metadata to the file.
Finish = Callable[..., bytes]


def benchmark_models(finish: Finish) -> dict[str, bytes]:
    """Returns the files by name."""
    return {
        "dense_million": dense_model(finish, widths=(1024, 768)),
        "lstm_sized": lstm_model(finish, layers=2, units=256),
        "muses_sized": muses_model(finish),
    }


class Graph:
    """The first step of the shipped model, to which nodes are added one by one; `model` adds the last step.

    Attributes:
        scaled: name of the scaled observation, (1, `observation_size`).
        rule: name of the rule's rate, (1, 1).
        history: intervals of an observation.
        interval_features: features of each.
        random: source of all weights.
    """

    def __init__(self, seed: int) -> None:
        shipped = onnx.load(SHIPPED)
        self.random = np.random.default_rng(seed)
        self.observation_size = int(shipped.graph.input[0].type.tensor_type.shape.dim[1].dim_value)
        keys = {entry.key.removeprefix("weir."): entry.value for entry in shipped.metadata_props}
        self.metadata = {key: keys[key] for key in ("features", "history", "interval_ms")}
        # An observation has the features of each interval of the history, newest first, and those of the path.
        self.history = int(keys["history"])
        self.interval_features = self.observation_size // self.history
        nodes = list(shipped.graph.node)
        # The shipped network begins with the concatenation of its inputs, and the last three nodes make the rate.
        begin = next(index for index, node in enumerate(nodes) if node.op_type == "Concat")
        self.scaled, self.rule, _ = nodes[begin].input
        self._nodes = nodes[:begin]
        self._last_step = nodes[-3:]
        self._constants = list(shipped.graph.initializer)

    def constant(self, values: ArrayLike) -> str:
        """Adds a constant, of float32 unless the values are int64, and returns its name."""
        array = np.asarray(values)
        array = array if array.dtype == np.int64 else array.astype(np.float32)
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and returns the name of its output."""
        output = f"{operator.lower()}_of_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def gemm(self, row: str, weights: ArrayLike, bias: ArrayLike | None = None) -> str:
        """Computes row * weights + bias."""
        matrix = np.asarray(weights)
        return self.node(
            "Gemm", row, self.constant(matrix), self.constant(np.zeros(matrix.shape[1]) if bias is None else bias)
        )

    def layer(self, row: str, inputs: int, outputs: int) -> str:
        """Computes a dense layer of random weights."""
        return self.gemm(row, self.weights(inputs, outputs))

    def weights(self, inputs: int, outputs: int) -> NDArray[np.float64]:
        """Returns random weights that keep the size of values."""
        return self.random.normal(0, inputs**-0.5, (inputs, outputs))

    def zero_to_one(self, row: str) -> str:
        """Clips a row. With GATE before it, this is 1 for positive elements and 0 for all others."""
        return self.node("Clip", row, self.constant(0.0), self.constant(1.0))

    def part(self, row: str, first: int, end: int) -> str:
        """Selects the columns [first, end)."""
        return self.node("Slice", row, *(self.constant(np.array([place])) for place in (first, end, 1)))

    def tree(self, row: str, grown: Grown) -> str:
        """Adds a decision tree."""
        self._nodes.append(tree_node(row, "answer", grown.attributes()))
        return "answer"

    def model(self, finish: Finish, name: str, action: str, next_state: tuple[str, int] | None = None) -> bytes:
        """Returns the file; `next_state` is a row and its size."""
        self._last_step[0].input[0] = action
        nodes = [*self._nodes, *self._last_step]
        inputs = [_row("observation", self.observation_size), _row("objective", 3)]
        outputs = [_row("action", 1)]
        if next_state is not None:
            row, size = next_state
            nodes.append(helper.make_node("Concat", [row], ["next_state"], axis=1))
            inputs.append(_row("state", size))
            outputs.append(_row("next_state", size))
        nodes = _needed(nodes, {output.name for output in outputs})
        used = {value for node in nodes for value in node.input}
        constants = [constant for constant in self._constants if constant.name in used]
        graph = helper.make_graph(nodes, name, inputs, outputs, constants)
        opsets = [helper.make_opsetid(*opset) for opset in OPSETS]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return finish(model, "rate_bps", name=name, **self.metadata)


def _needed(nodes: list[onnx.NodeProto], values: set[str]) -> list[onnx.NodeProto]:
    """Returns the nodes, in their order, from which `values` are computed."""
    kept = []
    for node in reversed(nodes):
        if node.output[0] in values:
            kept.append(node)
            values = values | set(node.input)
    return kept[::-1]


def _row(name: str, size: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])


def dense_model(finish: Finish, widths: tuple[int, ...]) -> bytes:
    """Layers of these widths over all that the shipped network receives."""
    graph = Graph(seed=3)
    row, size = graph.node("Concat", graph.scaled, graph.rule, "objective", axis=1), graph.observation_size + 4
    for width in widths:
        row, size = graph.node("Tanh", graph.layer(row, size, width)), width
    return graph.model(finish, "dense", graph.node("Tanh", graph.layer(row, size, 1)))


def lstm_model(finish: Finish, layers: int, units: int) -> bytes:
    """LSTM layers over the newest interval, in the operators of trainer/weir_train/model/graph_builder.py. The state
    has the outputs of all layers, then their cells.
    """
    graph = Graph(seed=2)
    newest = graph.part(graph.scaled, 0, graph.interval_features)
    row, size = graph.node("Concat", newest, graph.rule, "objective", axis=1), graph.interval_features + 4
    outputs, cells = [], []
    for layer in range(layers):
        output = graph.part("state", units * layer, units * (layer + 1))
        cell = graph.part("state", units * (layers + layer), units * (layers + layer + 1))
        gates = graph.node("Add", graph.layer(row, size, 4 * units), graph.layer(output, units, 4 * units))
        write, keep, candidate, show = (graph.part(gates, units * gate, units * (gate + 1)) for gate in range(4))
        written = graph.node("Mul", graph.node("Sigmoid", write), graph.node("Tanh", candidate))
        cells.append(graph.node("Add", graph.node("Mul", graph.node("Sigmoid", keep), cell), written))
        row, size = graph.node("Mul", graph.node("Sigmoid", show), graph.node("Tanh", cells[-1])), units
        outputs.append(row)
    next_state = graph.node("Concat", *outputs, *cells, axis=1), 2 * layers * units
    return graph.model(finish, "lstm", graph.node("Tanh", graph.layer(row, size, 1)), next_state)


# The size of Muses: a tree of LEAVES leaves for each of KINDS kinds of path, and one for a call whose kind is not known
# yet. The kind is chosen every PERIOD decisions, from a histogram of SEGMENTS segments on each of AXES axes.
KINDS, LEAVES, PERIOD = 15, 500, 100
AXES, SEGMENTS = 3, 10
HISTOGRAM = AXES * SEGMENTS
# The state: the histogram, the number of decisions that it has, and the kind.
COUNT, KIND, STATE = HISTOGRAM, HISTOGRAM + 1, HISTOGRAM + 2


def muses_model(finish: Finish) -> bytes:
    """Decision trees, as papers/weir_papers/muses/onnx_model.py writes them. The trees are one, which splits by kind
    first.
    """
    graph = Graph(seed=1)
    segments = _segments(graph)
    counted = graph.node("Gemm", segments, graph.constant(_segments_to_state()), "state")
    next_state = _with_chosen_kind(graph, counted)
    kind = graph.gemm(next_state, np.eye(STATE)[:, [KIND]])
    row = graph.node("Concat", graph.scaled, _means(graph), graph.rule, "objective", kind, axis=1)
    numbers = graph.observation_size + graph.interval_features + 4
    thresholds = [graph.random.uniform(-1, 1, 100).astype(np.float32) for _ in range(numbers)]
    grown = Grown()
    grown.choice(numbers, range(KINDS + 1), lambda: grown.random(graph.random, LEAVES, thresholds))
    return graph.model(finish, "muses", graph.tree(row, grown), (next_state, STATE))


def _means(graph: Graph) -> str:
    """Computes the mean of each feature over the history."""
    means = np.zeros((graph.observation_size, graph.interval_features))
    means[: graph.history * graph.interval_features] = np.tile(
        np.eye(graph.interval_features) / graph.history, (graph.history, 1)
    )
    return graph.gemm(graph.scaled, means)


def _segments(graph: Graph) -> str:
    """Computes 1 for the segment of each axis in which the observation is, else 0: (1, HISTOGRAM)."""
    edges = SEGMENTS - 1
    axes = graph.layer(graph.scaled, graph.observation_size, AXES)
    above_edge = graph.zero_to_one(
        graph.gemm(
            axes, np.kron(np.eye(AXES), np.full((1, edges), GATE)), -GATE * np.tile(np.linspace(-2, 2, edges), AXES)
        )
    )
    # A segment is above its lower edge, and not above its upper one. The first has no lower edge.
    inside = np.eye(edges, SEGMENTS, 1) - np.eye(edges, SEGMENTS)
    return graph.gemm(above_edge, np.kron(np.eye(AXES), inside), np.tile(np.eye(1, SEGMENTS)[0], AXES))


def _segments_to_state() -> NDArray[np.float64]:
    """Returns the matrix that counts segments in a state; a decision has one segment of the first axis."""
    matrix = np.eye(HISTOGRAM, STATE)
    matrix[:SEGMENTS, COUNT] = 1.0
    return matrix


def _with_chosen_kind(graph: Graph, counted: str) -> str:
    """Computes the next state: `counted`, or after PERIOD decisions an empty histogram and the kind with the highest
    score.
    """
    is_due = graph.zero_to_one(graph.gemm(counted, GATE * np.eye(STATE)[:, [COUNT]], [-GATE * (PERIOD - 0.5)]))
    weights = np.zeros((STATE, KINDS))
    weights[:HISTOGRAM] = graph.random.normal(0, 1, (HISTOGRAM, KINDS))
    scores = graph.gemm(counted, weights)
    highest = graph.node("ReduceMax", scores, axes=[1], keepdims=1)
    behind = graph.node("Gemm", highest, graph.constant(-np.ones((1, KINDS))), scores)
    is_highest = graph.zero_to_one(graph.gemm(behind, GATE * np.eye(KINDS), np.ones(KINDS)))
    kind_before = graph.gemm(counted, np.eye(STATE)[:, [KIND]])
    kind = graph.gemm(is_highest, np.arange(1.0, KINDS + 1)[:, None])
    change = graph.node("Mul", is_due, graph.node("Add", kind, graph.gemm(kind_before, [[-1.0]])))
    kept = graph.gemm(is_due, np.eye(STATE)[[KIND]] - 1.0, np.ones(STATE))
    return graph.node("Gemm", change, graph.constant(np.eye(STATE)[[KIND]]), graph.node("Mul", counted, kept))
