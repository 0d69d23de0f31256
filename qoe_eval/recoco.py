"""The ReCoCo paper's quality measure (Markudova and Meo, "ReCoCo: Reinforcement learning-based Congestion control
for Real-time applications", 2023, Eq. 7 to 10).

Kept to compare with that paper's Table I. Its delay term is normalised by the run's own largest delay, so that one
spike improves it; across controllers, compare `challenge` instead.
"""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.flow_series import Array, FlowSeries

STEP_S = 0.2
# The paper prints 0.33; its Table I was computed with 0.333, e.g. (85.60 + 98.06 + 100) x 0.333 = 94.46.
WEIGHT = 0.333


def recoco_score(series: FlowSeries, mean_packet_bytes: float | None) -> float | None:
    """Eq. 10 over the flow's active time, 0 to 99.9; nothing where the capacity is unlimited or nothing arrived.

    Steps in which the capacity is 0 have no utilisation and are left out of Eq. 7; steps in which nothing arrived
    have no delay and are left out of Eq. 8. `mean_packet_bytes` turns received bytes into the packets that Eq. 9
    needs; the series count only lost ones.
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
    capacity_bps = in_steps(series.capacity_bps[series.active]).mean(axis=1)
    usable = capacity_bps > 0
    if not usable.any():
        return None
    utilisation = np.clip(received_bps.mean(axis=1)[usable] / capacity_bps[usable], 0, 1)
    rate_score = 100 * float(np.median(utilisation))

    # The mean delay of a step is that of its packets: each sample weighs as many packets as arrived in it.
    sample_delay_ms = in_steps(series.one_way_delay_mean_ms[series.active])
    weight = np.where(np.isnan(sample_delay_ms), 0.0, np.maximum(received_bps, 1.0))
    arrived = weight.sum(axis=1) > 0
    if not arrived.any():
        return None
    delay_ms = (np.nan_to_num(sample_delay_ms) * weight).sum(axis=1)[arrived] / weight.sum(axis=1)[arrived]
    largest, smallest = float(delay_ms.max()), float(delay_ms.min())
    # A delay that never changes is the best case of Eq. 8, where the formula itself says 0 / 0.
    spread = largest - smallest
    delay_score = 100 * (largest - float(np.percentile(delay_ms, 95))) / spread if spread > 1e-9 else 100.0

    lost = in_steps(series.packets_lost[series.active]).sum(axis=1)
    received = received_bps.sum(axis=1) * series.interval_s / 8 / mean_packet_bytes
    known = lost + received
    loss_ratio = np.divide(lost, known, out=np.zeros(steps), where=known > 0)
    loss_score = 100 * (1 - float(loss_ratio.mean()))
    return WEIGHT * (rate_score + delay_score + loss_score)
