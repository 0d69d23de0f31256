"""LSTM layers, and a head over levels of the action, in operators that the library lets through."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from weir.trainer.model.graph_builder import GraphBuilder


def recurrent_nodes(graph: GraphBuilder, inputs: str, cells: nn.LSTM) -> tuple[str, str]:
    """A step of all layers from the model's input `state`, all outputs before all cells, as `RecurrentActor` has it.

    Returns:
        the last layer's output, and the next state.
    """
    size, layers = cells.hidden_size, cells.num_layers
    outputs, after = [], []
    for layer in range(layers):
        gates = []
        output, cell = (graph.part("state", size * part, size * (part + 1)) for part in (layer, layers + layer))
        for value, kind in ((inputs, "ih"), (output, "hh")):
            weight, bias = (
                graph.constant(f"actor.cells.{name}_{kind}_l{layer}", _values(cells, f"{name}_{kind}_l{layer}"))
                for name in ("weight", "bias")
            )
            gates.append(graph.node("Gemm", value, weight, bias, transB=1))
        gate = graph.node("Add", *gates)
        parts = [graph.part(gate, size * part, size * (part + 1)) for part in range(4)]
        take, keep, give = (graph.node("Sigmoid", parts[part]) for part in (0, 1, 3))
        taken = graph.node("Mul", take, graph.node("Tanh", parts[2]))
        after.append(graph.node("Add", graph.node("Mul", keep, cell), taken))
        inputs = graph.node("Mul", give, graph.node("Tanh", after[-1]))
        outputs.append(inputs)
    return inputs, graph.node("Concat", *outputs, *after, axis=1)


def level_nodes(graph: GraphBuilder, scores: str, levels: torch.Tensor) -> str:
    """The mean of levels (L, 1) under the softmax of their scores."""
    highest = graph.node("ReduceMax", scores, axes=[1], keepdims=1)
    weights = graph.node("Exp", graph.node("Sub", scores, highest))
    total = graph.node("Gemm", weights, graph.constant("head.ones", np.ones(levels.shape)))
    weighted = graph.node("Gemm", weights, graph.constant("head.levels", levels.numpy()))
    return graph.node("Div", weighted, total)


def _values(cells: nn.LSTM, name: str) -> np.ndarray:
    values: np.ndarray = getattr(cells, name).detach().numpy()
    return values
