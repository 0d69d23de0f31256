"""Estimates queue limit, queue discipline and loss of the link that packets crossed, as scenario fields.

Losses are attributed to the first of these that fits:

1. A policer: seconds with many losses and no queue received the same rate regardless of the sent rate, and seconds that
   sent less lost little. The bucket is the largest amount received in any interval beyond that rate.
2. The queue limit: packets were lost at queues almost as long as the longest, and hardly at shorter ones.
3. CoDel: packets that waited long were lost, at any queue length, and others hardly ever.
4. Random loss, in bursts of the mean length observed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.flow_series import Array
from weir_logs.event_logs.link_estimate import Packets
from weir_traces.schema.links import FULL_PACKET_BYTES

_DEFAULT_QUEUE_S = 0.3
# A policer needs seconds with at least this many losses, this loss ratio, and at least this many such seconds.
_LEAST_LOST = 4
_LEAST_LOSS = 0.05
_LEAST_SECONDS = 3
# At least this share of them received the median rate within this relative error, with at most this median wait.
_ALIKE_SHARE = 0.6
_ALIKE = 0.15
_NO_QUEUE_S = 0.02
# The variation of the received rate is at most the first share of that of the sent rate; or, if there are any, seconds
# that sent less than the second share of the policed rate lost at most the third share of the others' loss ratio.
_MOST_VARIATION = 0.5
_LESS = 0.95
_MOST_BELOW = 0.2
# Losses at or above the first share of the longest queue are queue drops, if there are at least this many, and the loss
# ratio at shorter queues is at most the last share of that at long ones.
_LONG_QUEUE = 0.6
_LEAST_DROPPED = 3
_MOST_RANDOM = 0.2
# CoDel needs at least this many losses with at least this median wait; packets in the half with shorter waits have at
# most this share of the other half's losses.
_LEAST_BY_CODEL = 20
_CODEL_WAIT_S = 0.05
_MOST_OF_SHORT_WAITS = 0.1


@dataclass(frozen=True)
class LossEstimate:
    """Scenario fields of a link."""

    queue_bytes: int
    loss: dict[str, Any] = field(default_factory=lambda: {"kind": "none"})
    queue_discipline: str = "drop_tail"


def estimate_loss(packets: Packets, mean_bps: float) -> LossEstimate:
    """Estimates the loss of packets on a link with this mean capacity."""
    received = packets.received()
    lost = ~np.isfinite(packets.left_s)
    queued_bytes = _queued_bytes(packets, received, lost)
    longest = float(queued_bytes[~lost].max())
    no_limit = int(max(longest + FULL_PACKET_BYTES, _DEFAULT_QUEUE_S * mean_bps / 8))
    wait_s = np.interp(np.arange(len(lost)), np.flatnonzero(~lost), (packets.left_s - packets.sent_s)[~lost])
    if policer := _policer(packets, received, lost, wait_s):
        return LossEstimate(no_limit, policer)
    is_long = queued_bytes >= _LONG_QUEUE * longest
    dropped, elsewhere = lost & is_long, lost & ~is_long
    # The loss ratio elsewhere is at most _MOST_RANDOM of that at long queues.
    is_limit = elsewhere.sum() * is_long.sum() <= _MOST_RANDOM * dropped.sum() * (~is_long).sum()
    if longest > 0 and is_limit and dropped.sum() >= _LEAST_DROPPED:
        # Assume that half of a dropped packet would have fit.
        limit = int(np.median((queued_bytes + packets.bits / 16)[dropped]))
        return LossEstimate(limit, _random_loss(lost[~dropped]))
    waited_long = wait_s > np.median(wait_s)
    of_long_waits = lost[~waited_long].sum() <= _MOST_OF_SHORT_WAITS * lost[waited_long].sum()
    if lost.sum() >= _LEAST_BY_CODEL and of_long_waits and np.median(wait_s[lost]) >= _CODEL_WAIT_S:
        return LossEstimate(no_limit, queue_discipline="codel")
    return LossEstimate(no_limit, _random_loss(lost))


def _queued_bytes(packets: Packets, received: Packets, lost: NDArray[np.bool_]) -> Array:
    """Bytes in the queue before each packet."""
    sent_bytes = np.concatenate(([0.0], np.cumsum(received.bits))) / 8
    before = np.concatenate(([0], np.cumsum(~lost)))[:-1]
    departed = np.minimum(np.searchsorted(received.left_s, packets.sent_s, side="right"), before)
    return sent_bytes[before] - sent_bytes[departed]


def _policer(packets: Packets, received: Packets, lost: NDArray[np.bool_], wait_s: Array) -> dict[str, Any] | None:
    """The policer indicated by the losses; None if they do not indicate one."""
    second = packets.sent_s.astype(int)
    of_each = (packets.bits, np.ones(len(lost)), lost, np.where(lost, 0.0, packets.bits))
    sent_bits, sent_count, lost_count, carried_bits = (np.bincount(second, values).astype(float) for values in of_each)
    heavy = (lost_count >= _LEAST_LOST) & (lost_count >= _LEAST_LOSS * sent_count)
    if heavy.sum() < _LEAST_SECONDS or np.median(wait_s[heavy[second]]) > _NO_QUEUE_S:
        return None
    rate_bps = float(np.median(carried_bits[heavy]))
    if np.mean(np.abs(carried_bits[heavy] / rate_bps - 1) <= _ALIKE) < _ALIKE_SHARE:
        return None
    below = (sent_bits < _LESS * rate_bps) & (sent_count > 0)
    if below.any():
        is_policer = (
            lost_count[below].sum() * sent_count[heavy].sum()
            <= _MOST_BELOW * lost_count[heavy].sum() * sent_count[below].sum()
        )
    else:
        is_policer = _variation(carried_bits[heavy]) <= _MOST_VARIATION * _variation(sent_bits[heavy])
    if not is_policer:
        return None
    saved_bytes = (np.cumsum(received.bits) - rate_bps * received.sent_s) / 8
    bucket = float(np.max(saved_bytes - np.minimum.accumulate(saved_bytes - received.bits / 8)))
    return {"kind": "policer", "rate_bps": round(rate_bps), "burst_bytes": max(round(bucket), FULL_PACKET_BYTES)}


def _variation(values: Array) -> float:
    return float(np.std(values) / np.mean(values))


def _random_loss(lost: NDArray[np.bool_]) -> dict[str, Any]:
    bursts = int(np.count_nonzero(np.diff(lost.astype(int), prepend=0) == 1))
    if not bursts:
        return {"kind": "none"}
    return {
        "kind": "gilbert_elliott",
        "good_to_bad": round(bursts / max(int((~lost).sum()), bursts), 6),
        "bad_to_good": round(bursts / int(lost.sum()), 6),
        "loss_good": 0.0,
        "loss_bad": 1.0,
    }
