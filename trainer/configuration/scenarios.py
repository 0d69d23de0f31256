"""The scenarios of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import PositiveFloat, model_validator

from weir.errors import InputError
from weir.traces.generate.random_domain import Split, random_scenario
from weir.traces.schema.scenario import Scenario
from weir.trainer.configuration import Settings

_DRAWS = 1000


class ScenarioSettings(Settings):
    """The table `scenarios` of a training configuration.

    `random_domain` draws from the `train` split of `weir.traces.generate.random_domain`; its `held_out` split is
    for evaluation and never trained on.
    """

    source: Literal["random_domain", "files"] = "random_domain"
    files: tuple[Path, ...] = ()
    maximum_mean_bps: PositiveFloat = 1e9
    minimum_duration_s: PositiveFloat = 20.0
    maximum_duration_s: PositiveFloat = 60.0

    @model_validator(mode="after")
    def _consistent(self) -> ScenarioSettings:
        if (self.source == "files") != bool(self.files):
            raise ValueError('files: give a list of files exactly when source is "files"')
        if self.minimum_duration_s > self.maximum_duration_s:
            raise ValueError("minimum_duration_s must not be above maximum_duration_s")
        return self


class ScenarioSampler:
    """A function from a seed to a scenario document, as `EpisodeSource` takes it; may be pickled.

    Args:
        settings: what to draw from.
        split: of the random domain.

    Attributes:
        documents: the given scenarios; empty for the random domain.

    Raises:
        InputError: a file cannot be read, or is no scenario.
    """

    def __init__(self, settings: ScenarioSettings, split: Split = "train") -> None:
        self.settings = settings
        self.split: Split = split
        self.documents: list[dict[str, Any]] = [Scenario.load(path).to_dict() for path in settings.files]

    def __call__(self, seed: int) -> dict[str, Any]:
        """The scenario of that seed; files keep their own durations."""
        if self.documents:
            return self.documents[seed % len(self.documents)]
        # Different durations, so that the environments of a batch are at different stages of their episodes.
        share = np.random.default_rng(seed).random()
        shortest_s, longest_s = self.settings.minimum_duration_s, self.settings.maximum_duration_s
        duration_s = round(shortest_s + share * (longest_s - shortest_s), 1)
        for attempt in range(_DRAWS):
            scenario = random_scenario(seed + attempt, split=self.split, duration_s=duration_s)
            capacity = scenario.forward.capacity
            mean_bps = float("inf") if capacity is None else capacity.trace().mean_bps(scenario.duration_s)
            if mean_bps <= self.settings.maximum_mean_bps:
                return scenario.to_dict()
        raise InputError(
            f"scenarios: {_DRAWS} draws from the random domain gave none with a mean capacity of at most "
            f"{self.settings.maximum_mean_bps:g} bps"
        )
