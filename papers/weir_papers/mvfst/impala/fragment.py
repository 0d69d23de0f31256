"""The data that runners send to the learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Fragment:
    """T steps of N environments, float32 unless noted.

    Attributes:
        observations: (N, T + 1, width); the last is the first of the next fragment.
        actions: (N, T), not clipped.
        log_probabilities: (N, T), of the actions under the policy that acted.
        rewards: (N, T).
        terminated: (N, T) of bool.
        truncated: (N, T) of bool; `final_observations` (K, width) are the last ones of these K episodes, in this order.
        episodes: `r`, `l` and `objectives` of each that ended, as `BottleneckVecEnv` has them.
        update: the learner's updates before the policy that acted.
    """

    observations: np.ndarray
    actions: np.ndarray
    log_probabilities: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_observations: np.ndarray
    episodes: list[dict[str, Any]]
    update: int

    @property
    def steps(self) -> int:
        """Environment steps, of all environments together."""
        return int(self.rewards.size)
