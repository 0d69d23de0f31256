"""Models of decision trees, random ones and ones that no reader may take for a tree.

A tree is the attributes of a TreeEnsembleRegressor of ONNX's machine-learning operators, see `InspectOnnxTree` in
`src/onnx/onnx_inspection.h`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from hostile_models import GRAPH_FIELD, varint, whole
from hostile_models import field as wire_field
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

MACHINE_LEARNING = "ai.onnx.ml"
OPSETS = (("", 17), (MACHINE_LEARNING, 3))
# Outputs of leaves: multiples, as for actions relative to the rule.
LEVELS = np.linspace(-1, 1, 9, dtype=np.float32)

# The levels that a tree may have at most.
MOST_LEVELS = 128

# From a model without metadata, kind of action and further keys of the metadata to the file.
Finish = Callable[..., bytes]
Tree = dict[str, Any]


@dataclass
class Grown:
    """A tree in preorder: for each node its feature and threshold and its two children, or none and its answer."""

    features: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    children: list[tuple[int, int] | None] = field(default_factory=list)

    def split(self, feature: int, threshold: float, lower: Callable[[], int], higher: Callable[[], int]) -> int:
        place = self._add(feature, threshold)
        self.children[place] = (lower(), higher())
        return place

    def leaf(self, answer: float) -> int:
        return self._add(0, answer)

    def _add(self, feature: int, number: float) -> int:
        self.features.append(feature)
        self.numbers.append(float(np.float32(number)))
        self.children.append(None)
        return len(self.children) - 1

    def random(self, chance: np.random.Generator, leaves: int, thresholds: Sequence[NDArray[np.float32]]) -> int:
        """A tree of so many leaves that splits by any of `thresholds`, which has a list for each feature."""
        if leaves == 1:
            return self.leaf(float(chance.choice(LEVELS)))
        lower = 1 + int(chance.binomial(leaves - 2, chance.uniform(0.3, 0.7)))
        feature = int(chance.integers(len(thresholds)))
        return self.split(
            feature,
            float(chance.choice(thresholds[feature])),
            lambda: self.random(chance, lower, thresholds),
            lambda: self.random(chance, leaves - lower, thresholds),
        )

    def choice(self, feature: int, kinds: range, tree: Callable[[], int]) -> int:
        """A tree for each of the whole numbers that a feature can be."""
        if len(kinds) == 1:
            return tree()
        middle = len(kinds) // 2
        return self.split(
            feature,
            kinds[middle] - 0.5,
            lambda: self.choice(feature, kinds[:middle], tree),
            lambda: self.choice(feature, kinds[middle:], tree),
        )

    def chain(self, levels: int) -> None:
        """A tree of so many levels, with a leaf below each split but two below the last, all with their own answers."""
        for level in range(levels - 1):
            split = self._add(0, float(level))
            self.children[split] = (split + 1, split + 2)
            self.leaf(level / levels)
        self.leaf(1.0)

    def attributes(self) -> Tree:
        size = len(self.children)
        leaves = [place for place in range(size) if self.children[place] is None]
        children = [pair or (0, 0) for pair in self.children]
        return {
            "n_targets": 1,
            "aggregate_function": "SUM",
            "post_transform": "NONE",
            "nodes_treeids": [0] * size,
            "nodes_nodeids": list(range(size)),
            "nodes_modes": ["LEAF" if pair is None else "BRANCH_LEQ" for pair in self.children],
            "nodes_featureids": self.features,
            "nodes_values": [
                0.0 if pair is None else number for pair, number in zip(self.children, self.numbers, strict=True)
            ],
            "nodes_truenodeids": [lower for lower, _ in children],
            "nodes_falsenodeids": [higher for _, higher in children],
            "target_treeids": [0] * len(leaves),
            "target_nodeids": leaves,
            "target_ids": [0] * len(leaves),
            "target_weights": [self.numbers[leaf] for leaf in leaves],
        }


def tree_node(features: str, answer: str, tree: Mapping[str, Any]) -> onnx.NodeProto:
    return helper.make_node("TreeEnsembleRegressor", [features], [answer], domain=MACHINE_LEARNING, **tree)


def random_tree(seed: int, leaves: int, features: int) -> tuple[onnx.ModelProto, NDArray[np.float32]]:
    """A model without objective that shows its observation to a tree, and the thresholds of each feature."""
    chance = np.random.default_rng(seed)
    thresholds = (10.0 ** chance.uniform(-4, 7, (features, 20))).astype(np.float32)
    grown = Grown()
    grown.random(chance, leaves, list(thresholds))
    return tree_model(grown, features), thresholds


def chain_tree(levels: int, features: int) -> onnx.ModelProto:
    """The same with a tree of so many levels."""
    grown = Grown()
    grown.chain(levels)
    return tree_model(grown, features)


def tree_model(grown: Grown, features: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["observation", "one"], ["features"]),
            tree_node("features", "action", grown.attributes()),
        ],
        "tree",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, features])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, 1])],
        [numpy_helper.from_array(np.ones(1, np.float32), "one")],
    )
    opsets = [helper.make_opsetid(*opset) for opset in OPSETS]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def good_trees(finish: Finish, features: int) -> dict[str, bytes]:
    """Name to file."""
    tree = finish(random_tree(1, 200, features)[0], "log_rate")
    return {
        "tree": tree,
        "tree_packed": _packed(onnx.load_from_string(tree)),
        # The seed of fuzzers.
        "small_tree": finish(random_tree(2, 8, features)[0], "log_rate"),
        "deepest_tree": finish(chain_tree(MOST_LEVELS, features), "log_rate"),
    }


def _packed(model: onnx.ModelProto) -> bytes:
    """The file with the numbers of its last node's attributes in packed lists, which all parsers read too."""

    def attribute(content: onnx.AttributeProto) -> bytes:
        rest = onnx.AttributeProto()
        rest.CopyFrom(content)
        rest.ClearField("ints")
        rest.ClearField("floats")
        integers = b"".join(map(varint, content.ints))
        floats = np.asarray(content.floats, "<f4").tobytes()
        packed = (wire_field(number, numbers) for number, numbers in ((7, floats), (8, integers)) if numbers)
        return rest.SerializeToString() + b"".join(packed)

    def graph(content: bytes) -> bytes:
        rest = onnx.GraphProto()
        rest.ParseFromString(content)
        node = rest.node.pop()
        attributes = b"".join(wire_field(5, attribute(one)) for one in node.attribute)
        node.ClearField("attribute")
        return wire_field(GRAPH_FIELD, rest.SerializeToString() + wire_field(1, node.SerializeToString() + attributes))

    return whole(model, graph)


def refused_trees(finish: Finish, features: int) -> dict[str, bytes]:
    """Files by name; each is a valid model except for the fault in its name."""
    model, _ = random_tree(2, 8, features)
    good = finish(model, "log_rate")

    def changed(**changes: Any) -> bytes:
        """With other values of attributes; of lists with other elements, by their places."""
        model = onnx.load_from_string(good)
        attributes = {one.name: one for one in model.graph.node[-1].attribute}
        for name, change in changes.items():
            value = helper.get_attribute_value(attributes[name])
            if isinstance(change, dict):
                value = [change.get(place - len(value), change.get(place, old)) for place, old in enumerate(value)]
            else:
                value = change
            attributes[name].CopyFrom(helper.make_attribute(name, value))
        return model.SerializeToString()

    def imported(*versions: int) -> bytes:
        model = onnx.load_from_string(good)
        del model.opset_import[1:]
        model.opset_import.extend(helper.make_opsetid(MACHINE_LEARNING, version) for version in versions)
        return model.SerializeToString()

    extra = onnx.load_from_string(good)
    extra.graph.node[-1].attribute.append(helper.make_attribute("base_values", [1.0]))
    standard = onnx.load_from_string(good)
    standard.graph.node[-1].domain = ""
    nothing = float("nan")
    return {
        "tree_version": imported(1),
        "tree_no_version": imported(),
        "tree_versions": imported(3, 5),
        "tree_standard": standard.SerializeToString(),
        "tree_base_values": extra.SerializeToString(),
        "tree_two_targets": changed(n_targets=2),
        "tree_average": changed(aggregate_function="AVERAGE"),
        "tree_other_tree": changed(nodes_treeids={-1: 1}),
        "tree_mode": changed(nodes_modes={0: b"BRANCH_LT"}),
        "tree_ids": changed(nodes_nodeids={1: 2, 2: 1}),
        "tree_feature": changed(nodes_featureids={0: features}),
        "tree_threshold": changed(nodes_values={0: nothing}),
        "tree_cycle": changed(nodes_truenodeids={0: 0}),
        "tree_beyond": changed(nodes_falsenodeids={0: 1000}),
        "tree_two_parents": changed(nodes_falsenodeids={0: 1}),
        "tree_leaf_with_child": changed(nodes_truenodeids={-1: 1}),
        "tree_lengths": changed(nodes_values=[1.0, 2.0]),
        "tree_target_of_split": changed(target_nodeids={0: 0}),
        "tree_fewer_targets": changed(
            **{name: [0] for name in ("target_nodeids", "target_ids", "target_treeids")}, target_weights=[1.0]
        ),
        "tree_levels": finish(chain_tree(MOST_LEVELS + 1, features), "log_rate"),
        "tree_answer": changed(target_weights={0: nothing}),
    }
