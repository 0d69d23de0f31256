"""The ten-line rule as a function of an observation: the base rate that a policy's action multiplies. The library
computes it (`Rule` in estimator/src/controllers/rule_controller.h), for numpy (the environment, in batches) and torch
(the policy). The latest receive rates come from the history instead of the rule's own window.
"""

from __future__ import annotations

from typing import Any, Final

from weir import RULE, rule_rate_bps

RATE: Final = "receive_rate_bps"
QUEUE: Final = "queueing_delay_min_s"
RECEIVED: Final = "packets_received"
TARGET: Final = "last_estimate_bps"
REQUIRED_FEATURES: Final = (RATE, QUEUE, RECEIVED, TARGET)


def rate_window(interval_ms: float, history: int) -> int:
    """Returns the number of intervals in the rule's 300 ms of receive rate; at least 1, at most the history."""
    return max(1, min(history, round(RULE["rate_window_s"] * 1000.0 / interval_ms)))


def rule_rate(xp: Any, records: Any, features: tuple[str, ...], window: int) -> Any:
    """Returns the rule's rate in bps, (N,), as an array of `xp`.

    Args:
        xp: `numpy` or `torch`.
        records: float32 of shape (N, history, features), newest first, SI units, without a gradient, on the CPU.
        features: the names along the last axis.
        window: see `rate_window`.
    """
    receive_rate = records[:, :window, features.index(RATE)].mean(1)
    latest = (records[:, 0, features.index(name)] for name in (QUEUE, RECEIVED, TARGET))
    return xp.asarray(rule_rate_bps(receive_rate, *latest))
