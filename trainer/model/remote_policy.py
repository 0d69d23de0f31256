"""A model file as a policy that decides for many calls at once, in ONNX Runtime. Needs onnx, not torch."""

from __future__ import annotations

import json
import os

import numpy as np
import onnx
from onnx import numpy_helper

from weir._core import Policy
from weir.errors import InputError
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir.trainer.gym.remote import RemotePolicy
from weir.trainer.model.file import make_session, read_model

# As the library's, for golden vectors.
_TOLERANCE = 1e-4


def read_remote_policy(path: str | os.PathLike[str]) -> RemotePolicy:
    """Raises:
    InputError: it is no model that the library takes, or its graph does not take several rows.
    """
    file = read_model(path)
    data = read_bytes(path, LARGEST_MODEL_BYTES)
    try:
        Policy(data)
    except ValueError as error:
        raise InputError(f"{path}: the library refuses the model: {error}") from None
    model = onnx.load_from_string(data)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    action = {"kind": file.action_kind, "min_bps": file.min_bps, "max_bps": file.max_bps}
    if "weir.action_alpha" in metadata:
        action["alpha"] = float(metadata["weir.action_alpha"])
    if "weir.action_multipliers" in metadata:
        action["multipliers"] = [float(one) for one in metadata["weir.action_multipliers"].split(",")]
    request = {
        "interval_ms": file.interval_ms, "features": file.features, "history": file.history, "action": action,
    }  # fmt: skip
    session = make_session(_of_rows(model).SerializeToString())
    given = [value.name for value in session.get_inputs()]
    answers = ["action", *(["next_state"] if "state" in given else [])]

    def decide(observations: np.ndarray, objectives: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = {"observation": observations, "objective": objectives, "state": states}
        found = session.run(answers, {name: rows[name] for name in given})
        return found[0], found[1] if len(found) > 1 else states

    policy = RemotePolicy(
        request, int(file.inputs["observation"][1]), decide, int(file.inputs["state"][1]) if "state" in given else 0
    )
    _check_rows(policy, json.loads(metadata["weir.golden"]), path)
    return policy


def _of_rows(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model for any number of rows instead of one."""
    graph = model.graph
    for value in (*graph.input, *graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "rows"
    del graph.value_info[:]
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for tensor in graph.initializer:
        if tensor.name in shapes:
            shape = numpy_helper.to_array(tensor).copy()
            shape[:1] = -1
            tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))
    return model


def _check_rows(policy: RemotePolicy, golden: list[dict[str, list[float]]], path: str | os.PathLike[str]) -> None:
    """Compares all golden vectors, as one batch, with their answers."""
    widths = {"observation": policy.observation_size, "objective": 3, "state": policy.state_size}
    rows = [
        np.array([one.get(name, [0.0] * width) for one in golden], dtype=np.float32) for name, width in widths.items()
    ]
    expected = np.array([one["action"] for one in golden])
    try:
        actions, _ = policy.decide(*rows)
        allowed = _TOLERANCE * (np.abs(expected) + 1.0)
        agree = actions.shape == expected.shape and bool((np.abs(actions - expected) <= allowed).all())
    except Exception as error:  # those of ONNX Runtime have no common class
        raise InputError(f"{path}: its graph does not take several rows at once: {error}") from None
    if not agree:
        raise InputError(f"{path}: its graph gives other answers for several rows at once")
