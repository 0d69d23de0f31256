"""PPO of stable-baselines3, the default algorithm; see `Learner`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger

from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.learning.algorithms import LinearSchedule, events_folder
from weir_train.learning.learner import TrainingOutcome, TrainingRun
from weir_train.learning.reinforcement import description_with_library, in_environment, reinforce
from weir_train.policies.networks import PreferencePolicy

PACKAGES: Final = ("stable-baselines3", "torch", "gymnasium")


def make_policy(configuration: TrainingConfiguration) -> PreferencePolicy:
    """See `Learner`."""
    spaces = configuration.environment.specification().spaces()
    return PreferencePolicy(*spaces, lambda remaining: 0.0, **_policy_arguments(configuration))


def train(run: TrainingRun) -> TrainingOutcome:
    """See `reinforce`."""
    decay = run.configuration.ppo.weight_average_decay
    return reinforce(run, in_environment(run, make_model), weight_average_decay=decay)


def origin(configuration: TrainingConfiguration) -> dict[str, Any]:
    """See `Learner`."""
    return {}


def description(configuration: TrainingConfiguration, done: str) -> dict[str, Any]:
    """See `Learner`."""
    return description_with_library(configuration, "stable-baselines3", done)


def make_model(configuration: TrainingConfiguration, environment: BottleneckVecEnv, folder: Path | None = None) -> PPO:
    """Makes a fresh learner, which writes TensorBoard's events to `folder`."""
    ppo, events = configuration.ppo, events_folder(folder)
    model = PPO(
        policy=PreferencePolicy,
        policy_kwargs=_policy_arguments(configuration),
        env=environment,
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.learning_rate_end),
        seed=configuration.seed,
        device="cpu",
        tensorboard_log=events,
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
    )
    if events is None:
        # Otherwise stable-baselines3 makes a temporary folder and does not remove it.
        model.set_logger(Logger(None, []))
    return model


def _policy_arguments(configuration: TrainingConfiguration) -> dict[str, Any]:
    """Returns the arguments of the policy except its spaces and schedule."""
    policy = configuration.policy
    return {
        "specification": configuration.environment.specification(),
        "preference_size": policy.preference_size,
        "hidden": policy.hidden,
        "log_std_init": policy.initial_log_standard_deviation,
    }
