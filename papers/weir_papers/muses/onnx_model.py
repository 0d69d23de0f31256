"""A mixture of trees as a model file of `weir.schema` 1, which the library computes in ONNX Runtime.

The choice among the students is in the graph. `state` (1, STATE_SIZE) is the state of `Mixture`. The first trees of
all students are merged into one, whose first splits test the kind, and so are the second ones and all others. The
last element of the state is the active kind.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper

import weir
from weir_papers.muses.kinds import AXES, SEGMENTS, Selector
from weir_papers.muses.mixture import HISTOGRAM, STATE_SIZE, Mixture, no_state
from weir_papers.muses.trees import Tree
from weir_train.model.export import finish, floats
from weir_train.model.golden_inputs import golden_inputs
from weir_train.model.graph_builder import GATE, GraphBuilder
from weir_train.model.policy_graph import rate_node, scaled_nodes

MACHINE_LEARNING: Final = "ai.onnx.ml"
MACHINE_LEARNING_OPSET: Final = 3


def export(
    mixture: Mixture,
    path: str | os.PathLike[str],
    *,
    provenance: Mapping[str, Any],
) -> onnx.ModelProto:
    """Writes and checks the file: the same mixture gives the same bytes. See `weir_train.model.export.export`."""
    model = mixture_graph(mixture)
    specification = mixture.inputs.specification
    finish(
        model,
        specification,
        path,
        golden_vectors(mixture),
        name="muses",
        version=weir.__version__,
        provenance=provenance,
    )
    return model


def golden_vectors(mixture: Mixture) -> list[dict[str, list[float]]]:
    """Inputs and outputs by name, computed without the graph: the beginning of a call, then each kind in force, every
    other time about to choose.
    """
    specification = mixture.inputs.specification
    observations, objectives = golden_inputs(specification)
    inputs = mixture.inputs.of(np.concatenate([observations, objectives], axis=1))
    states = no_state(len(inputs))
    if mixture.selector is not None:
        seen = mixture.selector.samples - 1
        generator = np.random.default_rng(20240401)
        for index, state in enumerate(states[1:], start=1):
            state[HISTOGRAM] = seen if index % 2 else seen // 2
            shares = generator.dirichlet(np.full(SEGMENTS, 0.5), AXES)
            state[:HISTOGRAM] = np.concatenate([generator.multinomial(int(state[HISTOGRAM]), row) for row in shares])
            state[-1] = 1 + index % mixture.selector.kinds
    actions, next_states = mixture.decide(inputs, states)
    rates = specification.wire_actions(actions, observations)
    vectors = [
        {"observation": observation, "objective": objective, "action": rate[None]}
        for observation, objective, rate in zip(observations, objectives, rates, strict=True)
    ]
    if mixture.selector is not None:
        for vector, state, next_state in zip(vectors, states, next_states, strict=True):
            vector |= {"state": state, "next_state": next_state}
    return [{key: floats(values) for key, values in vector.items()} for vector in vectors]


def mixture_graph(mixture: Mixture) -> onnx.ModelProto:
    """The model: `observation` (1, D), `objective` (1, 3) and `state` to `action` (1, 1) and `next_state`, as
    `Mixture.decide` computes it; of one student alone without state. The same mixture gives the same model.
    """
    graph = GraphBuilder()
    specification = mixture.inputs.specification
    scaled, log_rule = scaled_nodes(graph, specification)
    assert log_rule is not None
    all_inputs = graph.node("Concat", *scaled, "objective", axis=1)
    weight = mixture.inputs.weight
    inputs = graph.gemm(all_inputs, "inputs", weight, np.zeros(weight.shape[1]))
    inputs_of, outputs = {"observation": specification.observation_size, "objective": 3}, {}
    tree_input = inputs
    if mixture.selector is not None:
        inputs_of["state"] = STATE_SIZE
        next_state, kind = _choice(graph, mixture.selector, inputs, weight.shape[1])
        outputs = {"next_state": (next_state, STATE_SIZE)}
        tree_input = graph.node("Concat", inputs, kind, axis=1)
    answers = [
        graph.node("TreeEnsembleRegressor", tree_input, domain=MACHINE_LEARNING, **_attributes(trees, weight.shape[1]))
        for trees in zip(*(student.trees for student in mixture.students), strict=True)
    ]
    total = reduce(lambda sum_before, answer: graph.node("Add", sum_before, answer), answers)
    action = rate_node(graph, specification, graph.clip(total, -1.0, 1.0), log_rule)
    model = graph.model(inputs_of, {"action": (action, 1)} | outputs)
    model.opset_import.append(helper.make_opsetid(MACHINE_LEARNING, MACHINE_LEARNING_OPSET))
    return model


def _choice(graph: GraphBuilder, selector: Selector, inputs: str, width: int) -> tuple[str, str]:
    """`next_state` and the kind, (1, 1)."""
    axes, edges = selector.axes, SEGMENTS - 1
    # 1 where a state lies beyond an edge, else 0; a segment is what lies beyond its lower edge but not beyond its end.
    lines = np.zeros((width, AXES, edges))
    lines[: len(axes.weight)] = GATE * axes.weight[:, :, None].astype(np.float64)
    offsets = -GATE * axes.edges.astype(np.float64)
    beyond = graph.clip(graph.gemm(inputs, "edges", lines.reshape(width, -1), offsets.reshape(-1)), 0.0, 1.0)
    within = np.eye(SEGMENTS)[1:] - np.eye(SEGMENTS)[:-1]
    first = np.tile(np.eye(SEGMENTS)[0], AXES)
    segments = graph.gemm(beyond, "segments", np.kron(np.eye(AXES), within), first)
    # A sample is in one segment of the first axis: their sum counts the samples.
    counting = np.eye(HISTOGRAM, STATE_SIZE)
    counting[:SEGMENTS, HISTOGRAM] = 1.0
    counted = graph.node("Gemm", segments, graph.constant("counting", counting), "state")

    def element(of: str, name: str, place: int, factor: float = 1.0, offset: float = 0.0) -> str:
        return graph.gemm(of, name, factor * np.eye(STATE_SIZE)[:, place : place + 1], [offset])

    full = graph.clip(element(counted, "samples", HISTOGRAM, offset=1.0 - selector.samples), 0.0, 1.0)
    scores = np.zeros((STATE_SIZE, selector.kinds))
    scores[:HISTOGRAM] = selector.weight / selector.samples
    score = graph.gemm(counted, "scores", scores, selector.bias)
    best = graph.node("ReduceMax", score, axes=[1], keepdims=1)
    minus_ones = graph.constant("minus_ones", -np.ones((1, selector.kinds)))
    behind = graph.node("Gemm", best, minus_ones, score)
    steep = GATE * np.eye(selector.kinds)
    chosen = graph.clip(graph.gemm(behind, "steep", steep, np.ones(selector.kinds)), 0.0, 1.0)
    numbers = graph.constant("kinds", np.arange(1.0, selector.kinds + 1)[:, None])
    before = element(counted, "minus_kind", STATE_SIZE - 1, factor=-1.0)
    change = graph.node("Gemm", chosen, numbers, before)
    changed = graph.node("Mul", full, change)
    kept = np.ones(STATE_SIZE)
    forgotten = np.eye(STATE_SIZE)[-1:] - 1.0
    keeping = graph.gemm(full, "forgetting", forgotten, kept)
    moved = graph.constant("moved", np.eye(STATE_SIZE)[-1:])
    next_state = graph.node("Gemm", changed, moved, graph.node("Mul", counted, keeping))
    return next_state, element(next_state, "kind", STATE_SIZE - 1)


def _attributes(trees: Sequence[Tree], kind_input: int) -> dict[str, Any]:
    """The trees as one TreeEnsembleRegressor's attributes: a node's id is its place, children after their parent."""
    nodes: list[tuple[str, int, float, int, int]] = []

    def add(mode: str, feature: int, number: float) -> int:
        nodes.append((mode, feature, number, 0, 0))
        return len(nodes) - 1

    def lead(place: int, left: int, right: int) -> int:
        nodes[place] = (*nodes[place][:3], left, right)
        return place

    def copy(tree: Tree, node: int) -> int:
        if tree.feature[node] < 0:
            return add("LEAF", 0, float(tree.value[node]))
        place = add("BRANCH_LEQ", int(tree.feature[node]), float(tree.threshold[node]))
        return lead(place, copy(tree, tree.left[node]), copy(tree, tree.right[node]))

    def choose(first: int, end: int) -> int:
        if end - first == 1:
            return copy(trees[first], 0)
        middle = (first + end) // 2
        place = add("BRANCH_LEQ", kind_input, middle - 0.5)
        return lead(place, choose(first, middle), choose(middle, end))

    choose(0, len(trees))
    leaves = [place for place, node in enumerate(nodes) if node[0] == "LEAF"]
    return {
        "n_targets": 1,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
        "nodes_treeids": [0] * len(nodes),
        "nodes_nodeids": list(range(len(nodes))),
        "nodes_modes": [mode for mode, *_ in nodes],
        "nodes_featureids": [feature for _, feature, *_ in nodes],
        "nodes_values": [0.0 if mode == "LEAF" else number for mode, _, number, *_ in nodes],
        "nodes_truenodeids": [left for *_, left, _ in nodes],
        "nodes_falsenodeids": [right for *_, right in nodes],
        "target_treeids": [0] * len(leaves),
        "target_nodeids": leaves,
        "target_ids": [0] * len(leaves),
        "target_weights": [nodes[place][2] for place in leaves],
    }
