"""The ten-line rule as a function of an observation: the base rate that a policy's action multiplies.

Unlike the estimator's controller `rule`, its target never falls while the path is idle: encoders produce less than they
may, and stall, and a target tied to the receive rate would follow them down.

The same code serves numpy (the environment, in batches) and torch (the deployed policy): `xp` is the module. The latest
receive rates come from the history instead of the rule's own window.
"""

from __future__ import annotations

from typing import Any, Final

from weir import RULE

NO_ARRIVAL_FACTOR: Final = RULE["no_arrival_factor"]
INCREASE_FACTOR: Final = RULE["increase_factor"]
HEADROOM_FACTOR: Final = RULE["headroom_factor"]
HEADROOM_BPS: Final = RULE["headroom_bps"]
QUEUE_THRESHOLD_S: Final = RULE["queue_threshold_s"]
QUEUE_TARGET_S: Final = RULE["queue_target_s"]
QUEUE_SCALE_S: Final = RULE["queue_scale_s"]
MINIMUM_BACKOFF: Final = RULE["minimum_backoff"]
RATE_WINDOW_S: Final = RULE["rate_window_s"]

RATE: Final = "receive_rate_bps"
QUEUE: Final = "queueing_delay_min_s"
RECEIVED: Final = "packets_received"
TARGET: Final = "last_estimate_bps"
REQUIRED_FEATURES: Final = (RATE, QUEUE, RECEIVED, TARGET)


def rate_window(interval_ms: float, history: int) -> int:
    """Returns the number of intervals in the rule's 300 ms of receive rate; at least 1, at most the history."""
    return max(1, min(history, round(RATE_WINDOW_S * 1000.0 / interval_ms)))


def rule_rate_bps(xp: Any, records: Any, features: tuple[str, ...], window: int) -> Any:
    """Returns the rule's rate in bps.

    Args:
        xp: `numpy` or `torch`.
        records: float32 of shape (N, history, features), newest first, SI units.
        features: the names along the last axis.
        window: see `rate_window`.

    Returns:
        shape (N,).
    """
    rate = records[:, :window, features.index(RATE)].mean(1)
    queue = records[:, 0, features.index(QUEUE)]
    received = records[:, 0, features.index(RECEIVED)]
    target = records[:, 0, features.index(TARGET)]
    grown = xp.maximum(target, xp.minimum(target * INCREASE_FACTOR, rate * HEADROOM_FACTOR + HEADROOM_BPS))
    drained = rate * xp.clip(1.0 - (queue - QUEUE_TARGET_S) / QUEUE_SCALE_S, MINIMUM_BACKOFF, None)
    answer = xp.where(queue < QUEUE_THRESHOLD_S, grown, drained)
    return xp.where(received > 0, answer, target * NO_ARRIVAL_FACTOR)
