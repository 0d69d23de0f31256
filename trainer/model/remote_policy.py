"""A model file as a policy that decides for many calls, in ONNX Runtime."""

from __future__ import annotations

import os

import numpy as np

from weir._core import Policy
from weir.errors import InputError
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir.trainer.gym.remote import RemotePolicy
from weir.trainer.model.file import make_session


def read_remote_policy(path: str | os.PathLike[str]) -> RemotePolicy:
    """Raises:
    InputError: it is no model that the library takes.
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
    session = make_session(data)
    given = [value.name for value in session.get_inputs()]
    answers = ["action", *(["next_state"] if "state" in given else [])]

    def decide(observations: np.ndarray, objectives: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = {"observation": observations, "objective": objectives, "state": states}
        # A model takes one row.
        found = [
            session.run(answers, {name: rows[name][index : index + 1] for name in given})
            for index in range(len(observations))
        ]
        actions, *after = map(np.concatenate, zip(*found, strict=True))
        return actions, after[0] if after else states

    return RemotePolicy(request, described["observation_size"], decide, described["state_size"])
