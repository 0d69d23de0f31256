"""Models of the size of real ones, with random weights: what `make bench` times beside the shipped model.

Both see what the shipped model sees, scaled as it has it, and answer around its rule: its graph but for its network.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper
from tree_models import OPSETS, Grown, tree_node

SHIPPED = Path(__file__).parents[2] / "estimator" / "models" / "weir.onnx"

# Trees of a mixture as Muses has it, and one for all paths beside them.
KINDS, LEAVES = 15, 500
AXES, SEGMENTS = 3, 10
# Decisions between two choices of a tree.
PERIOD = 100
# Makes any difference between two floats a large number, and, as a power of two, rounds nothing.
LARGE = 2.0**80

# From a model without metadata, kind of action and further keys of the metadata to the file.
Finish = Callable[..., bytes]


class _Around:
    """The shipped model with another network in it."""

    def __init__(self, seed: int) -> None:
        self._model = onnx.load(SHIPPED)
        self._chance = np.random.default_rng(seed)
        graph = self._model.graph
        middle = next(index for index, node in enumerate(graph.node) if node.op_type == "Concat")
        # The observation, scaled, and the rule's rate; the third is the objective's own layer.
        self.scaled, self.absolute, _ = graph.node[middle].input
        self._tail = list(graph.node)[-3:]
        before = [node for node in graph.node[:middle] if not set(node.input) & {"objective"}]
        made = {"observation"} | {constant.name for constant in graph.initializer}
        self._nodes = []
        for node in before:
            if set(node.input) <= made:
                self._nodes.append(node)
                made |= set(node.output)
        self._outputs: list[tuple[str, int]] = []
        self._constants: list[TensorProto] = []

    def size(self) -> int:
        """Elements of the observation."""
        return int(self._model.graph.input[0].type.tensor_type.shape.dim[1].dim_value)

    def history(self) -> tuple[int, int]:
        """Features that are kept over the history, and intervals of it."""
        intervals = int(self.metadata()["history"])
        return self.size() // intervals, intervals

    def metadata(self) -> dict[str, str]:
        return {entry.key.removeprefix("weir."): entry.value for entry in self._model.metadata_props}

    def random(self, *shape: int) -> np.ndarray:
        return self._chance.normal(0, shape[0] ** -0.5, shape)

    @property
    def chance(self) -> np.random.Generator:
        return self._chance

    def constant(self, values: ArrayLike) -> str:
        return self._add(np.asarray(values, np.float32))

    def integers(self, *values: int) -> str:
        return self._add(np.asarray(values, np.int64))

    def _add(self, values: np.ndarray) -> str:
        self._constants.append(numpy_helper.from_array(values, f"number_{len(self._constants)}"))
        return self._constants[-1].name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        output = f"{operator}_of_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def gemm(self, value: str, weights: ArrayLike, bias: ArrayLike | str) -> str:
        """value * weights + bias."""
        added = bias if isinstance(bias, str) else self.constant(bias)
        return self.node("Gemm", value, self.constant(weights), added)

    def clip(self, value: str, low: float, high: float) -> str:
        return self.node("Clip", value, self.constant(low), self.constant(high))

    def tree(self, features: str, grown: Grown) -> str:
        self._nodes.append(tree_node(features, "answer", grown.attributes()))
        return "answer"

    def output(self, value: str, name: str, size: int) -> None:
        self._nodes.append(helper.make_node("Concat", [value], [name], axis=1))
        self._outputs.append((name, size))

    def file(self, finish: Finish, name: str, action: str, state: int) -> bytes:
        """With `action`, -1 to 1, around the rule."""
        inside = {node.output[0] for node in self._tail}
        first = next(node for node in self._tail if not set(node.input) & inside)
        first.input[0] = action

        def floats(tensor: str, size: int) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [1, size])

        used = {given for node in [*self._nodes, *self._tail] for given in node.input}
        kept = [constant for constant in self._model.graph.initializer if constant.name in used]
        graph = helper.make_graph(
            [*self._nodes, *self._tail],
            name,
            [floats("observation", self.size()), floats("objective", 3), floats("state", state)],
            [floats("action", 1), *(floats(*output) for output in self._outputs)],
            [*kept, *self._constants],
        )
        opsets = [helper.make_opsetid(*opset) for opset in OPSETS]
        described = self.metadata()
        keys = {key: described[key] for key in ("features", "history", "interval_ms")}
        return finish(helper.make_model(graph, opset_imports=opsets, ir_version=8), "rate_bps", name=name, **keys)


def benchmark_models(finish: Finish) -> dict[str, bytes]:
    """Name to file."""
    return {
        "muses_sized": _muses_sized(finish),
        # As Muses' teacher.
        "lstm_sized": _lstm_sized(finish, layers=2, units=256),
        "lstm_512": _lstm_sized(finish, layers=1, units=512),
    }


def _muses_sized(finish: Finish) -> bytes:
    """A tree for each of KINDS kinds of paths, and one for while the kind is not known. Which kind, is chosen every
    PERIOD decisions by where on AXES axes the observations since then were.

    The state is how many of them were in each of the SEGMENTS of each axis, how many there were, and the kind.
    """
    made = _Around(seed=1)
    places, edges = AXES * SEGMENTS, SEGMENTS - 1
    state = places + 2
    kept, intervals = made.history()
    means = np.zeros((made.size(), kept))
    for age in range(intervals):
        means[age * kept : (age + 1) * kept] = np.eye(kept) / intervals
    axes = made.gemm(made.scaled, made.random(made.size(), AXES), np.zeros(AXES))
    # For each edge between two segments 1 where the observation is above it; and from that 1 for its segment.
    above = np.kron(np.eye(AXES), np.full((1, edges), LARGE))
    thresholds = np.tile(np.linspace(-2, 2, edges), AXES)
    steps = made.clip(made.gemm(axes, above, -LARGE * thresholds), 0, 1)
    difference = np.eye(edges, SEGMENTS, 1) - np.eye(edges, SEGMENTS)
    here = made.gemm(steps, np.kron(np.eye(AXES), difference), np.tile(np.eye(1, SEGMENTS)[0], AXES))
    counts = made.node("Add", here, made.gemm("state", np.eye(state, places), np.zeros(places)))
    samples = made.gemm("state", np.eye(state, 1, -places), np.ones(1))
    before = made.gemm("state", np.eye(state, 1, -places - 1), np.zeros(1))
    due = made.clip(made.gemm(samples, [[LARGE]], [-LARGE * (PERIOD - 0.5)]), 0, 1)
    score = made.gemm(counts, made.random(places, KINDS), np.zeros(KINDS))
    best = made.node("ReduceMax", score, axes=[1], keepdims=1)
    beyond = made.gemm(best, -np.ones((1, KINDS)), score)
    chosen = made.clip(made.node("Add", made.node("Mul", beyond, made.constant(LARGE)), made.constant(1)), 0, 1)
    best_kind = made.gemm(chosen, np.arange(1, KINDS + 1)[:, None], np.zeros(1))
    kind = made.node("Add", before, made.node("Mul", due, made.gemm(before, [[-1]], best_kind)))
    going_on = made.gemm(due, -np.ones((1, places + 1)), np.ones(places + 1))
    sums = made.node("Mul", going_on, made.node("Concat", counts, samples, axis=1))
    made.output(made.node("Concat", sums, kind, axis=1), "next_state", state)
    features = [(made.scaled, made.size()), (made.gemm(made.scaled, means, np.zeros(kept)), kept)]
    features += [(made.absolute, 1), ("objective", 3), (kind, 1)]
    numbers = sum(size for _, size in features)
    thresholds_of = [made.chance.uniform(-1, 1, 100).astype(np.float32) for _ in range(numbers - 1)]
    grown = Grown()
    grown.choice(numbers - 1, range(KINDS + 1), lambda: grown.random(made.chance, LEAVES, thresholds_of))
    seen = made.node("Concat", *(name for name, _ in features), axis=1)
    return made.file(finish, "muses-sized", made.tree(seen, grown), state)


def _lstm_sized(finish: Finish, layers: int, units: int) -> bytes:
    """LSTM layers over the newest features. The state is cells and outputs of each layer."""
    made = _Around(seed=2)
    kept, _ = made.history()
    value = made.node("Slice", made.scaled, made.integers(0), made.integers(kept), made.integers(1))
    value, size = made.node("Concat", value, made.absolute, "objective", axis=1), kept + 4

    def part(of: str, index: int) -> str:
        return made.node(
            "Slice", of, made.integers(index * units), made.integers((index + 1) * units), made.integers(1)
        )

    states = []
    for layer in range(layers):
        cell, output = part("state", 2 * layer), part("state", 2 * layer + 1)
        gates = made.gemm(
            made.node("Concat", value, output, axis=1), made.random(size + units, 4 * units), np.zeros(4 * units)
        )
        keep, add, show = (made.node("Sigmoid", part(gates, index)) for index in range(3))
        new = made.node("Mul", add, made.node("Tanh", part(gates, 3)))
        cell = made.node("Add", made.node("Mul", keep, cell), new)
        value, size = made.node("Mul", show, made.node("Tanh", cell)), units
        states += [cell, value]
    made.output(made.node("Concat", *states, axis=1), "next_state", 2 * layers * units)
    action = made.node("Tanh", made.gemm(value, made.random(units, 1), np.zeros(1)))
    return made.file(finish, "lstm-sized", action, 2 * layers * units)
