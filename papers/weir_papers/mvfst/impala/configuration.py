"""The configuration of algorithm `impala`."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, PositiveFloat, model_validator

from weir_papers.mvfst.senders import INTERVAL_MS, SPECIFICATION
from weir_train.configuration import Settings
from weir_train.configuration.training import ActionSettings, EnvironmentSettings, TrainingConfiguration
from weir_train.gym.specification import Side

_PAPERS_REWARD = "log"


class SendersSettings(EnvironmentSettings):
    """MVFST-RL's senders, which have no settings but `environments`, the number of a runner, and `timeout_s`."""

    environments: int = Field(24, ge=1, le=4096)
    interval_ms: int = INTERVAL_MS
    history: int = SPECIFICATION.history
    features: tuple[str, ...] = SPECIFICATION.features
    reward: str = _PAPERS_REWARD
    objective: str | tuple[PositiveFloat, PositiveFloat, PositiveFloat] = "balanced"
    side: Side = SPECIFICATION.side
    timeout_s: PositiveFloat = 60.0
    action: ActionSettings = ActionSettings(**vars(SPECIFICATION.action))

    @model_validator(mode="after")
    def _known(self) -> SendersSettings:
        if (self.specification(), self.reward, self.objective) != (SPECIFICATION, _PAPERS_REWARD, "balanced"):
            raise ValueError("algorithm impala has the paper's senders: give only environments and timeout_s")
        return self


class ImpalaSettings(Settings):
    """MVFST-RL's learner (section 4) on Ray: every runner drives `environments` senders."""

    runners: int | None = Field(None, ge=1, le=4096)
    """Processes that sample; none: one for each core of the machine or the cluster."""
    synchronous: bool = False
    """`true`: the runners wait for the learner, and the learner for all of them."""
    recurrent: bool = True
    """`false`: a third layer in the place of the LSTM."""
    hidden: int = Field(256, ge=1, le=1024)
    """Width of the layers and of the LSTM; the paper has 1024, which is too large for a model file."""
    delay_ms: tuple[Annotated[float, Field(ge=0.0, le=10_000.0)], Annotated[float, Field(ge=0.0, le=10_000.0)]] = (
        0.0,
        90.0,
    )
    """The least and the most time of a decision, in milliseconds; each has its own."""
    learning_rate: PositiveFloat = 1e-3
    """The learning rate of RMSprop at the first step; at the last it is 0."""
    entropy: float = Field(0.01, ge=0.0)
    """Coefficient of the entropy."""
    corrected: bool = True
    """`false`: no V-trace, as if the learner had acted."""
    steps_per_fragment: int = Field(75, ge=2, le=10_000)
    """Decisions of each sender that a runner sends at once, with the state of the LSTM before them."""
    standstill_s: PositiveFloat = 180.0
    """A training that has sampled or learned nothing for so many seconds ends with an error."""

    @model_validator(mode="after")
    def _ascending(self) -> ImpalaSettings:
        if self.delay_ms[0] > self.delay_ms[1]:
            raise ValueError("delay_ms: the first must not be above the second")
        return self


class ImpalaConfiguration(TrainingConfiguration):
    """A whole file."""

    learner: ClassVar[str] = "weir_papers.mvfst.impala.training"
    from_rewards: ClassVar[bool] = False
    on_cluster: ClassVar[bool] = True
    environment: SendersSettings = SendersSettings()
    impala: ImpalaSettings = ImpalaSettings()

    @property
    def steps_per_update(self) -> int:
        """See the base."""
        return self.impala.steps_per_fragment * self.environment.environments

    @model_validator(mode="after")
    def _has_emulators(self) -> ImpalaConfiguration:
        if self.scenarios.source == "random_domain":
            raise ValueError(
                'algorithm impala: needs scenarios with source "files" or "random_traces", since rewards are '
                "normalized for each scenario"
            )
        return self
