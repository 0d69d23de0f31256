"""The configuration of algorithm `impala`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, PositiveFloat

from weir_train.configuration import Settings
from weir_train.configuration.training import TrainingConfiguration


class ImpalaSettings(Settings):
    """IMPALA (Espeholt et al. 2018) on Ray: every runner drives `environments` environments."""

    runners: int | None = Field(None, ge=1, le=4096)
    """Processes that sample; none: one for each core of the machine or the cluster."""
    learning_rate: PositiveFloat = 1e-3
    """The learning rate of Adam at the first step."""
    learning_rate_end: PositiveFloat = 1e-4
    """The same at the last step, reached linearly."""
    steps_per_fragment: int = Field(48, ge=2, le=10_000)
    """Decision intervals of each environment that a runner sends at once; V-trace sums over them."""
    batch_size: int = Field(2048, ge=2)
    """Samples of a gradient step."""
    epochs: int = Field(5, ge=1, le=100)
    """Passes over the samples of an update, each with V-trace anew."""
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    """Discount of rewards, per interval."""
    trace_decay: float = Field(0.9, ge=0.0, le=1.0)
    """Lambda of V-trace."""
    ratio_limit: PositiveFloat = 1.0
    """Rho of V-trace."""
    clip_range: float = Field(0.2, gt=0.0, lt=1.0)
    """Epsilon of PPO's clipped objective: how far a ratio of probabilities may be from 1."""
    entropy_coefficient: float = Field(0.003, ge=0.0)
    """Weight of the policy's entropy, at the first step."""
    entropy_coefficient_end: float = Field(0.0, ge=0.0)
    """The same at the last step, reached linearly."""
    value_coefficient: float = Field(0.5, ge=0.0)
    """Weight of the critic's loss."""
    maximum_gradient_norm: PositiveFloat = 0.5
    """Longer gradients are scaled down to it."""
    weight_average_decay: float = Field(0.0, ge=0.0, lt=1.0)
    """Decay per update of the moving average of the weights, which is then the policy of the run; 0: off."""
    standstill_s: PositiveFloat = 180.0
    """A training that has sampled or learned nothing for so many seconds ends with an error."""


class ImpalaConfiguration(TrainingConfiguration):
    """A whole file."""

    learner: ClassVar[str] = "weir_papers.mvfst.impala.training"
    on_cluster: ClassVar[bool] = True
    impala: ImpalaSettings = ImpalaSettings()

    @property
    def steps_per_update(self) -> int:
        """See the base."""
        return self.impala.steps_per_fragment * self.environment.environments
