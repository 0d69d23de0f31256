"""Decisions of real calls as a Minari data set: of each the newest interval, from which histories are rebuilt.

An observation is the newest value of each feature, in the order of `names`, and the objective's three weights. An
action is the one that was executed, in the unit of the model's output. `infos`, for each observation: `policy_actions`
(before noise), `log_probabilities` (of the noise; 0 without), `targets_bps` (in force after the guard), `decided` (it
was the policy's action that the guard got) and `resets` (the history begins).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from weir._core import FEATURES
from weir.trainer.gym.rewards import log_utility

SCHEMA: Final = 1
METADATA: Final = "metadata.json"
DATA: Final = "main_data.hdf5"
# The features that the reward needs.
REWARDED: Final = ("receive_rate_bps", "queueing_delay_max_s", "loss_ratio", "base_round_trip_time_s")


@dataclass(frozen=True)
class RecordedCall:
    """The decisions of a call, T: `newest` (T, features), `objectives` (T, 3), and the members of the module's `infos`
    with the executed `actions`, each (T,).
    """

    key: str
    newest: np.ndarray
    objectives: np.ndarray
    actions: np.ndarray
    policy_actions: np.ndarray
    targets_bps: np.ndarray
    decided: np.ndarray
    resets: np.ndarray


def names(features: Sequence[str]) -> list[str]:
    """The features of a recorded observation in their order: those of intervals, then those of the path."""
    return sorted(features, key=lambda name: FEATURES[name].of_path)


def action_limits(kind: str) -> tuple[float, float]:
    """Between which the actions of a data set are, by the kind of action."""
    return (0.0, 1e11) if kind == "rate_bps" else (-10.0, 10.0)


def call_rewards(features: Sequence[str], newest: np.ndarray, objectives: np.ndarray) -> np.ndarray:
    """The reward `log` of intervals, from features of a receiver: the base delay is half the base round-trip time."""
    column = {name: newest[..., index].astype(np.float64) for index, name in enumerate(names(features))}
    delay_s = column["base_round_trip_time_s"] / 2.0 + column["queueing_delay_max_s"]
    return log_utility(objectives, column["receive_rate_bps"], delay_s, column["loss_ratio"])
