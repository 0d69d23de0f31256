"""Random graphs of the operators that a policy may use, with numbers that nobody means: what the loader takes is what
ONNX Runtime computes, within the loader's bounds, and on a small stack.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnxruntime
import pytest
from make_test_models import OBSERVATION, build, floats, metadata
from onnx import TensorProto, helper, numpy_helper
from tree_models import OPSETS, Grown, tree_node

from weir import _core

NUMBERS = (0, 1, 1, 1, 2, -1, -2, 3, 2**31, 2**32, 2**32 + 1, 2**62, 2**63 - 1, -(2**63))
STACK_BYTES = 256 << 10
# As in the loader.
MOST_TENSOR_BYTES = 1 << 20
LONGEST_LOAD_S = 2.0

# An action that no model here gives: the last check refuses what all others took.
GOLDEN = '[{"observation": [1, 1, 1, 1, 1, 1], "action": [9]}]'

Shape = tuple[int, ...]


class Graph:
    """Grows by one operator at a time; `shapes` are those that a careful reader expects."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[TensorProto] = []
        self.shapes: dict[str, Shape] = {"observation": (1, OBSERVATION)}

    def number(self) -> int:
        return self.chance.choice(NUMBERS)

    def constant(self, *shape: int) -> str:
        self.constants.append(numpy_helper.from_array(np.full(shape, 0.5, np.float32), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def integers(self, values: Sequence[int]) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.int64), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def add(self, operator: str, inputs: Sequence[str], shape: Shape, **attributes: object) -> None:
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        self.shapes[output] = tuple(int(size) for size in shape)

    def grow(self) -> None:
        value = self.chance.choice(list(self.shapes)[-3:])
        self.chance.choice(OPERATORS)(self, value, self.shapes[value])

    def elementwise(self, value: str, shape: Shape) -> None:
        self.add(self.chance.choice(("Abs", "Neg", "Sigmoid", "Tanh", "Relu", "Identity")), [value], shape)

    def broadcast(self, value: str, shape: Shape) -> None:
        """With an earlier value that fits, or with a constant that may make it larger."""
        others = [name for name, other in self.shapes.items() if _broadcast(shape, other)]
        if self.chance.random() < 0.5:
            wide = [self.chance.choice((1, size, 7 if size == 1 else size)) for size in shape]
            other_shape = (*([3] * self.chance.randrange(2)), *wide)
            other = self.constant(*other_shape)
        else:
            other = self.chance.choice(others)
            other_shape = self.shapes[other]
        made = _broadcast(shape, other_shape) or shape
        self.add(self.chance.choice(("Add", "Mul", "Sub", "Max", "Min", "Sum")), [value, other], made)

    def concat(self, value: str, shape: Shape) -> None:
        count, axis = self.chance.randint(1, 4), self.chance.randrange(-len(shape), len(shape)) if shape else 0
        made = tuple(size * count if i == axis % len(shape) else size for i, size in enumerate(shape))
        self.add("Concat", [value] * count, made, axis=self.chance.choice((axis, axis, axis, self.number())))

    def product(self, value: str, shape: Shape) -> None:
        if len(shape) < 2:
            return
        size = self.chance.randint(1, 64)
        if len(shape) == 2 and self.chance.random() < 0.5:
            self.add(
                "Gemm",
                [value, self.constant(shape[1], size)],
                (shape[0], size),
                transA=self.chance.choice((0, 0, self.number())),
            )
        else:
            self.add("MatMul", [value, self.constant(shape[-1], size)], (*shape[:-1], size))

    def reduce(self, value: str, shape: Shape) -> None:
        axes = self.chance.sample(range(len(shape)), self.chance.randint(1, len(shape))) if shape else [0]
        made = tuple(1 if i in axes else size for i, size in enumerate(shape))
        operator = self.chance.choice(("ReduceMax", "ReduceMin"))
        self.add(operator, [value], made, axes=axes, keepdims=self.chance.choice((1, 1, 1, self.number())))

    def reshape(self, value: str, shape: Shape) -> None:
        made = [*self.chance.sample(shape, len(shape)), *([1] * self.chance.randrange(2))]
        given = [self.chance.choice((size, size, size, 0, -1)) for size in made]
        self.add("Reshape", [value, self.integers(given or [1])], tuple(made))

    def slice(self, value: str, shape: Shape) -> None:
        if not shape:
            return
        axis = self.chance.randrange(len(shape))
        start, end, step = (self.chance.choice((kind, kind, self.number())) for kind in (0, shape[axis], 1))
        length = len(range(shape[axis])[slice(start, end, step or 1)])
        made = tuple(length if i == axis else size for i, size in enumerate(shape))
        inputs = [value, *(self.integers([number]) for number in (start, end, axis, step))]
        self.add("Slice", inputs, made)

    def unsqueeze(self, value: str, shape: Shape) -> None:
        axis = self.chance.randint(0, len(shape))
        self.add("Unsqueeze", [value, self.integers([axis])], (*shape[:axis], 1, *shape[axis:]))

    def tree(self, value: str, shape: Shape) -> None:
        if len(shape) != 2 or shape[0] != 1:
            return
        grown = Grown()
        grown.chain(self.chance.choice((2, 10, 127, 128, 129, 3000)))
        self.nodes.append(tree_node(value, f"v{len(self.nodes)}", grown.attributes()))
        self.shapes[self.nodes[-1].output[0]] = (1, 1)

    def model(self) -> onnx.ModelProto:
        """All that it made goes into one number."""
        last = list(self.shapes)[-1]
        nodes = [
            *self.nodes,
            helper.make_node("ReduceMax", [last], ["largest"], keepdims=1),
            helper.make_node("Reshape", ["largest", "one"], ["scalar"]),
            helper.make_node("Tanh", ["scalar"], ["action"]),
        ]
        one = numpy_helper.from_array(np.asarray([1, 1], np.int64), "one")
        inputs, outputs = [floats("observation", 1, OBSERVATION)], [floats("action", 1, 1)]
        return build(nodes, inputs, outputs, [*self.constants, one], opsets=OPSETS)


OPERATORS: tuple[Callable[[Graph, str, Shape], None], ...] = (
    Graph.elementwise,
    Graph.broadcast,
    Graph.broadcast,
    Graph.concat,
    Graph.product,
    Graph.reduce,
    Graph.reshape,
    Graph.slice,
    Graph.unsqueeze,
    Graph.tree,
)


def _broadcast(one: Shape, other: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        return None


def refusal_of(model: onnx.ModelProto) -> str | None:
    """Why it is refused, on a small stack and in a bounded time; None when it is taken."""
    told: list[str | None] = []

    def load() -> None:
        try:
            _core.Policy(model.SerializeToString())
            told.append(None)
        except ValueError as error:
            told.append(str(error))

    before_s = time.process_time()
    size_before = threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    threading.stack_size(size_before)
    assert time.process_time() - before_s < LONGEST_LOAD_S
    return told[0]


def computed_shapes(model: onnx.ModelProto) -> dict[str, Shape]:
    """The shapes that ONNX Runtime computes."""
    every = onnx.ModelProto()
    every.CopyFrom(model)
    names = [node.output[0] for node in model.graph.node[:-1]]
    every.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(every.SerializeToString(), options, providers=["CPUExecutionProvider"])
    made = session.run(names, {"observation": np.ones((1, OBSERVATION), np.float32)})
    return {name: value.shape for name, value in zip(names, made, strict=True)}


@pytest.mark.parametrize("seed", range(8))
def test_what_the_loader_takes_is_what_onnx_runtime_computes(seed: int) -> None:
    chance = random.Random(seed)
    taken = 0
    for _ in range(100):
        graph = Graph(chance)
        while len(graph.nodes) < 6:
            graph.grow()
        model = graph.model()
        helper.set_model_props(model, metadata("log_rate", golden=GOLDEN))
        refusal = refusal_of(model)
        assert refusal is not None
        if "golden vector 0 gives" not in refusal:
            continue
        taken += 1
        shapes = computed_shapes(model)
        assert max(4 * int(np.prod(shape)) for shape in shapes.values()) <= MOST_TENSOR_BYTES
        # Declared shapes that it sees otherwise are refused.
        model.graph.value_info.extend(
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
        )
        assert refusal_of(model) == refusal
    assert taken >= 15
