"""The configuration of algorithm `imitation`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, PositiveInt, model_validator

from weir_train.configuration import Settings
from weir_train.configuration.training import TrainingConfiguration


class ImitationSettings(Settings):
    """Dataset aggregation (Ross et al. 2011), as Muses trains its teacher: a recurrent student acts, and learns the
    actions that the teachers would have taken. `steps` of the configuration are the student's decisions.
    """

    teachers: tuple[str, ...] = Field(("oracle",), min_length=1)
    """`"oracle"` or model files; of several the mean action."""
    hidden: int = Field(64, ge=1, le=1024)
    """Width of each layer of the LSTM."""
    layers: int = Field(1, ge=1, le=4)
    """Layers of the LSTM; Muses' teacher has two."""
    decisions_per_iteration: PositiveInt = 25_600
    """Decisions between two updates, of all environments together."""


class ImitationConfiguration(TrainingConfiguration):
    """A whole file."""

    learner: ClassVar[str] = "weir_papers.imitation.dataset_aggregation"
    from_rewards: ClassVar[bool] = False
    imitation: ImitationSettings = ImitationSettings()

    @property
    def steps_per_update(self) -> int:
        """An iteration ends with an episode, so that its steps are not known before."""
        return 1

    @model_validator(mode="after")
    def _around_the_rule(self) -> ImitationConfiguration:
        if self.environment.action.kind != "around_rule":
            raise ValueError('algorithm imitation: needs environment.action.kind "around_rule"')
        return self
