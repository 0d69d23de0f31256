"""Scenarios of published experiments: RFC 8867 and calls of papers.

RFC 8867, "Test Cases for Evaluating Congestion Control for Interactive Real-Time Media", cases 5.1 to 5.8. The numbers
are the RFC's: one-way delay 50 ms, drop-tail queue of 300 ms, up to 30 ms of jitter, no random loss, media
of 150 kbps to 1.5 Mbps that starts at 150 kbps (section 4). The media is the encoder model after RFC 8593. The jitter's
standard deviation is half of its maximum, 15 ms, without reordering.

`call_scenarios` are for calls; `weir replay` runs them only by name. `muses-cross-traffic`: Muses (Zhong et
al.), section IV-E: 3 Mbps, 30 ms one way, and cross traffic that goes from 0 to 2500 kbps and back in steps of
500 kbps, 10 s each. The paper specifies no queue: the default of 300 ms applies. The media is video, at most 2.5 Mbps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weir_traces.schema.scenario import Scenario

MEDIA_MIN_BPS = 150e3
MEDIA_MAX_BPS = 1.5e6
CALL_MEDIA_MAX_BPS = 2.5e6
_STEP_BPS = 500e3
_STEP_S = 10.0
_STEPS = 5


def rfc8867_scenarios() -> list[Scenario]:
    """All cases, with the variants of delay (5.1) and queue (5.6)."""
    short_tcp: list[dict[str, Any]] = [
        {
            "kind": "tcp",
            "id": f"tcp-{index + 1}",
            "stop_s": 299.0,
            "transfers": {"bytes": [30000, 50000], "idle_mean_s": 10.0, "start_on": index < 2},
        }
        for index in range(10)
    ]
    return [
        *(
            _case(
                f"5.1-delay{delay_ms:g}",
                "5.1: variable available capacity with a single flow",
                100.0,
                _link([1e6, 2.5e6, 0.6e6, 1e6], [0, 40, 60, 80], delay_ms),
                [_media("media", stop_s=99.0)],
            )
            for delay_ms in (50.0, 100.0)
        ),
        _case(
            "5.2",
            "5.2: variable available capacity with multiple flows",
            125.0,
            _link([4e6, 2e6, 3.5e6, 1e6, 2e6], [0, 25, 50, 75, 100]),
            [_media(f"media-{number}", stop_s=124.0) for number in (1, 2)],
        ),
        _case(
            "5.3",
            "5.3: congested feedback link with bidirectional media flows",
            100.0,
            _link([2e6, 1e6, 0.5e6, 2e6], [0, 20, 40, 60]),
            [_media("media-forward", stop_s=99.0), _media("media-reverse", stop_s=99.0, direction="reverse")],
            _link([2e6, 0.8e6, 2e6], [0, 35, 70]),
        ),
        competing_media(),
        round_trip_time_fairness(),
        long_tcp(300.0),
        long_tcp(1000.0),
        _case(
            "5.7",
            "5.7: media flow competing with short TCP flows",
            300.0,
            _link([2e6], [0]),
            [_media(f"media-{number}", start_s=5.0, stop_s=299.0) for number in (1, 2)] + short_tcp,
        ),
        _case(
            "5.8",
            "5.8: media pause and resume",
            120.0,
            _link([3.5e6], [0]),
            [_media("media-1", stop_s=119.0, pauses_s=[[40.0, 60.0]])]
            + [_media(f"media-{number}", stop_s=119.0) for number in (2, 3)],
        ),
    ]


def competing_media() -> Scenario:
    """5.4: competing media flows with the same congestion control, three flows, 120 s."""
    flows = [_media(f"media-{index + 1}", start_s=20.0 * index, stop_s=119.0) for index in range(3)]
    text = "5.4: competing media flows with the same congestion control algorithm"
    return _case("5.4", text, 120.0, _link([3.5e6], [0]), flows)


def round_trip_time_fairness() -> Scenario:
    """5.5: round trip time fairness, five flows with one-way delays of 10 to 150 ms, 300 s."""
    delays_ms = (10.0, 25.0, 50.0, 100.0, 150.0)
    flows = [
        _media(f"media-{index + 1}", start_s=10.0 * index, stop_s=299.0, extra_one_way_delay_ms=delay - delays_ms[0])
        for index, delay in enumerate(delays_ms)
    ]
    return _case("5.5", "5.5: round trip time fairness", 300.0, _link([4e6], [0], delays_ms[0]), flows)


def long_tcp(queue_ms: float) -> Scenario:
    """5.6: media flow competing with a long TCP flow, 120 s; queue of 300 ms, or 1000 ms (bufferbloat)."""
    return _case(
        f"5.6-queue{queue_ms:g}",
        "5.6: media flow competing with a long TCP flow",
        120.0,
        _link([2e6], [0], queue_ms=queue_ms),
        [_media("media", start_s=5.0, stop_s=119.0), {"kind": "tcp", "id": "tcp", "stop_s": 119.0}],
    )


def call_scenarios() -> list[Scenario]:
    """The scenarios of the folder `calls`."""
    return [muses_cross_traffic()]


def muses_cross_traffic() -> Scenario:
    """Eleven levels of cross traffic, 110 s: each step up is one more constant flow, each step down one fewer."""
    duration_s = (2 * _STEPS + 1) * _STEP_S
    cross = [
        {
            "kind": "cbr",
            "id": f"cross-{step}",
            "rate_bps": _STEP_BPS,
            "start_s": step * _STEP_S,
            "stop_s": duration_s - step * _STEP_S,
        }
        for step in range(1, _STEPS + 1)
    ]
    return Scenario.make(
        name="muses-cross-traffic",
        description="Cross traffic in steps up and down, after Muses IV-E",
        provenance={"source": "Muses, section IV-E", "licence": "BSD-3-Clause"},
        duration_s=duration_s,
        forward={"capacity": {"times_s": [0.0], "rates_bps": [3e6]}, "one_way_delay_ms": 30.0},
        flows=[{"kind": "rtp", "media": {"kind": "video", "max_rate_bps": CALL_MEDIA_MAX_BPS}}, *cross],
    )


def _case(
    name: str,
    description: str,
    duration_s: float,
    forward: dict[str, Any],
    flows: list[dict[str, Any]],
    reverse: dict[str, Any] | None = None,
) -> Scenario:
    if reverse is None:
        reverse = {"one_way_delay_ms": forward["one_way_delay_ms"], "jitter": forward["jitter"]}
    return Scenario.make(
        name=f"rfc8867-{name}",
        description=description,
        provenance={"source": "RFC 8867", "licence": "BSD-3-Clause"},
        duration_s=duration_s,
        forward=forward,
        reverse=reverse,
        flows=flows,
    )


def _link(
    rates_bps: Sequence[float], times_s: Sequence[float], one_way_delay_ms: float = 50.0, queue_ms: float = 300.0
) -> dict[str, Any]:
    return {
        "capacity": {"times_s": [float(time) for time in times_s], "rates_bps": [float(rate) for rate in rates_bps]},
        "one_way_delay_ms": one_way_delay_ms,
        "queue": {"milliseconds": queue_ms},
        "jitter": {"kind": "truncated_gaussian", "standard_deviation_ms": 15.0, "maximum_ms": 30.0},
    }


def _media(flow_id: str, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "rtp",
        "id": flow_id,
        "min_rate_bps": MEDIA_MIN_BPS,
        "start_rate_bps": MEDIA_MIN_BPS,
        "media": {"kind": "video", "max_rate_bps": MEDIA_MAX_BPS},
    } | fields
