"""Checkpoints: zips of NumPy arrays, which are read without pickle, so that no file can run code.

They have `algorithm` and `num_timesteps`; `policy/NAME`, the parameters of the policy; the state of its learner; and in
the middle of a training that of the run (`continuation.py`).
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from weir_cli.errors import InputError
from weir_cli.files.output import write_bytes

LARGEST_BYTES: Final = 1 << 30
_POLICY: Final = "policy"
RUN: Final = "run"
"""The arrays of a run that is in the middle of a training or of a stage."""
_HEAD: Final = ("algorithm", "num_timesteps")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint; all its numbers are finite."""

    path: Path
    algorithm: str
    steps: int
    arrays: Mapping[str, np.ndarray]

    def part(self, name: str) -> dict[str, torch.Tensor]:
        """Returns the arrays `name/KEY` by KEY, as tensors."""
        return {key: torch.from_numpy(values) for key, values in self.arrays_of(name).items()}

    def arrays_of(self, name: str) -> dict[str, np.ndarray]:
        """Returns the arrays `name/KEY` by KEY."""
        prefix = f"{name}/"
        return {key.removeprefix(prefix): values for key, values in self.arrays.items() if key.startswith(prefix)}

    @property
    def is_within_run(self) -> bool:
        """True for a checkpoint in the middle of a training or of a stage."""
        return bool(self.arrays_of(RUN))

    def load_into(self, policy: nn.Module) -> None:
        """Sets the parameters of a policy.

        Raises:
            InputError: they do not fit.
        """
        try:
            policy.load_state_dict(self.part(_POLICY))
        except (RuntimeError, TypeError) as error:
            raise self.mismatch_error(error) from None

    def mismatch_error(self, error: object) -> InputError:
        """Returns the error for arrays that do not match the configuration."""
        reason = " ".join(str(error).split())
        return InputError(f"{self.path}: is damaged, or of another network than its configuration ({reason[:300]})")


def policy_arrays(parameters: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Returns the parameters of a policy as arrays of a checkpoint."""
    return {f"{_POLICY}/{name}": values.detach().numpy() for name, values in parameters.items()}


def write_checkpoint(path: Path, algorithm: str, steps: int, arrays: Mapping[str, Any]) -> None:
    """Writes a checkpoint atomically: an interruption leaves the old one or the new one.

    Raises:
        InputError: a number is not finite, or the file cannot be written.
    """
    if not all(np.isfinite(values).all() for values in arrays.values()):
        raise InputError(
            f"{path}: not written after {steps:,} steps: the training has diverged, and its parameters are no longer "
            "finite; lower learning_rate"
        )
    content = io.BytesIO()
    head: dict[str, Any] = dict(zip(_HEAD, (algorithm, steps), strict=True))
    np.savez(content, **head | dict(arrays))
    write_bytes(path, content.getbuffer())


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Reads a checkpoint of any algorithm.

    Raises:
        InputError: it is missing, damaged or too large.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such checkpoint")
    try:
        with zipfile.ZipFile(path) as file:
            size = sum(member.file_size for member in file.infolist())
        if size > LARGEST_BYTES:
            raise ValueError(f"over {LARGEST_BYTES >> 20} MiB")
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        algorithm, steps = str(arrays.pop(_HEAD[0])), int(arrays.pop(_HEAD[1]))
        if not all(np.isfinite(values).all() for values in arrays.values()):
            raise ValueError("a number is not finite")
    # A damaged zip may raise any error: from zlib, for the header of an array, or for its size.
    except Exception as error:
        raise InputError(
            f"{path}: is damaged, or no checkpoint of `weir train` ({type(error).__name__}): train anew, or put a "
            "whole copy in its place"
        ) from None
    return Checkpoint(path, algorithm, steps, arrays)
