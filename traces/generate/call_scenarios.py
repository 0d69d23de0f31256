"""Scenarios of published experiments with real calls. They are for calls; `weir replay` runs them when they are named.

`muses-cross-traffic`: Muses (Zhong et al.), section IV-E: 3 Mbps, 30 ms one way, and cross traffic that goes from 0 to
2500 kbps and back in steps of 500 kbps, 10 s each. The paper names no queue: the default of 300 ms stands. The media is
a video of at most 2.5 Mbps.
"""

from __future__ import annotations

from weir.traces.schema.scenario import Scenario

CALL_MEDIA_MAX_BPS = 2.5e6
_STEP_BPS = 500e3
_STEP_S = 10.0
_STEPS = 5


def call_scenarios() -> list[Scenario]:
    """All of them."""
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
