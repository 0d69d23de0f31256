"""The table `ppo`."""

from __future__ import annotations

from pydantic import Field, PositiveFloat, PositiveInt

from weir_train.configuration import Settings


class PpoSettings(Settings):
    """Proximal policy optimization."""

    learning_rate: PositiveFloat = 3e-4
    """Learning rate of Adam at the first step."""
    learning_rate_end: PositiveFloat = 3e-5
    """Learning rate at the last step, reached linearly."""
    steps_per_update: PositiveInt = 512
    """Decision intervals of each environment between two updates."""
    batch_size: int = Field(512, ge=2)
    """Samples of a gradient step; a divisor of `environments` * `steps_per_update`."""
    epochs: int = Field(6, ge=1, le=1000)
    """Passes over the samples of an update."""
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    """Discount of rewards, per interval."""
    gae_lambda: float = Field(0.9, ge=0.0, le=1.0)
    """Lambda of the generalized advantage estimation."""
    clip_range: float = Field(0.2, gt=0.0, lt=1.0)
    """Epsilon of the clipped objective: how far a ratio of probabilities may be from 1."""
    entropy_coefficient: float = Field(0.003, ge=0.0)
    """Weight of the policy's entropy at the first step."""
    entropy_coefficient_end: float = Field(0.0, ge=0.0)
    """Weight of the entropy at the last step, reached linearly."""
    value_coefficient: float = Field(0.5, ge=0.0)
    """Weight of the critic's loss."""
    maximum_gradient_norm: PositiveFloat = 0.5
    """Maximum norm of a gradient; longer ones are scaled down."""
    target_kl: PositiveFloat | None = 0.03
    """Kullback-Leibler divergence in nats; an update ends early at 1.5 times this."""
    weight_average_decay: float = Field(0.0, ge=0.0, lt=1.0)
    """Decay per update of the moving average of the weights, which is then the policy of the run; 0: off."""
