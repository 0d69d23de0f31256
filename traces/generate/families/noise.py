"""What happens to packets whatever the call sends: loss and jitter of the path's own."""

from __future__ import annotations

from typing import Any

from weir.traces.generate.families.family import Case, Family, Fields

LOSS_PERCENT = (1, 2, 3, 5, 8, 10)
JITTER_MS = (5, 10, 20, 30, 40)
_BURSTY_LOSS_PERCENT = (2, 5)
_BURST_PACKETS = 5.0
_LOSS_IN_BURST = 0.5


def loss() -> Family:
    """Independent loss of 1 to 10 %, and loss in bursts of 5 packets, half of which are lost."""
    independent = [_forward(f"random{percent}", loss=bernoulli(percent / 100)) for percent in LOSS_PERCENT]
    bursty = [_forward(f"bursty{percent}", loss=gilbert_elliott(percent / 100)) for percent in _BURSTY_LOSS_PERCENT]
    return Family("loss", "The path loses packets that no queue drops", [*independent, *bursty])


def jitter() -> Family:
    """Delay that differs from packet to packet; packets keep their order. The number is the standard deviation before
    the absolute value is taken, a third of the maximum.
    """
    gaussian = [_forward(f"gaussian{deviation}", jitter=truncated_gaussian(deviation)) for deviation in JITTER_MS]
    return Family("jitter", "Delay differs from packet to packet", gaussian)


def bernoulli(ratio: float) -> Fields:
    """Independent loss."""
    return {"kind": "bernoulli", "ratio": ratio}


def gilbert_elliott(ratio: float) -> Fields:
    """Loss in bursts, of this mean ratio."""
    # The share of time in the bad state is good_to_bad / (good_to_bad + bad_to_good).
    bad_share = ratio / _LOSS_IN_BURST
    return {
        "kind": "gilbert_elliott",
        "good_to_bad": round(bad_share / (1 - bad_share) / _BURST_PACKETS, 6),
        "bad_to_good": 1 / _BURST_PACKETS,
        "loss_good": 0.0,
        "loss_bad": _LOSS_IN_BURST,
    }


def truncated_gaussian(deviation_ms: float) -> Fields:
    """Jitter in which packets keep their order."""
    return {
        "kind": "truncated_gaussian",
        "standard_deviation_ms": float(deviation_ms),
        "maximum_ms": 3.0 * deviation_ms,
    }


def _forward(name: str, **fields: Any) -> Case:
    return Case(name, lambda rate_bps: fields)
