"""A mixture of trees as a model file of `weir.schema` 1."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

import weir
from weir.trainer.model.export import finish, floats
from weir.trainer.model.golden_inputs import golden_inputs
from weir.trainer.muses.decomposition import AXES, SEGMENTS
from weir.trainer.muses.graph import STATE_SIZE, mixture_graph
from weir.trainer.muses.mixture import HISTOGRAM, Mixture


def export(
    mixture: Mixture,
    path: str | os.PathLike[str],
    *,
    name: str = "muses",
    provenance: Mapping[str, Any],
    ranges: np.ndarray | None,
) -> onnx.ModelProto:
    """Writes and checks the file: the same mixture gives the same bytes. See `weir.trainer.model.export.export`."""
    model = mixture_graph(mixture)
    specification = mixture.inputs.specification
    finish(
        model,
        specification,
        path,
        golden_vectors(mixture),
        name=name,
        version=weir.__version__,
        provenance=provenance,
        ranges=ranges,
    )
    return model


def golden_vectors(mixture: Mixture) -> list[dict[str, list[float]]]:
    """Inputs and outputs by name, computed without the graph: the beginning of a call, then each kind in force, every
    other time about to choose.
    """
    specification = mixture.inputs.specification
    observations, objectives = golden_inputs(specification)
    inputs = mixture.inputs.of(np.concatenate([observations, objectives], axis=1))
    states = np.zeros((len(inputs), STATE_SIZE), dtype=np.float32)
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
