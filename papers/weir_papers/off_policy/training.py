"""TD3 and SAC of stable-baselines3; see `Learner`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import ActionNoise, NormalActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from weir_papers.off_policy.configuration import OffPolicyConfiguration, Td3Settings
from weir_papers.off_policy.noise import WanderingNoise
from weir_papers.off_policy.policies import PreferenceFeatures, SacPreferencePolicy, Td3PreferencePolicy
from weir_papers.off_policy.replay_buffer import REPLAY_BUFFER, load_replay_buffer, save_replay_buffer
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.learning.algorithms import LinearSchedule, arrays_of, events_folder, load_model
from weir_train.learning.callbacks import STEPS_BETWEEN_RECORDS
from weir_train.learning.checkpoint import write_checkpoint
from weir_train.learning.learner import TrainingOutcome, TrainingRun
from weir_train.learning.reinforcement import description_with_library, in_environment, reinforce

PACKAGES: Final = ("stable-baselines3", "torch", "gymnasium")
_ENTROPY: Final = "log_ent_coef"
_NOISE: Final = "action_noise"


def make_policy(configuration: OffPolicyConfiguration) -> Td3PreferencePolicy | SacPreferencePolicy:
    """An untrained policy alone."""
    make = Td3PreferencePolicy if configuration.algorithm == "td3" else SacPreferencePolicy
    spaces = configuration.environment.specification().spaces()
    return make(*spaces, lambda remaining: 0.0, **_policy_arguments(configuration))


def train(run: TrainingRun) -> TrainingOutcome:
    """See `reinforce`; the replay buffer is beside the checkpoint.

    Raises:
        InputError: a replay buffer that is there does not fit.
    """
    return reinforce(
        run,
        in_environment(run, make_model),
        load=load,
        save=save,
        log_interval=4 * run.configuration.environment.environments,
        steps_between_records=STEPS_BETWEEN_RECORDS,
    )


def origin(configuration: OffPolicyConfiguration) -> dict[str, Any]:
    """See `Learner`."""
    return {}


def description(configuration: OffPolicyConfiguration, done: str) -> dict[str, Any]:
    """See `Learner`."""
    return description_with_library(configuration, "stable-baselines3", done)


def make_model(
    configuration: OffPolicyConfiguration, environment: BottleneckVecEnv, folder: Path
) -> OffPolicyAlgorithm:
    """A fresh learner; TensorBoard's events go to `folder`."""
    settings = configuration.off_policy
    common: dict[str, Any] = {
        "policy_kwargs": _policy_arguments(configuration),
        "env": environment,
        "learning_rate": LinearSchedule(settings.learning_rate, settings.learning_rate_end),
        "seed": configuration.seed,
        "device": "cpu",
        "tensorboard_log": events_folder(folder),
        "buffer_size": settings.buffer_size,
        "learning_starts": settings.learning_starts,
        "batch_size": settings.batch_size,
        "tau": settings.tau,
        "gamma": settings.gamma,
        "train_freq": settings.steps_per_update,
        "gradient_steps": settings.gradient_steps,
    }
    if configuration.algorithm == "sac":
        return SAC(SacPreferencePolicy, ent_coef=configuration.sac.entropy_coefficient, **common)
    td3 = configuration.td3
    return TD3(
        Td3PreferencePolicy,
        action_noise=_noise(td3, configuration.environment.environments),
        policy_delay=td3.policy_delay,
        target_policy_noise=td3.target_policy_noise,
        target_noise_clip=td3.target_noise_clip,
        **common,
    )


def load(model: BaseAlgorithm, checkpoint: Path) -> None:
    """As `load_model`, with the replay buffer if that is there, and the noise of running episodes."""
    assert isinstance(model, OffPolicyAlgorithm)
    found = load_model(model, checkpoint)
    try:
        if (entropy := _learned_entropy(model)) is not None:
            entropy.copy_(torch.from_numpy(found.arrays[_ENTROPY]))
        if found.is_within_run and isinstance(model.action_noise, WanderingNoise):
            model.action_noise.restore(found.arrays[_NOISE])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise found.mismatch_error(error) from None
    replay_buffer = checkpoint.with_name(REPLAY_BUFFER)
    if replay_buffer.is_file():
        load_replay_buffer(model, replay_buffer)


def save(model: BaseAlgorithm, checkpoint: Path, algorithm: str, run: Mapping[str, Any]) -> None:
    """Writes what `load` reads, and the arrays of the run."""
    assert isinstance(model, OffPolicyAlgorithm)
    arrays = arrays_of(model) | dict(run)
    if (entropy := _learned_entropy(model)) is not None:
        arrays[_ENTROPY] = entropy.numpy()
    if isinstance(model.action_noise, WanderingNoise):
        arrays[_NOISE] = model.action_noise.state()
    write_checkpoint(checkpoint, algorithm, model.num_timesteps, arrays)
    save_replay_buffer(model, checkpoint.with_name(REPLAY_BUFFER))


def _learned_entropy(model: BaseAlgorithm) -> torch.Tensor | None:
    """The logarithm of SAC's coefficient of entropy, where that is learned."""
    learned = model.log_ent_coef if isinstance(model, SAC) else None
    return None if learned is None else learned.detach()


def _policy_arguments(configuration: OffPolicyConfiguration) -> dict[str, Any]:
    """Arguments of the policy besides its spaces and schedule."""
    policy = configuration.policy
    return {
        "net_arch": list(policy.hidden),
        "optimizer_kwargs": {"fused": True},  # a quarter of the time of a step of Adam on these small networks
        "features_extractor_class": PreferenceFeatures,
        "features_extractor_kwargs": {
            "specification": configuration.environment.specification(),
            "preference_size": policy.preference_size,
        },
    }


def _noise(td3: Td3Settings, environments: int) -> ActionNoise | None:
    if td3.action_noise == 0:
        return None
    if td3.noise == "gaussian":
        return NormalActionNoise(np.zeros(1), np.full(1, td3.action_noise))
    return WanderingNoise(td3.action_noise, environments)
