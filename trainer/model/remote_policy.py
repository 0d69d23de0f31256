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
from weir.trainer.model.file import make_session

# As the library's, for golden vectors.
_TOLERANCE = 1e-4


def read_remote_policy(path: str | os.PathLike[str]) -> RemotePolicy:
    """Raises:
    InputError: it is no model that the library takes, or its graph does not take several rows.
    """
    data = read_bytes(path, LARGEST_MODEL_BYTES)
    try:
        described = Policy(data).description
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    if described["format"] != "weir/1":
        raise InputError(f"{path}: is a model of {described['format']}: give a file written by `weir export`")
    action = {
        "kind": described["action_kind"], "min_bps": described["min_bps"], "max_bps": described["max_bps"],
        "multipliers": described["action_multipliers"],
    }  # fmt: skip
    if described["action_alpha"] is not None:
        action["alpha"] = described["action_alpha"]
    request = {name: described[name] for name in ("interval_ms", "features", "history")} | {"action": action}
    model = onnx.load_from_string(data)
    golden = next(entry.value for entry in model.metadata_props if entry.key == "weir.golden")
    session = make_session(_of_rows(model).SerializeToString())
    given = [value.name for value in session.get_inputs()]
    answers = ["action", *(["next_state"] if "state" in given else [])]

    def decide(observations: np.ndarray, objectives: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = {"observation": observations, "objective": objectives, "state": states}
        found = session.run(answers, {name: rows[name] for name in given})
        return found[0], found[1] if len(found) > 1 else states

    policy = RemotePolicy(request, described["observation_size"], decide, described["state_size"])
    _check_rows(policy, json.loads(golden), path)
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
