"""The configuration of the algorithms `td3` and `sac`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from weir_train.configuration import Settings
from weir_train.configuration.training import TrainingConfiguration


class OffPolicySettings(Settings):
    """Settings that TD3 and SAC share."""

    learning_rate: PositiveFloat = 1e-3
    """The learning rate of Adam at the first step."""
    learning_rate_end: PositiveFloat = 1e-3
    """The same at the last step, reached linearly."""
    buffer_size: PositiveInt = 300_000
    """Transitions that the replay buffer holds, of all environments together; a batch and one of each at least."""
    learning_starts: NonNegativeInt = 1_000
    """Steps of all environments together before the first update; their actions are random."""
    batch_size: PositiveInt = 256
    """Samples of a gradient step."""
    tau: float = Field(0.005, gt=0.0, le=1.0)
    """Share of the way to the trained weights that those of the target networks go at an update."""
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    """Discount of rewards, per interval."""
    steps_per_update: PositiveInt = 1
    """Decision intervals of each environment between two updates."""
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
    """Weight of the policy's entropy; `"auto"`: it is learned."""


class OffPolicyConfiguration(TrainingConfiguration):
    """A whole file."""

    learner: ClassVar[str] = "weir_papers.off_policy.training"
    td3: Td3Settings = Td3Settings()
    sac: SacSettings = SacSettings()

    @property
    def off_policy(self) -> OffPolicySettings:
        """The table of the algorithm."""
        return self.td3 if self.algorithm == "td3" else self.sac

    @property
    def steps_per_update(self) -> int:
        """See the base."""
        return self.off_policy.steps_per_update * self.environment.environments

    @model_validator(mode="after")
    def _buffer(self) -> OffPolicyConfiguration:
        settings = self.off_policy
        needed = max(settings.batch_size, self.environment.environments)
        if settings.buffer_size < needed:
            raise ValueError(
                f"{self.algorithm}.buffer_size {settings.buffer_size} must hold a batch and a transition of every "
                f"environment: at least {needed}"
            )
        return self
