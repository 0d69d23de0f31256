"""Rewards: pure functions of step records, vectorized over any batch shape.

A reward takes the records of one interval (`StepRecord` of shape (...)) and the objectives in force (float of shape
(..., 3): throughput, latency, loss) and returns float64 of shape (...). `REWARDS` has those of configurations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from weir_cli.errors import InputError
from weir_eval.measures.call_score import audio_quality, audiovisual_quality, delay_factor, picture_quality
from weir_eval.measures.metrics import CHALLENGE_LARGEST_DELAY_MS
from weir_eval.measures.viewer import estimate_vmaf
from weir_sim.executables import Stack
from weir_train.gym.step import StepRecord

Reward = Callable[[StepRecord, np.ndarray], np.ndarray]

RECOCO_UTILISATION_THRESHOLD: Final = 0.65
# Lower bound of the delay scale, which is CHALLENGE_LARGEST_DELAY_MS minus the path's own delay.
MINIMUM_DELAY_SCALE_MS: Final = 100.0
CHALLENGE_SCALES: Final = np.array([1.0, 1.2, 6.0])
# Capacity during an outage, so that no ratio divides by zero.
MINIMUM_CAPACITY_BPS: Final = 1.0


def utilisation(record: StepRecord) -> np.ndarray:
    """Returns the receive rate over the rate of the media that the path could carry: ReCoCo Eq. 2, bounded by what the
    media may send. In [0, inf).
    """
    return record.receive_rate_bps / np.maximum(record.achievable_bps, MINIMUM_CAPACITY_BPS)


def mocc_objectives(record: StepRecord) -> np.ndarray:
    """Returns the three measures of MOCC Eq. 2, each in [0, 1]: shape (..., 3).

    They are throughput over capacity, base latency over measured latency, and one minus the loss ratio. Throughput
    above capacity (a draining queue) counts as 1. So does an interval without capacity: in an outage, or in a gap
    between the slots of a slotted path.
    """
    if record.mocc_measures is None:  # a reward and the environment's `info` both have them
        record.mocc_measures = _mocc_measures(record)
    return record.mocc_measures


def _mocc_measures(record: StepRecord) -> np.ndarray:
    measures = np.empty((*record.values.shape[:-1], 3))
    delay_ms = record.one_way_delay_mean_ms
    measures[..., 0] = utilisation(record)
    measures[..., 0][record.achievable_bps <= 0] = 1.0
    measures[..., 1] = record.base_one_way_delay_ms / np.maximum(delay_ms, 1e-3)
    measures[..., 1][delay_ms <= 0] = 1.0
    measures[..., 2] = 1.0 - record.loss_ratio
    return measures.clip(0.0, 1.0, out=measures)


def mocc(record: StepRecord, objective: np.ndarray) -> np.ndarray:
    """MOCC Eq. 2: the objective's weights times the three measures; in [0, 1]."""
    return (objective * mocc_objectives(record)).sum(axis=-1)


def recoco_utilisation(u: np.ndarray) -> np.ndarray:
    """ReCoCo Eq. 3 for a utilization in [0, 1]."""
    return np.where(u <= RECOCO_UTILISATION_THRESHOLD, 1.538 * u - 1.0, 1.0 - 8.2 * (u - 1.0) ** 2)


def recoco_delay(delay_ms: np.ndarray) -> np.ndarray:
    """ReCoCo Eq. 4 for a mean one-way delay in ms; -1 above 200 ms."""
    return np.where(
        delay_ms <= 150.0, 1.0 - 0.00667 * delay_ms, np.where(delay_ms <= 200.0, 3.0 - 0.02 * delay_ms, -1.0)
    )


def recoco_loss(loss_ratio: np.ndarray) -> np.ndarray:
    """ReCoCo Eq. 5 for a loss ratio in [0, 1]."""
    return np.select(
        [loss_ratio <= 0.02, loss_ratio <= 0.1, loss_ratio <= 0.2],
        [np.ones_like(loss_ratio), 156.0 * (loss_ratio - 0.1) ** 2, 100.0 * (loss_ratio - 0.2) ** 2 - 1.0],
        -1.0,
    )


def recoco(record: StepRecord, objective: np.ndarray | None = None) -> np.ndarray:
    """ReCoCo Eq. 6, in [-1, 1]; the objective is not used.

    1 if loss < 0.02, delay < 30 ms and utilization > 0.9; -1 if the receive rate exceeds the capacity (the paper's
    cliff, which penalizes a draining queue).
    """
    u = utilisation(record)
    delay_ms = record.one_way_delay_mean_ms
    loss_ratio = record.loss_ratio
    parts = recoco_utilisation(np.minimum(u, 1.0)), recoco_delay(delay_ms), recoco_loss(loss_ratio)
    with_loss = 0.333 * (parts[0] + parts[1] + parts[2])
    without_loss = 0.4 * parts[0] + 0.4 * parts[1] + 0.2 * parts[2]
    value = np.where(loss_ratio > 0, with_loss, without_loss)
    value = np.where((loss_ratio < 0.02) & (delay_ms < 30.0) & (u > 0.9), 1.0, value)
    return np.where(u > 1.0, -1.0, np.clip(value, -1.0, 1.0))


def challenge_objectives(record: StepRecord) -> np.ndarray:
    """Returns three measures on the fixed scales of the challenge score, shape (..., 3).

    Throughput: receive rate over the fair share of the achievable rate, at most 1 (1 in an outage): a flow gains
    nothing by taking more from TCP, and loses by yielding. Latency: the challenge's delay term for the mean delay in
    the interval: 1 at the path's own delay, 0 at 400 ms, at least -1, so that a deep queue still has a slope. Loss: one
    minus the loss ratio.
    """
    measures = np.empty((*record.values.shape[:-1], 3))
    share = record.receive_rate_bps / np.maximum(record.fair_share_bps, MINIMUM_CAPACITY_BPS)
    measures[..., 0] = np.minimum(share, 1.0)
    measures[..., 0][record.fair_share_bps <= 0] = 1.0
    base_ms = record.base_one_way_delay_ms
    delay_ms = np.maximum(record.one_way_delay_mean_ms, base_ms)
    scale_ms = np.maximum(CHALLENGE_LARGEST_DELAY_MS - base_ms, MINIMUM_DELAY_SCALE_MS)
    measures[..., 1] = np.maximum(1.0 - (delay_ms - base_ms) / scale_ms, -1.0)
    measures[..., 2] = 1.0 - record.loss_ratio.clip(0.0, 1.0)
    return measures


def challenge(record: StepRecord, objective: np.ndarray) -> np.ndarray:
    """Returns the mean of `challenge_objectives`, weighted by the objective times `CHALLENGE_SCALES`; in [-1, 1].

    With the objective `balanced`, <0.5, 0.4, 0.1>, the three measures weigh 0.2 : 0.19 : 0.24. The challenge score
    weighs them 0.2 : 0.2 : 0.3, but takes the 95th percentile of the delay, where an interval can only give its mean.
    """
    weights = objective * CHALLENGE_SCALES
    return (weights * challenge_objectives(record)).sum(axis=-1) / weights.sum(axis=-1)


def viewer(record: StepRecord, objective: np.ndarray | None = None) -> np.ndarray:
    """Returns the picture quality for its bitrate, 0 while frozen: the viewer's quality
    (`weir_eval.measures.viewer`) of one interval over 100; the objective is not used.

    At most 1. A freeze takes back the reward of the intervals since its beginning, so that the mean over an episode is
    that of the measure; an interval much shorter than the freeze is then below -1.
    """
    return estimate_vmaf(record.video_bitrate_bps) / 100.0 * (1.0 - record.frozen_share)


def call(record: StepRecord, objective: np.ndarray | None = None) -> np.ndarray:
    """Returns the call quality (`weir_eval.measures.call_quality`) of one interval over 100, with all audio: `viewer`,
    with the picture on the scale of P.1203 and times the factor of the end-to-end delay; the objective is not used.
    """
    picture = audiovisual_quality(audio_quality(0.0), picture_quality(estimate_vmaf(record.video_bitrate_bps)))
    return picture * (1.0 - record.frozen_share) * delay_factor(record.end_to_end_delay_ms)


REWARDS: Final[dict[str, Reward]] = {
    "mocc": mocc, "recoco": recoco, "challenge": challenge, "viewer": viewer, "call": call,
}  # fmt: skip
REWARD_RANGES: Final = {
    "mocc": "0 to 1", "recoco": "-1 to 1", "challenge": "-1 to 1", "viewer": "at most 1", "call": "at most 1",
}  # fmt: skip
"""Ranges of `REWARDS`, for messages."""
OF_RENDERED_FRAMES: Final = frozenset({"viewer", "call"})
"""Rewards that need the stack "libwebrtc", whose receivers render frames."""


def resolve_reward(reward: str | Reward, stack: Stack) -> Reward:
    """Returns a reward by its name in `REWARDS`, or the function itself, for an environment on `stack`.

    Raises:
        InputError: there is no such reward (the message lists all), or it needs another stack.
    """
    if callable(reward):
        return reward
    if reward not in REWARDS:
        raise InputError(f"reward {reward!r}: one of {', '.join(REWARDS)}")
    if reward in OF_RENDERED_FRAMES and stack != "libwebrtc":
        raise InputError(f"reward {reward!r}: the stack {stack!r} renders no frames; 'libwebrtc' does")
    return REWARDS[reward]
