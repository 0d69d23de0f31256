"""What happens to packets whatever the call sends: loss and jitter of the path's own."""

from __future__ import annotations

from weir.traces.generate.families.family import Case, Family, Fields, forward_with

LOSS_PERCENT = (1, 2, 3, 5, 8, 10)
JITTER_MS = (5, 10, 20, 30, 40)
_UNIFORM_JITTER_MS = (20, 40)
_SPIKES_EVERY_S = (3, 10)
_BURSTY_LOSS_PERCENT = (2, 5)
_BURST_PACKETS = 5.0
_LOSS_IN_BURST = 0.5


def loss() -> Family:
    """Independent loss of 1 to 10 %, and loss in bursts of 5 packets, half of which are lost."""
    losses = {f"random{percent}": bernoulli(percent / 100) for percent in LOSS_PERCENT}
    losses |= {f"bursty{percent}": gilbert_elliott(percent / 100) for percent in _BURSTY_LOSS_PERCENT}
    cases = [Case(name, forward_with(loss=loss)) for name, loss in losses.items()]
    return Family("loss", "The path loses packets that no queue drops", cases)


def jitter() -> Family:
    """Delay that differs from packet to packet; packets keep their order. The number is, of a Gaussian, the standard
    deviation before the absolute value is taken, a third of the maximum; of uniform jitter the maximum; of spikes of 50
    to 200 ms, as of a Wi-Fi client that scans, the mean time between them in seconds.
    """
    jitters = {f"gaussian{deviation}": truncated_gaussian(deviation) for deviation in JITTER_MS}
    jitters |= {f"uniform{maximum}": uniform(maximum) for maximum in _UNIFORM_JITTER_MS}
    jitters |= {f"spikes{gap}s": spikes(gap) for gap in _SPIKES_EVERY_S}
    cases = [Case(name, forward_with(jitter=jitter)) for name, jitter in jitters.items()]
    return Family("jitter", "Delay differs from packet to packet", cases)


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


def uniform(maximum_ms: float) -> Fields:
    """Jitter between 0 and a maximum."""
    return {"kind": "uniform", "maximum_ms": float(maximum_ms)}


def spikes(gap_mean_s: float) -> Fields:
    """Nothing arrives for 50 to 200 ms, now and then."""
    return {"kind": "spikes", "gap_mean_s": float(gap_mean_s), "shortest_ms": 50.0, "longest_ms": 200.0}
