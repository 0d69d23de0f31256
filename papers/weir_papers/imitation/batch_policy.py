"""A model file that decides for many students at once, in ONNX Runtime."""

from __future__ import annotations

import os

import numpy as np

from weir_cli.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir_eval.model_file import read_model
from weir_train.model.file import make_session


class BatchPolicy:
    """A policy whose recurrent states the caller keeps.

    Attributes:
        model: the file's metadata.
        state_size: S, numbers of a recurrent state; 0 for a policy without one.

    Raises:
        InputError: the file is no model that the library takes.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.model = read_model(path)
        self.state_size = int(self.model.inputs["state"][1]) if "state" in self.model.inputs else 0
        self._session = make_session(read_bytes(path, LARGEST_MODEL_BYTES))
        self._answers = ["action", *(["next_state"] if self.state_size else [])]

    def decide(
        self, observations: np.ndarray, objectives: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Actions (N, A), as the file's action mapping takes them, and the next states (N, S), of at least one row.

        Args:
            observations: float32 of shape (N, D), of the model's features.
            objectives: float32 of shape (N, 3): weights of throughput, latency and loss.
            states: float32 of shape (N, S); zeros at the beginning of an episode.
        """
        rows = {"observation": observations, "objective": objectives, "state": states}
        # A model takes one row.
        found = [
            self._session.run(self._answers, {name: rows[name][index : index + 1] for name in self.model.inputs})
            for index in range(len(observations))
        ]
        actions, *after = map(np.concatenate, zip(*found, strict=True))
        return actions, after[0] if after else states
