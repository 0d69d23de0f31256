"""PolyCC's two demonstrations as scenarios: one TCP flow alone on a path of 20 Mbps and a mean round trip of 100 ms.

The paper leaves open, and this file chooses: the bottleneck of the first demonstration (that of the second), the queue
(one bandwidth-delay product), the durations, and the jitter: on the feedback path, as acknowledgements are delayed,
uniform, drawn every JITTER_INTERVAL_MS.
"""

from __future__ import annotations

from typing import Any

from weir_traces.schema.scenario import Scenario

JITTERS_MS = (20, 70, 100)
JITTER_INTERVAL_MS = 100.0
ROUND_TRIP_MS = 100.0
LINK_BPS = 20e6
HALVED_BPS = 10e6
HALVED_AT_S = 5.0
JITTER_DURATION_S = 60.0
HALVED_DURATION_S = 20.0
BDP_BYTES = int(LINK_BPS * ROUND_TRIP_MS / 8000)
HALVED_BDP_BYTES = int(HALVED_BPS * ROUND_TRIP_MS / 8000)

MAX_OF_BBR_AND_CUBIC = "max(bbr, cubic)"
MIN_OF_BBR_AND_COPA = "min(bbr, copa)"
# An ablation, without the paper's step 4: each goes on from its own.
_APART = " apart"
_MAX = {"pilot": "bbr", "copilots": ["cubic"], "fusion": "max"}
_MIN = {"pilot": "bbr", "copilots": ["copa"], "fusion": "min"}
_CONTROLS: dict[str, Any] = {
    "bbr": "bbr",
    "cubic": "cubic",
    "copa": "copa",
    "vegas": "vegas",
    MAX_OF_BBR_AND_CUBIC: _MAX,
    MAX_OF_BBR_AND_CUBIC + _APART: _MAX | {"hand_back": False},
    MIN_OF_BBR_AND_COPA: _MIN,
    MIN_OF_BBR_AND_COPA + _APART: _MIN | {"hand_back": False},
}
JITTER_CONTROLS = ("bbr", "cubic", MAX_OF_BBR_AND_CUBIC, MAX_OF_BBR_AND_CUBIC + _APART)
HALVED_CONTROLS = ("bbr", "copa", "vegas", MIN_OF_BBR_AND_COPA, MIN_OF_BBR_AND_COPA + _APART)


def jitter_name(jitter_ms: int, control: str) -> str:
    """The scenario of the first demonstration with that deviation (ms) of the round trip time."""
    return f"jitter{jitter_ms} {control}"


def halved_name(control: str) -> str:
    """The scenario of the second demonstration."""
    return f"halved {control}"


def demonstrations() -> list[Scenario]:
    """All scenarios of both."""
    jittered = [
        _scenario(
            jitter_name(jitter_ms, control),
            control,
            JITTER_DURATION_S,
            (ROUND_TRIP_MS - jitter_ms) / 2,
            jitter={"kind": "uniform", "maximum_ms": 2.0 * jitter_ms, "interval_ms": JITTER_INTERVAL_MS},
        )
        for jitter_ms in JITTERS_MS
        for control in JITTER_CONTROLS
    ]
    halved = [
        _scenario(
            halved_name(control),
            control,
            HALVED_DURATION_S,
            ROUND_TRIP_MS / 2,
            capacity={"times_s": [0.0, HALVED_AT_S], "rates_bps": [LINK_BPS, HALVED_BPS]},
        )
        for control in HALVED_CONTROLS
    ]
    return jittered + halved


def _scenario(
    name: str,
    control: str,
    duration_s: float,
    one_way_delay_ms: float,
    *,
    capacity: dict[str, Any] | None = None,
    jitter: dict[str, Any] | None = None,
) -> Scenario:
    steady = {"times_s": [0.0], "rates_bps": [LINK_BPS]}
    return Scenario.make(
        name=name,
        duration_s=duration_s,
        forward={
            "capacity": capacity or steady,
            "one_way_delay_ms": one_way_delay_ms,
            "queue": {"bytes": BDP_BYTES},
        },
        reverse={"one_way_delay_ms": one_way_delay_ms, "jitter": jitter or {"kind": "none"}},
        flows=[{"kind": "tcp", "congestion_control": _CONTROLS[control]}],
    )
