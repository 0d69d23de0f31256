"""Where Weir, beside the estimator in charge, would have sent more, less, or as much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weir_eval.measures.flow_series import Array
from weir_logs.observations.observation_log import MOST_REASONS, OTHER_REASON, Mask, ObservedConnection

TOLERANCE = 0.1
"""Targets that differ by at most this share of the other's agree."""
HIGH_LOSS = 0.02
LONG_QUEUE_MS = 100.0

Choose = Callable[[ObservedConnection], Mask]
CONDITIONS: dict[str, Choose] = {
    "all": lambda one: np.ones(len(one), dtype=bool),
    "neither loss nor queue": lambda one: ~_is_lossy(one) & ~_has_queue(one),
    "lost more than 2 %": lambda one: _is_lossy(one),
    "queue above 100 ms": lambda one: _has_queue(one),
}


def _is_lossy(one: ObservedConnection) -> Mask:
    return one.numbers["loss_ratio"] > HIGH_LOSS


def _has_queue(one: ObservedConnection) -> Mask:
    return one.numbers["queueing_delay_ms"] > LONG_QUEUE_MS


@dataclass
class Agreement:
    """Sums over observations, each of a second, in which the other estimator was in charge.

    Attributes:
        more, less, agree: number of observations.
        below_received: those in which Weir's target was below the rate that was received, by more than the tolerance:
            what Weir would have cut of what the path carried.
        limited: those in which the other had a target; `other_bps` and `weir_bps` are sums over these.
    """

    more: int = 0
    less: int = 0
    agree: int = 0
    below_received: int = 0
    limited: int = 0
    other_bps: float = 0.0
    weir_bps: float = 0.0

    @property
    def seconds(self) -> int:
        """Number of observations."""
        return self.more + self.less + self.agree

    def add(self, one: ObservedConnection, chosen: Mask) -> None:
        """Adds the chosen observations of a connection."""
        chosen = chosen & ~one.weir_in_charge
        weir, other, received = (one.numbers[key][chosen] for key in ("weir_bps", "other_bps", "received_bps"))
        more, less = compare_targets(weir, other, received)
        limited = np.isfinite(other)
        self.more += int(more.sum())
        self.less += int(less.sum())
        self.agree += int((~more & ~less).sum())
        self.below_received += int((weir < (1 - TOLERANCE) * received).sum())
        self.limited += int(limited.sum())
        if limited.any():
            self.other_bps += float(other[limited].sum())
            self.weir_bps += float(weir[limited].sum())


def compare_targets(weir: Array, other: Array, received: Array) -> tuple[Mask, Mask]:
    """Where Weir would have sent more than the other's target, and where less. An estimator without a target limits
    nothing: then Weir would have sent less if its target is below what was received.
    """
    allowed = np.where(np.isfinite(other), other, np.maximum(received, 1))
    more = (weir > (1 + TOLERANCE) * allowed) & np.isfinite(other)
    return more, weir < (1 - TOLERANCE) * allowed


def add_by_reason(one: ObservedConnection, into: dict[str, Agreement]) -> None:
    """Adds the observations of a connection to those of the reason of each: of OTHER_REASON above MOST_REASONS."""
    for index, reason in enumerate(one.reasons):
        kept = reason if reason in into or len(into) < MOST_REASONS else OTHER_REASON
        into.setdefault(kept, Agreement()).add(one, one.reason_of == index)
