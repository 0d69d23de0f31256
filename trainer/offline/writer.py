"""Writes data sets of recorded calls with Minari."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from weir._core import FEATURES
from weir.errors import InputError
from weir.files.input import parse_json, printable, read_text
from weir.files.model import ModelFile
from weir.trainer.offline.transitions import (
    METADATA,
    REWARDED,
    SCHEMA,
    RecordedCall,
    action_limits,
    call_rewards,
    names,
)

_INFOS: Final[dict[str, type[np.generic]]] = {
    "policy_actions": np.float32,
    "log_probabilities": np.float32,
    "targets_bps": np.float32,
    "decided": np.bool_,
    "resets": np.bool_,
}


def check_model(model: ModelFile) -> None:
    """Raises an InputError if the decisions of a model lack what the reward needs."""
    missing = [name for name in REWARDED if name not in model.features]
    if missing or model.action_kind not in ("rate_bps", "log_rate", "relative"):
        lack = f"features {', '.join(missing)}" if missing else "one continuous action"
        raise InputError(f"{model.path}: its decisions cannot be recorded: the reward needs {lack}")


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
    calls = [call for call in calls if len(call.actions) > 1]
    # Minari measures a data set by a path that it joins to itself.
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as temporary:
        made = Path(temporary) / "data"
        storage = MinariStorage.new(
            made, Box(low, high), Box(*action_limits(model.action_kind), (1,)), jpeg_encoding=False
        )
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
