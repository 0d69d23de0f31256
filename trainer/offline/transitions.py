"""Decisions of real calls as a Minari data set: of each the newest interval, from which histories are rebuilt.

An observation is the newest value of each feature, in the order of `names`, and the objective's three weights. An
action is the one that was executed, in the unit of the model's output. `infos`, for each observation: `policy_actions`
(before noise), `log_probabilities` (of the noise; 0 without), `targets_bps` (in force after the guard), `decided` (it
was the policy's action that the guard got) and `resets` (the history begins).
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from weir._core import FEATURES
from weir.errors import InputError
from weir.files.input import parse_json, printable, read_bytes, read_text
from weir.trainer.gym.rewards import log_utility
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.model.file import ModelFile
from weir.trainer.offline.hdf5 import read_arrays

SCHEMA: Final = 1
METADATA: Final = "metadata.json"
DATA: Final = "main_data.hdf5"
LARGEST_BYTES: Final = 1 << 29
MOST_CALLS: Final = 10_000
MOST_STEPS: Final = 2_000_000
# The features that the reward needs.
_REWARDED: Final = ("receive_rate_bps", "queueing_delay_max_s", "loss_ratio", "base_round_trip_time_s")
_INFOS: Final[dict[str, type[np.generic]]] = {
    "policy_actions": np.float32,
    "log_probabilities": np.float32,
    "targets_bps": np.float32,
    "decided": np.bool_,
    "resets": np.bool_,
}


@dataclass(frozen=True)
class RecordedCall:
    """The decisions of a call, T: `newest` (T, features), `objectives` (T, 3), and the members of the module's `infos`
    with the executed `actions`, each (T,).
    """

    key: str
    newest: np.ndarray
    objectives: np.ndarray
    actions: np.ndarray
    policy_actions: np.ndarray
    targets_bps: np.ndarray
    decided: np.ndarray
    resets: np.ndarray


@dataclass(frozen=True)
class Trajectory:
    """A recorded call with T actions: `observations` (T + 1, as of an environment with the objective), `actions` (T,)
    in the unit of the model's output, `rewards` (T,), `decided` (T,).
    """

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    decided: np.ndarray


def names(features: Sequence[str]) -> list[str]:
    """The features of a recorded observation in their order: those of intervals, then those of the path."""
    return sorted(features, key=lambda name: FEATURES[name].of_path)


def check_model(model: ModelFile) -> None:
    """Raises an InputError if the decisions of a model lack what the reward needs."""
    missing = [name for name in _REWARDED if name not in model.features]
    if missing or model.action_kind not in ("rate_bps", "log_rate", "relative"):
        lack = f"features {', '.join(missing)}" if missing else "one continuous action"
        raise InputError(f"{model.path}: its decisions cannot be recorded: the reward needs {lack}")


def call_rewards(features: Sequence[str], newest: np.ndarray, objectives: np.ndarray) -> np.ndarray:
    """The reward `log` of intervals, from what a receiver knows: the base delay is half the base round-trip time."""
    column = {name: newest[..., index].astype(np.float64) for index, name in enumerate(names(features))}
    delay_s = column["base_round_trip_time_s"] / 2.0 + column["queueing_delay_max_s"]
    return log_utility(objectives, column["receive_rate_bps"], delay_s, column["loss_ratio"])


def check_target(folder: Path, keys: set[str]) -> None:
    """Raises an InputError unless a data set of these calls may be written to `folder`."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    kept = None
    if (folder / METADATA).is_file():
        metadata = parse_json(read_text(folder / METADATA), str(folder / METADATA))
        weir = metadata.get("weir") if isinstance(metadata, dict) else None
        kept = weir.get("calls") if isinstance(weir, dict) else None
    if not isinstance(kept, list):
        raise InputError(f"{printable(folder)}: holds something else than recorded calls; choose another folder")
    if not {str(key) for key in kept} <= keys:
        raise InputError(
            f"{printable(folder)}: has recorded calls that this command does not make; choose another folder, "
            "`weir finetune` takes several"
        )


def write_data_set(folder: Path, model: ModelFile, exploration: float, calls: Sequence[RecordedCall]) -> int:
    """Writes the calls that have two decisions and more, in place of a data set of the same command; returns the number
    of steps. See `check_target`.

    Raises:
        InputError: it cannot be written.
    """
    import minari
    from gymnasium.spaces import Box
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    bounds = [FEATURES[name].observation_space for name in names(model.features)] + [(0.0, 1.0)] * 3
    low, high = np.array(bounds, dtype=np.float32).T
    action_bounds = (model.min_bps, model.max_bps) if model.action_kind == "rate_bps" else (-1.0, 1.0)
    calls = [call for call in calls if len(call.actions) > 1]
    # Minari measures a data set by a path that it joins to itself.
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as temporary:
        made = Path(temporary) / "data"
        storage = MinariStorage.new(made, Box(low, high), Box(*action_bounds, (1,), np.float32), jpeg_encoding=False)
        storage.update_episodes(EpisodeBuffer(**_episode(model, exploration, call)) for call in calls)
        about = {
            "schema": SCHEMA,
            "features": names(model.features),
            "interval_ms": model.interval_ms,
            "action_kind": model.action_kind,
            "reward": "log",
            "exploration": exploration,
            "deterministic": exploration == 0.0,
            "model_sha256": model.sha256,
            "calls": [call.key for call in calls],
        }
        storage.update_metadata(
            {"dataset_id": "weir/calls-v0", "minari_version": minari.__version__, "weir": json.loads(json.dumps(about))}
        )
        try:
            if folder.exists():
                shutil.rmtree(folder)
            made.rename(folder)
        except OSError as error:
            raise InputError(f"{printable(folder)}: cannot be written ({error.strerror}); choose another") from None
    return sum(len(call.actions) - 1 for call in calls)


def _episode(model: ModelFile, exploration: float, call: RecordedCall) -> dict[str, Any]:
    steps = len(call.actions) - 1
    rewards = call_rewards(model.features, call.newest[1:], call.objectives[:-1])
    infos: dict[str, Any] = {name: getattr(call, name, None) for name in _INFOS}
    infos["log_probabilities"] = _log_probabilities(model.action_kind, exploration, call)
    return {
        "observations": np.column_stack([call.newest, call.objectives]).astype(np.float32),
        "actions": call.actions[:-1, None].astype(np.float32),
        "rewards": rewards.astype(np.float32),
        "terminations": np.zeros(steps, bool),
        "truncations": np.arange(steps) == steps - 1,
        "infos": {name: np.asarray(values, _INFOS[name]) for name, values in infos.items()},
    }


def _log_probabilities(kind: str, exploration: float, call: RecordedCall) -> np.ndarray:
    """The logarithm of the density of the noise, of "rate_bps" on the logarithm of the rate; 0 without noise."""
    if exploration == 0.0:
        return np.zeros(len(call.actions))
    action, mean = call.actions.astype(np.float64), call.policy_actions.astype(np.float64)
    if kind == "rate_bps":
        action, mean = np.log(np.maximum(action, 1.0)), np.log(np.maximum(mean, 1.0))
    return -0.5 * ((action - mean) / exploration) ** 2 - np.log(exploration * np.sqrt(2.0 * np.pi))


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
    wanted = {
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
        if np.any((whole < low) | (whole > high)) or np.any(whole[:, -3:].sum(axis=1) <= 0.0):
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
