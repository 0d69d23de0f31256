"""The files of a training folder, among them `training.json`, the record of the run.

Needs neither torch nor stable-baselines3.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_TEXT_BYTES, parse_json, printable, read_bytes, read_text
from weir_cli.files.output import write_text
from weir_eval.json_lines import LARGEST_NUMBER
from weir_eval.records.part import read_document
from weir_train.configuration.training import IN_PAPERS, TrainingConfiguration, checked_configuration
from weir_train.model.file import CONFIGURATION

FILE = "training.json"
# Names and contents are those of stable-baselines3.
PROGRESS_LOG = "progress.json"
EVALUATIONS = "evaluations.npz"
# Columns of the log: number of the latest finished episodes that its means are over, at most EPISODES_SHOWN.
EPISODES = "rollout/episodes"
EPISODES_SHOWN = 200
# Settings in which a resumed run may differ from its file: how much is trained.
_EXTENT = ("steps", "stages")


class ConfigurationFile(BaseModel):
    """The configuration file at the start of a run of `weir train`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sha256: str


class TrainingPart(BaseModel):
    """A part of a run, made by one command, or by calls without commands: the number of steps at which it began, and
    the code. `commit` has a suffix if the source tree had uncommitted changes, and is empty outside one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    first_step: int = 0
    command: str = ""
    commit: str = ""
    date: str = ""
    hardware: str = ""
    versions: dict[str, str] = {}

    @property
    def text(self) -> str:
        """Description for a model card."""
        return f"from step {self.first_step:,}: commit {self.commit or 'unknown'}, {self.date or 'date unknown'}"


class TrainingRecord(BaseModel):
    """Times are sums over all parts of a resumed run, which `parts` has in order.

    `interrupted` is true until all planned steps are done, also while the run is active; `steps` is the number at the
    end of the last part. An exported model has the number of steps of its checkpoint. `origin` has inputs of the
    algorithm, such as teachers. `held_out` names the scenarios that judge it and that it does not draw, empty
    for random paths, and `held_out_paths` the independent path of each.
    """

    model_config = ConfigDict(extra="ignore")

    steps: int = 0
    interrupted: bool = True
    wall_s: float = 0.0
    steps_per_s: float = 0.0
    parts: list[TrainingPart] = []
    configuration: ConfigurationFile | None = None
    rule_mean_reward: float | None = None
    held_out: list[str] = []
    held_out_paths: list[str] = []
    origin: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_commands(cls, values: Any) -> Any:
        """Version 0.1.0 had `commands`, and the commit of the last."""
        commands = values.get("commands") if isinstance(values, dict) else None
        if not isinstance(commands, list) or "parts" in values:
            return values
        parts: list[dict[str, Any]] = [{"command": command} for command in commands or [""]]
        parts[-1] |= {name: values[name] for name in ("commit", "date", "hardware", "versions") if name in values}
        return values | {"parts": parts}

    def save(self, folder: Path) -> None:
        """Writes the record into the folder."""
        write_text(folder / FILE, self.model_dump_json(indent=1) + "\n")


def read_training_record(folder: str | os.PathLike[str]) -> TrainingRecord:
    """Reads the record in a training folder; returns an empty one if there is none.

    Raises:
        InputError: the record is invalid.
    """
    path = Path(folder) / FILE
    return read_document(path, TrainingRecord, "record of a training run") if path.exists() else TrainingRecord()


def read_evaluations(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Reads steps (E,) and rewards per step (E, scenarios) of the evaluations so far; empty without a file.

    Raises:
        InputError: the file is damaged.
    """
    if not path.is_file():
        return np.zeros(0), np.zeros((0, 0))
    try:
        with np.load(path, allow_pickle=False) as file:
            if sum(member.file_size for member in file.zip.infolist()) > LARGEST_TEXT_BYTES:
                raise ValueError(f"unpacks to over {LARGEST_TEXT_BYTES >> 20} MiB")
            found = file["timesteps"], file["results"]
        if any(array.dtype.kind not in "iuf" or not (np.abs(array) <= LARGEST_NUMBER).all() for array in found):
            raise ValueError("values that are no finite numbers")
        steps, rewards = (array.astype(float) for array in found)
        if rewards.ndim != 2 or steps.shape != rewards.shape[:1] or not rewards.size:
            raise ValueError(f"{steps.shape} steps and rewards of shape {rewards.shape}")
    # A damaged zip may raise any error.
    except Exception as error:
        raise InputError(f"{path}: is not what `weir train --eval` writes: {error}; remove it to do without") from None
    return steps, rewards


MILESTONES: Final = {"untrained": "before training", "best": "best after it began", "last": "last"}
"""The keys of `evaluation_milestones` and their names."""


def evaluation_milestones(steps: np.ndarray, rewards: np.ndarray) -> dict[str, dict[str, Any]]:
    """Returns `steps` and `mean_reward` of the evaluations `untrained` (before the first step), `best` (after it, that
    of `best_model.zip`) and `last`; without those that do not exist. The arguments are those of `read_evaluations`.
    """
    means = rewards.mean(axis=1)
    order = np.argsort(-means, kind="stable")
    found = {
        "untrained": np.flatnonzero(steps == 0),
        "best": order[steps[order] > 0],
        "last": np.arange(len(steps))[-1:],
    }
    return {
        name: {"steps": int(steps[index[0]]), "mean_reward": float(means[index[0]])}
        for name, index in found.items()
        if len(index)
    }


def untrained_was_better(milestones: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns the warning that no evaluation after the first step is better than that before it; empty otherwise."""
    if not {"untrained", "best"} <= milestones.keys():
        return ""
    untrained, best = milestones["untrained"]["mean_reward"], milestones["best"]["mean_reward"]
    if untrained < best:
        return ""
    return (
        f"the untrained policy was better (reward {untrained:.4f} before the first step, {best:.4f} at best after it): "
        "train for more steps"
    )


def check_same_settings(run: TrainingConfiguration, file: TrainingConfiguration) -> None:
    """Checks that a resumed run has the settings of a file, in its present stage and those before it. The steps may
    differ: more of them continue a run.

    Raises:
        InputError: a setting differs; the message has both values.
    """
    stages = file.in_stages()
    now = min(len(stages), max(1, len(run.stages)))
    in_run, in_file = (
        _settings_by_path(settings.model_dump(mode="json", exclude=set(_EXTENT))) for settings in (run, stages[now - 1])
    )
    in_run["stages"], in_file["stages"] = (list(settings.stages[: now - 1]) for settings in (run, file))
    found = [
        f"{path} differs: {json.dumps(in_run.get(path))} in the run, {json.dumps(in_file.get(path))} in the file"
        for path in in_run | in_file
        if in_run.get(path) != in_file.get(path)
    ]
    if found:
        raise InputError(f"--resume: {'; '.join(found)}: give the run's values, or train anew in another --out")


def _settings_by_path(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _settings_by_path(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def configuration_file(path: str | os.PathLike[str]) -> ConfigurationFile:
    """Returns the name and the hash of a configuration file.

    Raises:
        InputError: it cannot be read.
    """
    return ConfigurationFile(name=printable(Path(path).name), sha256=hashlib.sha256(read_bytes(path)).hexdigest())


def load_run_configuration(folder: str | os.PathLike[str]) -> TrainingConfiguration:
    """Reads the configuration of a training folder.

    Raises:
        InputError: the folder has none, or an invalid one.
    """
    path = Path(folder) / CONFIGURATION
    values = parse_json(read_text(path), str(path))
    if isinstance(values, dict):
        # Version 0.1.0 wrote the tables of all algorithms.
        values = {key: value for key, value in values.items() if key not in IN_PAPERS or key == values.get("algorithm")}
    return checked_configuration(values, str(path))
