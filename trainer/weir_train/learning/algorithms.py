"""Environments of a configuration; checkpoints of learners with stable-baselines3's interface, and their policies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.save_util import recursive_getattr

from weir_cli.errors import InputError
from weir_cli.files.output import make_folder
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.gym.specification import ObjectiveSource
from weir_train.gym.vector import BottleneckVectorEnv
from weir_train.learning.checkpoint import Checkpoint, policy_arrays, read_checkpoint, write_checkpoint
from weir_train.learning.learner import learner_of
from weir_train.learning.run_record import load_run_configuration
from weir_train.policies.networks import DeployablePolicy

# Part of the state: TD3, for example, updates its actor after every second update.
_UPDATES = "updates"
_MOMENTS: Mapping[type[torch.optim.Optimizer], set[str]] = {
    torch.optim.Adam: {"step", "exp_avg", "exp_avg_sq"},
    torch.optim.RMSprop: {"step", "square_avg"},
}


def make_environment(
    configuration: TrainingConfiguration,
    simulator: str | os.PathLike[str] | None = None,
    *,
    objective: ObjectiveSource | None = None,
    sampler: Callable[[int], Mapping[str, Any]] | None = None,
) -> BottleneckVecEnv:
    """Makes the environments of a configuration with its seed; `objective` and `sampler` replace those in it."""
    settings = configuration.environment
    environment = BottleneckVectorEnv(
        settings.environments,
        sampler or ScenarioSampler(configuration.scenarios),
        objective=settings.objective if objective is None else objective,
        simulator=simulator,
        **settings.arguments(),
    )
    vectorized = BottleneckVecEnv(environment)
    vectorized.seed(configuration.seed)
    return vectorized


def events_folder(folder: Path | None) -> str | None:
    """Makes the folder of TensorBoard's events in a training folder; returns None without one."""
    if folder is None:
        return None
    make_folder(folder / "tensorboard")
    return str(folder / "tensorboard")


def load_model(model: BaseAlgorithm, checkpoint: Path) -> Checkpoint:
    """Sets a fresh learner to the state of a checkpoint that fits its configuration (`check_checkpoint`).

    Raises:
        InputError: it is not a checkpoint of this learner.
    """
    found = read_checkpoint(checkpoint)
    found.load_into(model.policy)
    for name in _optimizers(model):
        set_moments(recursive_getattr(model, name), found, name)
    try:
        model._n_updates = int(found.arrays[_UPDATES])
    except (KeyError, TypeError) as error:
        raise found.mismatch_error(error) from None
    model.num_timesteps = found.steps
    return found


def arrays_of(model: BaseAlgorithm) -> dict[str, Any]:
    """Returns the arrays of a checkpoint that `load_model` reads."""
    arrays: dict[str, Any] = policy_arrays(model.policy.state_dict()) | {_UPDATES: model._n_updates}
    for name in _optimizers(model):
        arrays |= moments_of(recursive_getattr(model, name), name)
    return arrays


def moments_of(optimizer: torch.optim.Optimizer, name: str) -> dict[str, np.ndarray]:
    """Returns the moments of an optimizer as arrays of a checkpoint, for `set_moments`."""
    return {
        f"{name}/{index}/{moment}": values.numpy()
        for index, moments in optimizer.state_dict()["state"].items()
        for moment, values in moments.items()
    }


def save_model(model: BaseAlgorithm, checkpoint: Path, algorithm: str, run: Mapping[str, Any]) -> None:
    """Writes a checkpoint for `load_model`, with the arrays of the run. See `write_checkpoint`."""
    write_checkpoint(checkpoint, algorithm, model.num_timesteps, arrays_of(model) | dict(run))


def _optimizers(model: BaseAlgorithm) -> list[str]:
    return [name for name in model._get_torch_save_params()[0] if "optimizer" in name]


def set_moments(optimizer: torch.optim.Optimizer, found: Checkpoint, name: str) -> None:
    """Sets the moments by the index of the parameter; parameters that the optimizer has not updated yet have none.

    Raises:
        InputError: they do not fit.
    """
    known = _MOMENTS[type(optimizer)]
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    try:
        for key, values in found.part(name).items():
            index, _, moment = key.partition("/")
            if moment not in known or values.shape != (() if moment == "step" else parameters[int(index)].shape):
                raise ValueError(f"{name}/{key}")
            state.setdefault(int(index), {})[moment] = values
        if any(moments.keys() != known for moments in state.values()):
            raise ValueError(name)
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
    except (ValueError, IndexError, TypeError) as error:
        raise found.mismatch_error(error) from None


def load_policy(checkpoint: str | os.PathLike[str]) -> DeployablePolicy:
    """Loads the policy of a checkpoint of any algorithm; the configuration of its run is in the same folder.

    Raises:
        InputError: one of them is missing or damaged, or they do not match.
    """
    found = read_checkpoint(checkpoint)
    return check_checkpoint(load_run_configuration(found.path.parent), found)


def check_checkpoint(configuration: TrainingConfiguration, found: Checkpoint) -> DeployablePolicy:
    """Returns the policy of a checkpoint, if it matches the configuration.

    Raises:
        InputError: the checkpoint is from another algorithm or network.
    """
    if found.algorithm != configuration.algorithm:
        raise InputError(f"{found.path}: was trained with {found.algorithm[:20]}, not with {configuration.algorithm}")
    policy = learner_of(configuration).make_policy(configuration)
    found.load_into(policy)
    return policy


class LinearSchedule:
    """Linear from `start` at the first step to `end` at the last; stable-baselines3 passes the remaining share."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def __call__(self, remaining: float) -> float:
        """Returns the value when the share `remaining` (1 to 0) of the steps remains."""
        return self.end + (self.start - self.end) * max(0.0, min(1.0, remaining))
