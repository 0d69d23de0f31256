"""Families of the path: route changes, a policer, service in slots, the return path, loss, jitter, faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weir_traces.generate.families.family import ONE_WAY_DELAY_MS, Case, Family, Fields, forward_with, steady

ROUTE_CHANGES_AT_S = 20.0
ROUTE_CHANGES_MS = (5.0, 20.0, 40.0, 60.0, 100.0, 150.0)
_DETOUR_MS = 40.0
_WANDERING_MS = (0.0, 40.0, 10.0, 30.0)
_WANDERS_EVERY_S = 15.0
_SLOTS_MS = (10.0, 20.0, 40.0)
LOSS_PERCENT = (1, 2, 3, 5, 8, 10)
JITTER_MS = (5, 10, 20, 30, 40)
_UNIFORM_JITTER_MS = (20, 40)
_SPIKES_EVERY_S = (3, 10)
_BURSTY_LOSS_PERCENT = (2, 5)
_BURST_PACKETS = 5.0
_LOSS_IN_BURST = 0.5
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
"""Length in seconds of the fault that begins at FAULT_BEGINS_S, by the name of the case."""


def route() -> Family:
    """The base delay of both directions rises by 5 to 150 ms or falls by 40 ms once, or wanders within 40 ms."""
    step_s = [0.0, ROUTE_CHANGES_AT_S]
    longer = [_delays(f"plus{more:g}", step_s, [0.0, more]) for more in ROUTE_CHANGES_MS]
    shorter = _delays(f"minus{_DETOUR_MS:g}", step_s, [_DETOUR_MS, 0.0])
    times_s = [_WANDERS_EVERY_S * index for index in range(len(_WANDERING_MS))]
    wandering = _delays("wandering", times_s, _WANDERING_MS)
    return Family("route", "The base delay changes", [*longer, shorter, wandering])


def policer() -> Family:
    """A token-bucket policer of the family's rate before a link of 2 or 1.25 times that rate; the bucket holds 15 kB,
    or 100 or 500 ms at the rate.
    """
    cases = [
        Case("burst15kB", policed(burst_bytes=15_000)),
        Case("burst100ms", policed(burst_s=0.1)),
        Case("burst500ms", policed(burst_s=0.5)),
        Case("burst100ms-narrow", policed(burst_s=0.1, link_ratio=1.25)),
    ]
    return Family("policer", "A policer limits the rate, and has no queue", cases)


def slots() -> Family:
    """The link alternates between serving and stopping, with the family's rate as its mean; or packets leave it only at
    the ends of slots, as in radio frames.
    """
    times_ms = ((20.0, 100.0), (10.0, 50.0), (30.0, 60.0))
    cases = [Case(f"{on:g}of{period:g}ms", bursts(on / 1e3, period / 1e3)) for on, period in times_ms]
    cases += [Case(f"frames{length:g}ms", forward_with(jitter=slotted(length))) for length in _SLOTS_MS]
    return Family("slots", "The link serves in slots", cases)


def reverse() -> Family:
    """The return path, which carries the feedback, has more delay, jitter or loss."""
    cases = [
        Case("plus100", reverse={"one_way_delay_ms": ONE_WAY_DELAY_MS + 100.0}),
        Case("plus500", reverse={"one_way_delay_ms": ONE_WAY_DELAY_MS + 500.0}),
        Case("jitter30", reverse={"jitter": truncated_gaussian(30)}),
        Case("loss10", reverse={"loss": bernoulli(0.1)}),
    ]
    return Family("reverse", "The return path is bad", cases)


def policed(*, burst_bytes: int = 0, burst_s: float = 0.0, link_ratio: float = 2.0) -> Callable[[float], Fields]:
    """A forward link of `link_ratio` times the rate behind a policer of the rate, whose bucket holds `burst_bytes` or
    `burst_s` at the rate, whichever is more.
    """

    def forward(rate_bps: float) -> Fields:
        burst = max(burst_bytes, round(burst_s * rate_bps / 8))
        return {
            "capacity": steady(link_ratio * rate_bps),
            "loss": {"kind": "policer", "rate_bps": rate_bps, "burst_bytes": burst},
        }

    return forward


def _delays(name: str, times_s: Sequence[float], above_ms: Sequence[float]) -> Case:
    delay = {"times_s": list(times_s), "values_ms": [ONE_WAY_DELAY_MS + more for more in above_ms]}
    return Case(name, forward_with(one_way_delay_ms=delay))


def bursts(on_s: float, period_s: float, ratio: float | None = None, **fields: Any) -> Callable[[float], Fields]:
    """A forward link with `fields` that serves for `on_s` of each `period_s`, at `ratio` times the rate; by default the
    ratio makes the rate the mean.
    """

    def forward(rate_bps: float) -> Fields:
        rates_bps = [float(round(rate_bps * (ratio or period_s / on_s))), 0.0]
        return {"capacity": {"times_s": [0.0, on_s], "rates_bps": rates_bps, "period_s": period_s}, **fields}

    return forward


def loss() -> Family:
    """Independent loss of 1 to 10 %, and loss in bursts of 5 packets, half of which are lost."""
    losses = {f"random{percent}": bernoulli(percent / 100) for percent in LOSS_PERCENT}
    losses |= {f"bursty{percent}": gilbert_elliott(percent / 100) for percent in _BURSTY_LOSS_PERCENT}
    cases = [Case(name, forward_with(loss=loss)) for name, loss in losses.items()]
    return Family("loss", "The path loses packets that no queue drops", cases)


def jitter() -> Family:
    """Delay that differs from packet to packet, without reordering. The number in a name is: of Gaussian jitter, the
    standard deviation before the absolute value is taken, a third of the maximum; of uniform jitter, the maximum; of
    spikes of 50 to 200 ms, as of a scanning Wi-Fi client, the mean time between them in seconds.
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
    """Bursty loss with this mean ratio."""
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
    """Gaussian jitter without reordering, at most 3 standard deviations."""
    return {
        "kind": "truncated_gaussian",
        "standard_deviation_ms": float(deviation_ms),
        "maximum_ms": 3.0 * deviation_ms,
    }


def uniform(maximum_ms: float) -> Fields:
    """Jitter between 0 and a maximum."""
    return {"kind": "uniform", "maximum_ms": float(maximum_ms)}


def slotted(interval_ms: float) -> Fields:
    """Jitter of packets that arrive only at the ends of slots."""
    return {"kind": "slotted", "interval_ms": float(interval_ms)}


def spikes(gap_mean_s: float, shortest_ms: float = 50.0, longest_ms: float = 200.0) -> Fields:
    """Delay spikes: no packet arrives for 50 to 200 ms, at random times."""
    return {"kind": "spikes", "gap_mean_s": float(gap_mean_s), "shortest_ms": shortest_ms, "longest_ms": longest_ms}


def fault() -> Family:
    """From 20 s on, half or all of the feedback is lost for 5 s, on a steady link or while the link has half its rate;
    or for 10 s the link carries nothing, or has half its rate behind a queue of one packet or of 5 s.
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
    """A forward link with `fields` that has `share` of its rate for `length_s` from FAULT_BEGINS_S on."""

    def forward(rate_bps: float) -> Fields:
        times_s = [0.0, FAULT_BEGINS_S, FAULT_BEGINS_S + length_s]
        return {"capacity": {"times_s": times_s, "rates_bps": [rate_bps, share * rate_bps, rate_bps]}, **fields}

    return forward
