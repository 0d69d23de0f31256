"""MOCC with Q-learning in place of PPO (Figure 19): stable-baselines3's DQN on levels of MOCC's action."""

from __future__ import annotations

import os
from typing import Any, Final

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from weir_papers.off_policy.policies import PreferenceFeatures
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.gym.specification import ObjectiveSource
from weir_train.gym.vector import BottleneckVectorEnv

LEVELS: Final = np.linspace(-1.0, 1.0, 9, dtype=np.float32)
_STEPS_PER_ROUND: Final = 4  # of each environment
_STEPS_PER_GRADIENT_STEP: Final = 16


class LevelVecEnv(BottleneckVecEnv):
    """Environments whose action is the index of one of `LEVELS`."""

    def __init__(self, environment: BottleneckVectorEnv) -> None:
        super().__init__(environment)
        self.action_space = gymnasium.spaces.Discrete(len(LEVELS))

    def step_async(self, actions: np.ndarray) -> None:
        """See `BottleneckVecEnv`."""
        super().step_async(LEVELS[np.asarray(actions).reshape(-1)][:, None])


def train_dqn(
    configuration: TrainingConfiguration,
    objective: ObjectiveSource,
    callback: BaseCallback,
    simulator: str | os.PathLike[str] | None = None,
) -> DQN:
    """A network of MOCC's size after `configuration.steps` steps, with epsilon-greedy actions.

    Raises:
        ComponentFailed: a simulator failed.
    """
    torch.set_num_threads(configuration.threads)
    settings = configuration.environment
    environment = LevelVecEnv(
        BottleneckVectorEnv(
            settings.environments,
            ScenarioSampler(configuration.scenarios),
            objective=objective,
            simulator=simulator,
            **settings.arguments(),
        )
    )
    environment.seed(configuration.seed)
    arguments: dict[str, Any] = {
        "net_arch": list(configuration.policy.hidden),
        "features_extractor_class": PreferenceFeatures,
        "features_extractor_kwargs": {
            "specification": settings.specification(),
            "preference_size": configuration.policy.preference_size,
        },
    }
    try:
        model = DQN(
            "MlpPolicy",
            environment,
            learning_rate=configuration.ppo.learning_rate,
            buffer_size=200_000,
            learning_starts=min(10_000, configuration.steps // 10),
            batch_size=256,
            gamma=configuration.ppo.gamma,
            train_freq=_STEPS_PER_ROUND,
            gradient_steps=max(1, settings.environments * _STEPS_PER_ROUND // _STEPS_PER_GRADIENT_STEP),
            target_update_interval=max(1, 5_000 // settings.environments),
            exploration_fraction=0.3,
            policy_kwargs=arguments,
            seed=configuration.seed,
            device="cpu",
        )
        model.set_logger(Logger(None, []))
        model.learn(configuration.steps, callback)
    finally:
        environment.close()
    return model


def act_with(model: DQN, observations: np.ndarray) -> np.ndarray:
    """The greedy actions of MOCC, (N, 1), after observations (N, width)."""
    indices, _ = model.predict(observations, deterministic=True)
    return np.asarray(LEVELS[np.asarray(indices).reshape(-1)][:, None])
