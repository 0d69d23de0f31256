"""What the path itself does: another route, a policer, service in slots, a way back of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weir.traces.generate.families.family import ONE_WAY_DELAY_MS, Case, Family, Fields, forward_with, steady

ROUTE_CHANGES_AT_S = 20.0
ROUTE_CHANGES_MS = (5.0, 20.0, 40.0, 60.0, 100.0, 150.0)
_DETOUR_MS = 40.0
_WANDERING_MS = (0.0, 40.0, 10.0, 30.0)
_WANDERS_EVERY_S = 15.0
_SLOTS_MS = (10.0, 20.0, 40.0)


def route() -> Family:
    """The base delay of both directions rises by 5 to 150 ms or falls by 40 ms, once, or wanders within 40 ms."""
    step_s = [0.0, ROUTE_CHANGES_AT_S]
    longer = [_delays(f"plus{more:g}", step_s, [0.0, more]) for more in ROUTE_CHANGES_MS]
    shorter = _delays(f"minus{_DETOUR_MS:g}", step_s, [_DETOUR_MS, 0.0])
    times_s = [_WANDERS_EVERY_S * index for index in range(len(_WANDERING_MS))]
    wandering = _delays("wandering", times_s, _WANDERING_MS)
    return Family("route", "The base delay changes", [*longer, shorter, wandering])


def policer() -> Family:
    """A token bucket of the family's rates drops what comes faster, before a link of twice the rate or of 1.25 times,
    and after a burst of 15 kB, or of 100 or 500 ms at its rate.
    """
    cases = [
        Case("burst15kB", policed(burst_bytes=15_000)),
        Case("burst100ms", policed(burst_s=0.1)),
        Case("burst500ms", policed(burst_s=0.5)),
        Case("burst100ms-narrow", policed(burst_s=0.1, link_ratio=1.25)),
    ]
    return Family("policer", "A policer limits the rate, and has no queue", cases)


def slots() -> Family:
    """The link serves for some milliseconds and then not at all, at the mean rate of the other families; or what it has
    served goes on only at the ends of slots, as in radio frames.
    """
    times_ms = ((20.0, 100.0), (10.0, 50.0), (30.0, 60.0))
    cases = [Case(f"{on:g}of{period:g}ms", bursts(on / 1e3, period / 1e3)) for on, period in times_ms]
    cases += [
        Case(f"frames{length:g}ms", forward_with(jitter={"kind": "slotted", "interval_ms": length}))
        for length in _SLOTS_MS
    ]
    return Family("slots", "The link serves in slots", cases)


def reverse() -> Family:
    """The way back, which carries the feedback, is longer, has jitter, or loses."""
    cases = [
        Case("plus100", reverse={"one_way_delay_ms": ONE_WAY_DELAY_MS + 100.0}),
        Case("plus500", reverse={"one_way_delay_ms": ONE_WAY_DELAY_MS + 500.0}),
        Case("jitter30", reverse={"jitter": {
            "kind": "truncated_gaussian", "standard_deviation_ms": 30.0, "maximum_ms": 90.0}}),
        Case("loss10", reverse={"loss": {"kind": "bernoulli", "ratio": 0.1}}),
    ]  # fmt: skip
    return Family("reverse", "The way back is bad", cases)


def policed(*, burst_bytes: int = 0, burst_s: float = 0.0, link_ratio: float = 2.0) -> Callable[[float], Fields]:
    """A forward link of `link_ratio` times the rate behind a policer of the rate, whose bucket holds a burst of
    `burst_bytes`, or of `burst_s` at its rate where that is more.
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


def bursts(on_s: float, period_s: float) -> Callable[[float], Fields]:
    """A forward link that serves for `on_s` of each `period_s`."""

    def forward(rate_bps: float) -> Fields:
        rates_bps = [float(round(rate_bps * period_s / on_s)), 0.0]
        return {"capacity": {"times_s": [0.0, on_s], "rates_bps": rates_bps, "period_s": period_s}}

    return forward
