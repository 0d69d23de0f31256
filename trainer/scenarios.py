"""Where training takes its scenarios from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, PositiveFloat, model_validator

from weir.traces.errors import InputError
from weir.traces.random_domain import random_scenario
from weir.traces.scenario import Scenario

_DRAWS = 1000


class ScenarioSettings(BaseModel):
    """The table `scenarios` of a training configuration.

    `random_domain` draws from the `train` split of `weir.traces.random_domain`; its `held_out` split is for evaluation
    and never trained on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Literal["random_domain", "files"] = "random_domain"
    files: tuple[Path, ...] = ()
    minimum_mean_bps: PositiveFloat = 1.0
    maximum_mean_bps: PositiveFloat = 1e9
    minimum_duration_s: PositiveFloat = 20.0
    maximum_duration_s: PositiveFloat = 60.0

    @model_validator(mode="after")
    def _consistent(self) -> ScenarioSettings:
        if (self.source == "files") != bool(self.files):
            raise ValueError('files: give a list of files exactly when source is "files"')
        if self.minimum_mean_bps >= self.maximum_mean_bps:
            raise ValueError("minimum_mean_bps must be below maximum_mean_bps")
        if self.minimum_duration_s > self.maximum_duration_s:
            raise ValueError("minimum_duration_s must not be above maximum_duration_s")
        return self


class ScenarioSampler:
    """A function from a seed to a scenario document, as `EpisodeSource` takes it; may be pickled.

    Raises:
        InputError: a file cannot be read.
    """

    def __init__(self, settings: ScenarioSettings) -> None:
        self.settings = settings
        self._documents = [Scenario.load(path).to_dict() for path in settings.files]

    def __call__(self, seed: int) -> dict[str, Any]:
        """The scenario of that seed; files keep their own durations."""
        if self._documents:
            return self._documents[seed % len(self._documents)]
        # Of different lengths, so that the environments of a batch are in different parts of their episodes.
        share = np.random.default_rng(seed).random()
        shortest_s, longest_s = self.settings.minimum_duration_s, self.settings.maximum_duration_s
        duration_s = round(shortest_s + share * (longest_s - shortest_s), 1)
        for attempt in range(_DRAWS):
            scenario = random_scenario(seed + attempt, split="train", duration_s=duration_s)
            capacity = scenario.forward.capacity
            mean_bps = float("inf") if capacity is None else capacity.trace().mean_bps(scenario.duration_s)
            if self.settings.minimum_mean_bps <= mean_bps <= self.settings.maximum_mean_bps:
                return scenario.to_dict()
        raise InputError(
            f"scenarios: {_DRAWS} draws from the random domain gave none with a mean capacity of "
            f"{self.settings.minimum_mean_bps:g} to {self.settings.maximum_mean_bps:g} bps"
        )
