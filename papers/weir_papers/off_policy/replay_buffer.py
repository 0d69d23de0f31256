"""Replay buffers as files."""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Final

import numpy as np
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from weir_cli.errors import InputError
from weir_cli.files.output import replacing

REPLAY_BUFFER: Final = "replay_buffer.npz"
REPLAY_FIELDS: Final = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


def save_replay_buffer(model: OffPolicyAlgorithm, path: str | os.PathLike[str]) -> None:
    """Writes the filled part of the replay buffer; an interruption leaves the old file or the new one."""
    buffer = model.replay_buffer
    assert buffer is not None
    rows = buffer.size()
    # Oldest first, so that a buffer of another size takes it up in the right order.
    order = np.arange(rows) if not buffer.full else (np.arange(rows) + buffer.pos) % rows
    with replacing(path) as file:
        fields = {name: getattr(buffer, name)[order] for name in REPLAY_FIELDS}
        np.savez(file, position=buffer.pos, **fields)


def load_replay_buffer(model: OffPolicyAlgorithm, path: str | os.PathLike[str]) -> None:
    """Fills the replay buffer from a file of `save_replay_buffer`; of a longer one, the latest part.

    Raises:
        InputError: the file does not fit the model's observations or its number of environments.
    """
    buffer = model.replay_buffer
    assert isinstance(buffer, ReplayBuffer)
    try:
        with np.load(path, allow_pickle=False) as file:
            fields = {name: file[name][-buffer.buffer_size :] for name in REPLAY_FIELDS}
            position = int(file["position"])
    # zipfile and zlib have errors of their own for a truncated file.
    except (OSError, TypeError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{path}: is damaged, or no replay buffer of `weir train` ({type(error).__name__}): remove it to go on "
            "with an empty one"
        ) from None
    rows = len(fields["rewards"])
    # In a full buffer the oldest row is where the next one goes: batches are drawn by row.
    full = rows == buffer.buffer_size
    first = position % rows if full else 0
    for name, values in fields.items():
        target = getattr(buffer, name)
        if values.shape[1:] != target.shape[1:]:
            raise InputError(
                f"{path}: holds {name} of shape {values.shape[1:]}, this configuration makes {target.shape[1:]}: "
                "resume with the same environments and features"
            )
        target[:rows] = np.roll(values, first, axis=0)
    buffer.pos = first if full else rows
    buffer.full = full
