"""Faults of some seconds: feedback that is lost, an outage, a link at half its rate behind a queue
of one packet or of five seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weir.traces.generate.families.family import Case, Family, Fields

FAULT_BEGINS_S = 20.0
_FEEDBACK_LOST_S = 5.0
_OUTAGE_S = 10.0
_HALF_RATE_S = 10.0
FAULT_LENGTHS_S = {
    "feedback50": _FEEDBACK_LOST_S,
    "feedback100": _FEEDBACK_LOST_S,
    "feedback100half": _FEEDBACK_LOST_S,
    "outage": _OUTAGE_S,
    "queue1packet": _HALF_RATE_S,
    "queue5s": _HALF_RATE_S,
}
"""By the name of the case: how long, in seconds, the fault lasts, which begins at FAULT_BEGINS_S."""


def fault() -> Family:
    """From 20 s on, for five seconds, half of what comes back is lost or all of it, on a steady link or while the link
    has half its rate; for ten, the link carries nothing, or has half its rate behind a queue of one packet or of 5 s.
    """
    cases = [
        Case("feedback50", reverse=_feedback_lost(0.5)),
        Case("feedback100", reverse=_feedback_lost(1.0)),
        Case("feedback100half", _carrying(0.5, _FEEDBACK_LOST_S), _feedback_lost(1.0)),
        Case("outage", _carrying(0.0, _OUTAGE_S)),
        Case("queue1packet", _carrying(0.5, _HALF_RATE_S, queue={"packets": 1})),
        Case("queue5s", _carrying(0.5, _HALF_RATE_S, queue={"milliseconds": 5000.0})),
    ]
    return Family("fault", "Something breaks, and is whole again", cases)


def _feedback_lost(ratio: float) -> Fields:
    times_s = [0.0, FAULT_BEGINS_S, FAULT_BEGINS_S + _FEEDBACK_LOST_S]
    return {"loss": {"kind": "bernoulli", "ratio": {"times_s": times_s, "ratios": [0.0, ratio, 0.0]}}}


def _carrying(share: float, length_s: float, **fields: Any) -> Callable[[float], Fields]:
    """A forward link with `fields` that has `share` of its rate for that long."""

    def forward(rate_bps: float) -> Fields:
        times_s = [0.0, FAULT_BEGINS_S, FAULT_BEGINS_S + length_s]
        return {"capacity": {"times_s": times_s, "rates_bps": [rate_bps, share * rate_bps, rate_bps]}, **fields}

    return forward
