"""Reads data sets of recorded calls, which are untrusted, and rebuilds the histories."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from weir.errors import InputError
from weir.files.input import parse_json, printable, read_bytes, read_text
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.offline.hdf5 import read_arrays
from weir.trainer.offline.transitions import DATA, METADATA, SCHEMA, action_limits, names

LARGEST_BYTES: Final = 1 << 29
MOST_CALLS: Final = 10_000
# Five hours of calls; histories of more take gigabytes.
MOST_STEPS: Final = 200_000
# No reward of a call is larger.
_LARGEST_REWARD: Final = 1e3


@dataclass(frozen=True)
class Trajectory:
    """A recorded call with T actions: `observations` (T + 1, as of an environment with the objective), `actions` (T,)
    in the unit of the model's output, `rewards` (T,), `decided` (T,).
    """

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    decided: np.ndarray


def read_data_set(folder: Path, specification: EnvironmentSpecification) -> list[Trajectory]:
    """Reads a data set for a policy of that specification. The files are untrusted: nothing in them is executed, as
    Minari's own reader would do with an environment that they name.

    Raises:
        InputError: it is missing, damaged, too large, or of another schema, feature list, interval or action.
    """
    shown, path = printable(folder), folder / METADATA
    metadata = parse_json(read_text(path), str(path))
    weir = metadata.get("weir") if isinstance(metadata, dict) else None
    if not isinstance(weir, dict):
        raise InputError(f"{shown}: is no data set of recorded calls; make one with `weir call --record-transitions`")
    wanted: dict[str, Any] = {
        "schema": SCHEMA,
        "features": names(specification.features),
        "interval_ms": specification.interval_ms,
        "action_kind": "rate_bps" if specification.action.kind == "around_rule" else specification.action.kind,
    }
    for name, value in wanted.items():
        if weir.get(name) != value:
            has, needs = (printable(str(one)[:500]) for one in (weir.get(name), value))
            raise InputError(f"{shown}: its {name} is {has}, but the model's is {needs}; record calls of this model")
    width = len(specification.features) + 3
    trajectories, left = [], MOST_STEPS
    low, high = (bound[: specification.observation_size + 3] for bound in specification.observation_limits())
    count = metadata.get("total_episodes")
    if not isinstance(count, int) or not 0 <= count <= MOST_CALLS:
        raise InputError(f"{shown}: total_episodes must be 0 to {MOST_CALLS:,}")
    content = io.BytesIO(read_bytes(folder / DATA, LARGEST_BYTES))
    for group in (f"episode_{index}" for index in range(count)):
        shapes = {"observations": (width,), "actions": (1,), "rewards": (), "infos/decided": (), "infos/resets": ()}
        arrays = read_arrays(content, group, shapes, left, shown)
        observations, actions, rewards = (arrays[name] for name in ("observations", "actions", "rewards"))
        decided, resets = arrays["infos/decided"] != 0, arrays["infos/resets"] != 0
        steps = len(actions)
        if len(rewards) != steps or not len(observations) == len(decided) == len(resets) == steps + 1 > 1:
            raise InputError(f"{shown}: the lengths of {group} differ; record the calls again")
        if not all(np.isfinite(values).all() for values in arrays.values()):
            raise InputError(f"{shown}: a number of {group} is not finite; record the calls again")
        whole = with_history(observations, resets, specification)
        within = (whole >= low).all() and (whole <= high).all() and (whole[:, -3:].sum(axis=1) > 0.0).all()
        lowest, highest = action_limits(wanted["action_kind"])
        within &= (
            (actions >= lowest).all() and (actions <= highest).all() and (np.abs(rewards) <= _LARGEST_REWARD).all()
        )
        if not within:
            raise InputError(f"{shown}: a number of {group} is out of range; record the calls again")
        trajectories.append(Trajectory(whole, actions[:, 0], rewards, decided[:-1]))
        left -= steps
    return trajectories


def with_history(rows: np.ndarray, resets: np.ndarray, specification: EnvironmentSpecification) -> np.ndarray:
    """Whole observations (T, observation_size + 3) from recorded ones (T, features + 3), as the estimator makes them:
    where history is missing, the oldest interval since the reset is repeated.
    """
    times = np.arange(len(rows))
    first = np.maximum.accumulate(np.where(resets, times, 0))
    ages = np.maximum(times[:, None] - np.arange(specification.history), first[:, None])
    per_interval = len(specification.interval_features)
    history = rows[ages, :per_interval].reshape(len(rows), -1)
    return np.concatenate([history, rows[:, per_interval:]], axis=1).astype(np.float32)
