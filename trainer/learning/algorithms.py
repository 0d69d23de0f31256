"""The learners of stable-baselines3 and their environments, made from a configuration, and checkpoints."""

from __future__ import annotations

import io
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import ActionNoise, NormalActionNoise, OrnsteinUhlenbeckActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.save_util import load_from_zip_file

from weir.errors import InputError
from weir.files.output import write_bytes
from weir.trainer.configuration.algorithms import OffPolicySettings
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.gym.vector import BottleneckVectorEnv
from weir.trainer.learning.run_record import load_run_configuration
from weir.trainer.learning.student import is_student, load_student, student_steps
from weir.trainer.policies.networks import PreferencePolicy
from weir.trainer.policies.off_policy import (
    PreferenceFeatures,
    SacPreferencePolicy,
    Td3PreferencePolicy,
    load_replay_buffer,
    save_replay_buffer,
)
from weir.trainer.policies.recurrent import RecurrentPolicy

TrainedPolicy = PreferencePolicy | Td3PreferencePolicy | SacPreferencePolicy | RecurrentPolicy
REPLAY_BUFFER = "replay_buffer.npz"
LEARNERS: dict[str, type[BaseAlgorithm]] = {"ppo": PPO, "td3": TD3, "sac": SAC}
POLICIES: dict[str, type[PreferencePolicy | Td3PreferencePolicy | SacPreferencePolicy]] = {
    "ppo": PreferencePolicy,
    "td3": Td3PreferencePolicy,
    "sac": SacPreferencePolicy,
}
# Not loaded from a checkpoint: the configuration has it, and a policy alone does not need it.
_FORGOTTEN: dict[str, Any] = {"learning_rate": 0.0, "lr_schedule": None}


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


def make_model(
    configuration: TrainingConfiguration, environment: BottleneckVecEnv, folder: Path | None = None
) -> BaseAlgorithm:
    """A fresh learner; TensorBoard's events go to `folder` when TensorBoard is installed."""
    algorithm = configuration.algorithm
    make = _ppo if algorithm == "ppo" else _td3 if algorithm == "td3" else _sac
    settings = configuration.algorithm_settings
    return make(
        configuration,
        policy=POLICIES[algorithm],
        env=environment,
        learning_rate=LinearSchedule(settings.learning_rate, settings.learning_rate_end),
        seed=configuration.seed,
        device="cpu",
        tensorboard_log=str(folder / "tensorboard") if folder is not None and find_spec("tensorboard") else None,
    )


def load_model(configuration: TrainingConfiguration, checkpoint: Path, environment: BottleneckVecEnv) -> BaseAlgorithm:
    """The learner of a checkpoint of the configuration's algorithm (`check_algorithm`), with its replay buffer if that
    was saved.

    Raises:
        InputError: it is no checkpoint.
    """
    settings = configuration.algorithm_settings
    known = _FORGOTTEN | {"learning_rate": LinearSchedule(settings.learning_rate, settings.learning_rate_end)}
    if isinstance(settings, OffPolicySettings):
        known |= {"buffer_size": settings.buffer_size}
        if configuration.algorithm == "td3":
            known |= {"action_noise": _noise(configuration)}
    model = LEARNERS[configuration.algorithm].load(checkpoint, env=environment, device="cpu", custom_objects=known)
    replay_buffer = checkpoint.with_name(REPLAY_BUFFER)
    if isinstance(model, OffPolicyAlgorithm) and replay_buffer.is_file():
        load_replay_buffer(model, replay_buffer)
    return model


def load_policy(checkpoint: str | os.PathLike[str]) -> TrainedPolicy:
    """The policy of a checkpoint of any algorithm; that of imitation needs the run's configuration beside it.

    Raises:
        InputError: the file is missing, damaged or no checkpoint.
    """
    checkpoint = Path(checkpoint)
    if is_student(checkpoint):
        return load_student(load_run_configuration(checkpoint.parent), checkpoint)[0]
    algorithm = _algorithm_of(checkpoint)
    # A policy needs no replay buffer, and one of full size would be made.
    known = _FORGOTTEN if algorithm == "ppo" else _FORGOTTEN | {"buffer_size": 1, "n_envs": 1}
    policy = LEARNERS[algorithm].load(checkpoint, device="cpu", custom_objects=known).policy
    assert isinstance(policy, PreferencePolicy | Td3PreferencePolicy | SacPreferencePolicy)
    return policy


def checkpoint_steps(checkpoint: str | os.PathLike[str]) -> int:
    """How many environment steps the policy of a checkpoint has learned from.

    Raises:
        InputError: the file is missing or no checkpoint.
    """
    checkpoint = Path(checkpoint)
    if is_student(checkpoint):
        return student_steps(checkpoint)
    return int(_read(checkpoint)["num_timesteps"])


def check_algorithm(configuration: TrainingConfiguration, checkpoint: Path) -> None:
    """Checks that a configuration can continue a checkpoint.

    Raises:
        InputError: it is no checkpoint, or one of another algorithm.
    """
    algorithm = "imitation" if is_student(checkpoint) else _algorithm_of(checkpoint)
    if algorithm != configuration.algorithm:
        raise InputError(f"{checkpoint}: was trained with {algorithm}, not with {configuration.algorithm}")
    if algorithm == "imitation":
        load_student(configuration, checkpoint)  # of the same network


def save_checkpoint(model: BaseAlgorithm, path: Path, *, replay_buffer: bool = False) -> None:
    """Writes the checkpoint so that an interruption leaves the old one or the new one, never half of one."""
    # In memory first: torch reports a full disk with an obscure error.
    content = io.BytesIO()
    model.save(content)
    write_bytes(path, content.getbuffer())
    if replay_buffer and isinstance(model, OffPolicyAlgorithm):
        save_replay_buffer(model, path.with_name(REPLAY_BUFFER))


class LinearSchedule:
    """Linear from `start` at the first step to `end` at the last; stable-baselines3 passes the share that remains."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def __call__(self, remaining: float) -> float:
        """The value when the share `remaining` (1 to 0) of the steps is still to come."""
        return self.end + (self.start - self.end) * max(0.0, min(1.0, remaining))


def _read(checkpoint: Path) -> dict[str, Any]:
    """The data of a checkpoint without its parameters."""
    if not checkpoint.is_file():
        raise InputError(f"{checkpoint}: there is no such checkpoint")
    try:
        data, _, _ = load_from_zip_file(checkpoint, device="cpu", custom_objects=_FORGOTTEN)
    # A damaged pickle may raise anything.
    except Exception as error:
        raise InputError(_damaged(checkpoint, type(error).__name__)) from None
    if data is None or "num_timesteps" not in data:
        raise InputError(_damaged(checkpoint, "it has no number of steps"))
    return data


def _damaged(checkpoint: Path, why: str) -> str:
    return (
        f"{checkpoint}: is damaged, or no checkpoint of `weir train` ({why}): train anew, or put a whole copy in its "
        "place"
    )


def _algorithm_of(checkpoint: Path) -> str:
    policy = _read(checkpoint).get("policy_class")
    for algorithm, known in POLICIES.items():
        if policy is known:
            return algorithm
    raise InputError(f"{checkpoint}: holds a {getattr(policy, '__name__', policy)}, not a policy of `weir train`")


def _ppo(configuration: TrainingConfiguration, **common: Any) -> PPO:
    ppo = configuration.ppo
    return PPO(
        n_steps=ppo.steps_per_update,
        batch_size=ppo.batch_size,
        n_epochs=ppo.epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy_coefficient,
        vf_coef=ppo.value_coefficient,
        max_grad_norm=ppo.maximum_gradient_norm,
        target_kl=ppo.target_kl,
        policy_kwargs={
            "specification": configuration.environment.specification(),
            "preference_size": configuration.policy.preference_size,
            "hidden": configuration.policy.hidden,
            "log_std_init": configuration.policy.initial_log_standard_deviation,
        },
        **common,
    )


def _td3(configuration: TrainingConfiguration, **common: Any) -> TD3:
    td3 = configuration.td3
    return TD3(
        action_noise=_noise(configuration),
        policy_delay=td3.policy_delay,
        target_policy_noise=td3.target_policy_noise,
        target_noise_clip=td3.target_noise_clip,
        **_off_policy(configuration, td3),
        **common,
    )


def _sac(configuration: TrainingConfiguration, **common: Any) -> SAC:
    return SAC(
        ent_coef=configuration.sac.entropy_coefficient, **_off_policy(configuration, configuration.sac), **common
    )


def _off_policy(configuration: TrainingConfiguration, settings: OffPolicySettings) -> dict[str, Any]:
    return {
        "buffer_size": settings.buffer_size,
        "learning_starts": settings.learning_starts,
        "batch_size": settings.batch_size,
        "tau": settings.tau,
        "gamma": settings.gamma,
        "train_freq": settings.steps_per_update,
        "gradient_steps": settings.gradient_steps,
        "policy_kwargs": {
            "net_arch": list(configuration.policy.hidden),
            "optimizer_kwargs": {"fused": True},  # a quarter of the time of a step of Adam on these small networks
            "features_extractor_class": PreferenceFeatures,
            "features_extractor_kwargs": {
                "specification": configuration.environment.specification(),
                "preference_size": configuration.policy.preference_size,
            },
        },
    }


def _noise(configuration: TrainingConfiguration) -> ActionNoise | None:
    deviation = configuration.td3.action_noise
    if deviation == 0:
        return None
    kind = NormalActionNoise if configuration.td3.noise == "gaussian" else OrnsteinUhlenbeckActionNoise
    return kind(np.zeros(1), np.full(1, deviation))
