"""The tables `ppo`, `td3` and `sac`. A key that an earlier table has, too, means the same."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from weir.trainer.configuration import Settings

ALGORITHMS = ("ppo", "td3", "sac")


class PpoSettings(Settings):
    """Proximal policy optimization."""

    learning_rate: PositiveFloat = 3e-4
    """The learning rate of Adam at the first step."""
    learning_rate_end: PositiveFloat = 3e-5
    """The same at the last step, reached linearly."""
    steps_per_update: PositiveInt = 512
    """Decision intervals of each environment between two updates."""
    batch_size: int = Field(512, ge=2)
    """Samples of a gradient step; of `ppo` a divisor of `environments` * `steps_per_update`."""
    epochs: int = Field(6, ge=1, le=1000)
    """Passes over the samples of an update."""
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    """Discount of rewards, per interval."""
    gae_lambda: float = Field(0.9, ge=0.0, le=1.0)
    """Lambda of the generalized advantage estimation."""
    clip_range: float = Field(0.2, gt=0.0, lt=1.0)
    """Epsilon of the clipped objective: how far a ratio of probabilities may be from 1."""
    entropy_coefficient: float = Field(0.003, ge=0.0)
    """Weight of the policy's entropy, at the first step; of `sac` throughout, and learned where it is `"auto"`."""
    entropy_coefficient_end: float = Field(0.0, ge=0.0)
    """The same at the last step, reached linearly."""
    value_coefficient: float = Field(0.5, ge=0.0)
    """Weight of the critic's loss."""
    maximum_gradient_norm: PositiveFloat = 0.5
    """Longer gradients are scaled down to it."""
    target_kl: PositiveFloat | None = 0.03
    """Kullback-Leibler divergence, in nats: an update ends early at 1.5 times as much."""
    weight_average_decay: float = Field(0.0, ge=0.0, lt=1.0)
    """Decay per update of the moving average of the weights, which is then the policy of the run; 0: off."""


class OffPolicySettings(Settings):
    """Settings that TD3 and SAC share."""

    learning_rate: PositiveFloat = 1e-3
    learning_rate_end: PositiveFloat = 1e-3
    buffer_size: PositiveInt = 300_000
    """Transitions that the replay buffer holds, of all environments together; a batch and one of each at least."""
    learning_starts: NonNegativeInt = 1_000
    """Steps of all environments together before the first update; their actions are random."""
    batch_size: PositiveInt = 256
    tau: float = Field(0.005, gt=0.0, le=1.0)
    """Share of the way to the trained weights that those of the target networks go at an update."""
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    steps_per_update: PositiveInt = 1
    gradient_steps: PositiveInt = 1
    """Gradient steps of an update."""


class Td3Settings(OffPolicySettings):
    """Twin-delayed DDPG, exploring with noise on actions in [-1, 1]."""

    action_noise: NonNegativeFloat = 0.1
    """Standard deviation of gaussian noise on actions in [-1, 1], or the sigma of Ornstein-Uhlenbeck noise."""
    noise: Literal["gaussian", "ornstein_uhlenbeck"] = "gaussian"
    """Drawn anew at every step; or from 0 at the start of an episode by `action_noise` / 10 a step, towards a standard
    deviation of 1.8 `action_noise` after several hundred steps (stable-baselines3's theta and dt).
    """
    policy_delay: PositiveInt = 2
    """Updates of the critics for each of the policy."""
    target_policy_noise: NonNegativeFloat = 0.2
    """Standard deviation of the noise on the target policy's actions."""
    target_noise_clip: NonNegativeFloat = 0.5
    """The largest such noise."""


class SacSettings(OffPolicySettings):
    """Soft actor-critic."""

    learning_rate: PositiveFloat = 3e-4
    learning_rate_end: PositiveFloat = 3e-4
    entropy_coefficient: Literal["auto"] | NonNegativeFloat = "auto"
