"""The ReCoCo paper's quality measure (Markudova and Meo, "ReCoCo: Reinforcement learning-based Congestion control
for Real-time applications", 2023, Eq. 7 to 10).

For comparison with the paper's tables only. Its delay term is normalized by the largest delay of the run, so that one
spike improves it; to compare controllers, use `challenge` instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir_eval.measures.flow_series import Array, FlowSeries

STEP_S = 0.2
# The paper prints 0.33; its Table I was computed with 0.333, e.g. (85.60 + 98.06 + 100) x 0.333 = 94.46.
WEIGHT = 0.333


@dataclass(frozen=True)
class RecocoScores:
    """Eq. 7, 8 and 9, each 0 to 100."""

    rate: float
    delay: float
    loss: float

    @property
    def overall(self) -> float:
        """Eq. 10, 0 to 99.9."""
        return WEIGHT * (self.rate + self.delay + self.loss)


def recoco_scores_of_series(series: FlowSeries, mean_packet_bytes: float | None) -> RecocoScores | None:
    """`recoco_scores` over the flow's active time; None if the capacity is unlimited or nothing arrived.

    `mean_packet_bytes` converts received bytes to the packets that Eq. 9 needs; the series count only lost packets.
    """
    if series.capacity_bps is None or mean_packet_bytes is None:
        return None
    per_step = round(STEP_S / series.interval_s)
    receive_rate = series.receive_rate_bps[series.active]
    steps = len(receive_rate) // per_step
    if per_step < 1 or steps == 0:
        return None

    def in_steps(samples: Array) -> Array:
        return samples[: steps * per_step].reshape(steps, per_step)

    received_bps = in_steps(receive_rate)
    # The mean delay of a step is that of its packets: weight each sample by the packets that arrived in it.
    sample_delay_ms = in_steps(series.one_way_delay_mean_ms[series.active])
    weight = np.where(np.isnan(sample_delay_ms), 0.0, np.maximum(received_bps, 1.0))
    total = weight.sum(axis=1)
    delay_ms = np.full(steps, np.nan)
    np.divide((np.nan_to_num(sample_delay_ms) * weight).sum(axis=1), total, out=delay_ms, where=total > 0)
    lost = in_steps(series.packets_lost[series.active]).sum(axis=1)
    known = lost + received_bps.sum(axis=1) * series.interval_s / 8 / mean_packet_bytes
    return recoco_scores(
        received_bps.mean(axis=1),
        in_steps(series.capacity_bps[series.active]).mean(axis=1),
        delay_ms,
        np.divide(lost, known, out=np.zeros(steps), where=known > 0),
    )


def recoco_scores(received_bps: Array, capacity_bps: Array, delay_ms: Array, loss_ratio: Array) -> RecocoScores | None:
    """Eq. 7 to 9 over steps of 200 ms, arrays of shape [steps]; None if there is no capacity or no arrival at all.

    Eq. 7 excludes steps without capacity, which have no utilization; Eq. 8 excludes steps in which nothing arrived,
    whose `delay_ms` is NaN.
    """
    usable, arrived = capacity_bps > 0, ~np.isnan(delay_ms)
    if not usable.any() or not arrived.any():
        return None
    utilisation = np.clip(received_bps[usable] / capacity_bps[usable], 0, 1)
    delays = delay_ms[arrived]
    largest, smallest = float(delays.max()), float(delays.min())
    # A delay that never changes is the best case of Eq. 8, where the formula gives 0 / 0.
    spread = largest - smallest
    return RecocoScores(
        rate=100 * float(np.median(utilisation)),
        delay=100 * (largest - float(np.percentile(delays, 95))) / spread if spread > 1e-9 else 100.0,
        loss=100 * (1 - float(loss_ratio.mean())),
    )
