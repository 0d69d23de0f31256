"""The algorithms of stable-baselines3: PPO, TD3, SAC. See `Learner`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.noise import ActionNoise, NormalActionNoise, OrnsteinUhlenbeckActionNoise

from weir.trainer.configuration.algorithms import OffPolicySettings
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.learning.algorithms import LinearSchedule, events_folder, make_environment
from weir.trainer.learning.callbacks import STEPS_BETWEEN_RECORDS
from weir.trainer.learning.learner import TrainingOutcome, TrainingRun
from weir.trainer.learning.reinforcement import reinforce
from weir.trainer.policies.networks import PreferencePolicy
from weir.trainer.policies.off_policy import PreferenceFeatures, SacPreferencePolicy, Td3PreferencePolicy

ReinforcedPolicy = PreferencePolicy | Td3PreferencePolicy | SacPreferencePolicy
PACKAGES: Final = ("stable-baselines3", "torch", "gymnasium")
_OFF_POLICY: Final[dict[str, type[ReinforcedPolicy]]] = {"td3": Td3PreferencePolicy, "sac": SacPreferencePolicy}


def make_policy(configuration: TrainingConfiguration) -> ReinforcedPolicy:
    """An untrained policy alone."""
    spaces = configuration.environment.specification().spaces()
    make = _policy_class(configuration.algorithm)
    return make(*spaces, lambda remaining: 0.0, **_policy_arguments(configuration))


def train(run: TrainingRun) -> TrainingOutcome:
    """Trains until all steps are done.

    Raises:
        SimulatorError: a simulator failed; the last checkpoint stays.
    """
    if run.configuration.algorithm in _OFF_POLICY:
        # Rollouts of a few steps and episodes of each environment, too short for a record each.
        episodes = 4 * run.configuration.environment.environments
        return reinforce(run, _learner(run), log_interval=episodes, steps_between_records=STEPS_BETWEEN_RECORDS)
    return reinforce(run, _learner(run), weight_average_decay=run.configuration.ppo.weight_average_decay)


@contextmanager
def _learner(run: TrainingRun) -> Iterator[BaseAlgorithm]:
    environment = make_environment(run.configuration, run.simulator, objective=run.objective, sampler=run.sampler)
    with closing(environment):
        yield make_model(run.configuration, environment, run.folder)


def origin(configuration: TrainingConfiguration) -> dict[str, Any]:
    """See `Learner`."""
    return {}


def description(configuration: TrainingConfiguration, done: str) -> dict[str, Any]:
    """See `Learner`."""
    return {
        "algorithm": f"{configuration.algorithm.upper()} (stable-baselines3), {done} steps",
        "network": {"hidden": list(configuration.policy.hidden)},
    }


def make_model(
    configuration: TrainingConfiguration, environment: BottleneckVecEnv, folder: Path | None = None
) -> BaseAlgorithm:
    """A fresh learner; TensorBoard's events go to `folder`."""
    algorithm = configuration.algorithm
    make = _td3 if algorithm == "td3" else _sac if algorithm == "sac" else _ppo
    settings = configuration.algorithm_settings
    events = events_folder(folder)
    model = make(
        configuration,
        policy=_policy_class(algorithm),
        policy_kwargs=_policy_arguments(configuration),
        env=environment,
        learning_rate=LinearSchedule(settings.learning_rate, settings.learning_rate_end),
        seed=configuration.seed,
        device="cpu",
        tensorboard_log=events,
    )
    if events is None:
        # stable-baselines3 would make a folder for temporary files, and leave it there.
        model.set_logger(Logger(None, []))
    return model


def _policy_class(algorithm: str) -> type[ReinforcedPolicy]:
    return _OFF_POLICY.get(algorithm, PreferencePolicy)


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
        **common,
    )


def _td3(configuration: TrainingConfiguration, **common: Any) -> TD3:
    td3 = configuration.td3
    return TD3(
        action_noise=_noise(configuration),
        policy_delay=td3.policy_delay,
        target_policy_noise=td3.target_policy_noise,
        target_noise_clip=td3.target_noise_clip,
        **_off_policy(td3),
        **common,
    )


def _sac(configuration: TrainingConfiguration, **common: Any) -> SAC:
    return SAC(ent_coef=configuration.sac.entropy_coefficient, **_off_policy(configuration.sac), **common)


def _off_policy(settings: OffPolicySettings) -> dict[str, Any]:
    return {
        "buffer_size": settings.buffer_size,
        "learning_starts": settings.learning_starts,
        "batch_size": settings.batch_size,
        "tau": settings.tau,
        "gamma": settings.gamma,
        "train_freq": settings.steps_per_update,
        "gradient_steps": settings.gradient_steps,
    }


def _policy_arguments(configuration: TrainingConfiguration) -> dict[str, Any]:
    """Arguments of the policy besides its spaces and schedule."""
    policy = configuration.policy
    common = {
        "specification": configuration.environment.specification(),
        "preference_size": policy.preference_size,
    }
    if configuration.algorithm in _OFF_POLICY:
        return {
            "net_arch": list(policy.hidden),
            "optimizer_kwargs": {"fused": True},  # a quarter of the time of a step of Adam on these small networks
            "features_extractor_class": PreferenceFeatures,
            "features_extractor_kwargs": common,
        }
    return common | {"hidden": policy.hidden, "log_std_init": policy.initial_log_standard_deviation}


def _noise(configuration: TrainingConfiguration) -> ActionNoise | None:
    deviation = configuration.td3.action_noise
    if deviation == 0:
        return None
    kind = NormalActionNoise if configuration.td3.noise == "gaussian" else OrnsteinUhlenbeckActionNoise
    return kind(np.zeros(1), np.full(1, deviation))
