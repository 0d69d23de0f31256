"""Environments of a configuration; checkpoints of learners in the form of stable-baselines3, and their policies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import SAC
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.save_util import recursive_getattr

from weir.errors import InputError
from weir.files.output import make_folder
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.gym.vector import BottleneckVectorEnv
from weir.trainer.learning.checkpoint import Checkpoint, policy_arrays, read_checkpoint, write_checkpoint
from weir.trainer.learning.learner import TrainedPolicy, learner_of
from weir.trainer.learning.run_record import load_run_configuration
from weir.trainer.policies.off_policy import load_replay_buffer, save_replay_buffer

REPLAY_BUFFER = "replay_buffer.npz"
# TD3 updates its actor after every second of these updates.
_UPDATES = "updates"
_ENTROPY = "log_ent_coef"
_MOMENTS = {"step", "exp_avg", "exp_avg_sq"}


def make_environment(
    configuration: TrainingConfiguration,
    simulator: str | os.PathLike[str] | None = None,
    *,
    objective: ObjectiveSource | None = None,
    sampler: ScenarioSampler | None = None,
) -> BottleneckVecEnv:
    """The environments of a configuration, with its seed; `objective` and `sampler` replace the configuration's."""
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
    """The folder of TensorBoard's events in a training folder, made; None without one."""
    if folder is None:
        return None
    make_folder(folder / "tensorboard")
    return str(folder / "tensorboard")


def load_model(model: BaseAlgorithm, checkpoint: Path) -> None:
    """Sets a fresh learner to the state of a checkpoint that fits its configuration (`check_checkpoint`), with its
    replay buffer if that is there.

    Raises:
        InputError: it is no checkpoint of this learner.
    """
    found = read_checkpoint(checkpoint)
    found.load_into(model.policy)
    for name in _optimizers(model):
        _set_moments(recursive_getattr(model, name), found, name)
    try:
        if (entropy := _learned_entropy(model)) is not None:
            entropy.copy_(torch.from_numpy(found.arrays[_ENTROPY]))
        model._n_updates = int(found.arrays[_UPDATES])
    except (KeyError, TypeError, RuntimeError) as error:
        raise found.unfit(error) from None
    model.num_timesteps = found.steps
    replay_buffer = checkpoint.with_name(REPLAY_BUFFER)
    if isinstance(model, OffPolicyAlgorithm) and replay_buffer.is_file():
        load_replay_buffer(model, replay_buffer)


def save_checkpoint(model: BaseAlgorithm, path: Path, algorithm: str) -> None:
    """Writes what `load_model` reads. See `write_checkpoint`."""
    arrays: dict[str, Any] = policy_arrays(model.policy.state_dict()) | {_UPDATES: model._n_updates}
    for name in _optimizers(model):
        state = recursive_getattr(model, name).state_dict()["state"]
        arrays |= {
            f"{name}/{index}/{moment}": values.numpy()
            for index, moments in state.items()
            for moment, values in moments.items()
        }
    if (entropy := _learned_entropy(model)) is not None:
        arrays[_ENTROPY] = entropy.numpy()
    write_checkpoint(path, algorithm, model.num_timesteps, arrays)
    if isinstance(model, OffPolicyAlgorithm):
        save_replay_buffer(model, path.with_name(REPLAY_BUFFER))


def _learned_entropy(model: BaseAlgorithm) -> torch.Tensor | None:
    """The logarithm of SAC's coefficient of entropy, where that is learned."""
    learned = model.log_ent_coef if isinstance(model, SAC) else None
    return None if learned is None else learned.detach()


def _optimizers(model: BaseAlgorithm) -> list[str]:
    return [name for name in model._get_torch_save_params()[0] if "optimizer" in name]


def _set_moments(optimizer: torch.optim.Optimizer, found: Checkpoint, name: str) -> None:
    """The moments of Adam, by the index of the parameter; none of those that it has not updated yet."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    try:
        for key, values in found.part(name).items():
            index, _, moment = key.partition("/")
            if moment not in _MOMENTS or values.shape != (() if moment == "step" else parameters[int(index)].shape):
                raise ValueError(f"{name}/{key}")
            state.setdefault(int(index), {})[moment] = values
        if any(moments.keys() != _MOMENTS for moments in state.values()):
            raise ValueError(name)
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
    except (ValueError, IndexError, TypeError) as error:
        raise found.unfit(error) from None


def make_policy(configuration: TrainingConfiguration) -> TrainedPolicy:
    """An untrained policy alone."""
    return learner_of(configuration).make_policy(configuration)


def load_policy(checkpoint: str | os.PathLike[str]) -> TrainedPolicy:
    """The policy of a checkpoint of any algorithm, beside which is the configuration of its run.

    Raises:
        InputError: one of them is missing or damaged, or they do not fit each other.
    """
    found = read_checkpoint(checkpoint)
    return check_checkpoint(load_run_configuration(found.path.parent), found)


def check_checkpoint(configuration: TrainingConfiguration, found: Checkpoint) -> TrainedPolicy:
    """The policy of a checkpoint, if that is one of the configuration.

    Raises:
        InputError: it is one of another algorithm, or of another network.
    """
    if found.algorithm != configuration.algorithm:
        raise InputError(f"{found.path}: was trained with {found.algorithm[:20]}, not with {configuration.algorithm}")
    policy = make_policy(configuration)
    found.load_into(policy)
    return policy


class LinearSchedule:
    """Linear from `start` at the first step to `end` at the last; stable-baselines3 passes the share that remains."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def __call__(self, remaining: float) -> float:
        """The value when the share `remaining` (1 to 0) of the steps is still to come."""
        return self.end + (self.start - self.end) * max(0.0, min(1.0, remaining))
