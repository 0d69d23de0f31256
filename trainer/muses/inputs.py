"""What a tree may ask about: some fifty numbers instead of the teacher's whole history."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import gymnasium
import numpy as np
import torch

from weir.errors import InputError
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.policies.feature_scaling import FeatureScaling

OBJECTIVE: tuple[str, ...] = ("throughput", "latency", "loss")


@dataclass(frozen=True)
class TreeInputs:
    """Fixed sums of the scaled observation (`FeatureScaling`): of each feature of the history the newest value and the
    mean over all intervals, of those about the path the newest, the logarithm of the rule's rate, the objective's
    weights.

    Raises:
        InputError: the features do not say what the ten-line rule would answer, or actions are not around it.
    """

    specification: EnvironmentSpecification

    def __post_init__(self) -> None:
        if self.specification.privileged or self.specification.action.kind != "around_rule":
            raise InputError("trees need actions around the rule, and see nothing privileged")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the inputs, in order."""
        of_interval = self.specification.interval_features
        means = tuple(f"{name}_mean" for name in of_interval)
        return (*of_interval, *means, *self.specification.path_features, "rule_rate", *OBJECTIVE)

    @property
    def state_size(self) -> int:
        """How many of the inputs, from the first on, are about the path; the objective's weights come after them."""
        return len(self.names) - len(OBJECTIVE)

    @cached_property
    def weight(self) -> np.ndarray:
        """float32 (observation_size + 4, inputs): `FeatureScaling`'s answer times this is the inputs."""
        intervals, history = len(self.specification.interval_features), self.specification.history
        newest = np.eye(intervals * history, intervals)
        means = np.tile(np.eye(intervals), (history, 1)) / history
        rest = np.eye(len(self.names) - 2 * intervals)
        weight = np.zeros((len(newest) + len(rest), len(self.names)), dtype=np.float32)
        weight[: len(newest), :intervals], weight[: len(newest), intervals : 2 * intervals] = newest, means
        weight[len(newest) :, 2 * intervals :] = rest
        return weight

    @cached_property
    def scaling(self) -> FeatureScaling:
        """How raw observations are scaled."""
        low, high = self.specification.observation_limits()
        return FeatureScaling(gymnasium.spaces.Box(low, high, dtype=np.float32), self.specification)

    def of(self, observations: np.ndarray) -> np.ndarray:
        """Inputs, float32 (N, inputs), for whole observations, float32 (N, width)."""
        with torch.no_grad():
            return (self.scaling(torch.from_numpy(observations)) @ torch.from_numpy(self.weight)).numpy()
