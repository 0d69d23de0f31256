"""Scenarios of suites that are no traces, and scenarios as calls."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weir.traces.catalogue import load_bundled
from weir.traces.formats.plain_trace import scenario_from_capacity
from weir.traces.generate.families.families import FAMILIES
from weir.traces.generate.families.family import VIDEO_SHARE_OF_LINK, Case, Family, forward_with
from weir.traces.generate.families.path import bernoulli
from weir.traces.generate.pantheon import pantheon_scenarios
from weir.traces.generate.published import competing_media, muses_cross_traffic, round_trip_time_fairness
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.links import Queue
from weir.traces.schema.media import with_media
from weir.traces.schema.scenario import Scenario

STEADY_MBPS = (0.3, 1.0, 2.5, 8.0, 30.0)
L4S_MBPS = (2.0, 5.0, 20.0, 50.0)
START_BPS = 5e6
HALVED_AT_S = 30.0
HEAVY_LOSS_PERCENT = 12
ROUTE_CHANGES = "-route-changes"
_SLOW_KBPS = (64, 92, 130, 200, 300, 450)
_SLOW_QUEUE_MS = 2000
_DETOUR_MS = 40.0
# libwebrtc's VP8 makes a key frame every 3000 frames, so that a call has only those that a receiver requests.
_KEY_FRAME_INTERVAL_S = 100.0
# With extensions, and of a packet of video.
_RTP_HEADER_BYTES = 24
_PAYLOAD_BYTES = 1200
FAMILY_CALL_BPS = 4e6
_FAMILY_CALL_S = 40.0
# One case of each family that a link can do to a browser. A link cannot set its clock, pause its media, choose its
# content, or make it begin below its own 300 kbps.
_CALLED_CASES = {
    "route": "plus40", "loss": "random2", "jitter": "gaussian20", "tcp": "cubic-stays", "policer": "burst15kB",
    "slots": "20of100ms", "reverse": "plus500", "start": "300k", "everything": "4",
}  # fmt: skip
_CHANGING_CAPACITY = (
    "cellular-500k", "cellular-3m", "cellular-12m", "wifi-5m", "outage", "handover", "sawtooth", "steps",
    "call-on-cellular",
)  # fmt: skip
CELLULAR_CALL_S = 30.0


def _link(name: str, rate_bps: float, *flows: dict[str, Any], **more: Any) -> Scenario:
    """A link of constant capacity, with further flows: 25 ms, 300 ms, 60 s."""
    link = scenario_from_capacity(CapacityTrace.constant(rate_bps), name, **more).to_dict()
    return Scenario.from_dict(link | {"flows": [*link["flows"], *flows]}, name)


def steady_links() -> list[Scenario]:
    """Links of constant capacity: 25 ms, 300 ms, 60 s."""
    return [_link(f"steady-{rate:g}M", rate * 1e6) for rate in STEADY_MBPS]


def start_link() -> list[Scenario]:
    """A link of START_BPS: 25 ms, 300 ms, 20 s."""
    return [_link("start-5M", START_BPS, duration_s=20.0)]


def halved_link() -> list[Scenario]:
    """2.5 Mbps, from HALVED_AT_S on 1.25 Mbps: 25 ms, 300 ms, 60 s."""
    steps = CapacityTrace(np.array([0.0, HALVED_AT_S]), np.array([2.5e6, 1.25e6]))
    return [scenario_from_capacity(steps, "halved-2.5M")]


def heavy_loss() -> list[Scenario]:
    """More random loss than the family `loss` has, on its links: video."""
    percent = HEAVY_LOSS_PERCENT
    cases = [Case(f"random{percent}", forward_with(loss=bernoulli(percent / 100)))]
    return Family("loss", f"The path loses {percent} % of the packets", cases).scenarios("video")


def slow_links() -> list[Scenario]:
    """64 to 450 kbps with a queue of 2 s: 25 ms, 60 s, video."""
    return [_link(f"slow-{kbps}k", 1e3 * kbps, queue=Queue(milliseconds=_SLOW_QUEUE_MS)) for kbps in _SLOW_KBPS]


def deep_queues_with_tcp() -> list[Scenario]:
    """Video of 2.5 Mbps, from the tenth to the fortieth second in competition with a TCP flow, in queues of 0.8 to 6 s:
    25 ms, 60 s.
    """
    tcp = {"kind": "tcp", "id": "tcp", "start_s": 10.0, "stop_s": 40.0}
    return [
        _link(f"deep-{mbps}M-{control}-{queue_ms}ms", 1e6 * mbps, tcp | {"congestion_control": control},
              queue=Queue(milliseconds=queue_ms))
        for mbps, control, queue_ms in itertools.product((2, 8), ("newreno", "bbr"), (800, 2000, 6000))
    ]  # fmt: skip


def one_packet_queues() -> list[Scenario]:
    """Pantheon's emulators 7 to 12: filler on links of 12 to 108 Mbps whose queues hold one packet."""
    return pantheon_scenarios()[6:12]


def l4s_links() -> list[Scenario]:
    """Links of constant capacity with DualPI2 (RFC 9332), for filler: 25 ms, 300 ms, 60 s."""
    return _l4s_links("")


def l4s_links_with_tcp() -> list[Scenario]:
    """The same with a TCP Cubic flow in the classic queue from the tenth second on."""
    return _l4s_links("-cubic", {"kind": "tcp", "start_s": 10.0})


def l4s_links_with_an_equal() -> list[Scenario]:
    """The same with a second flow under test from the tenth second on."""
    return _l4s_links("-equal", {"kind": "rtp", "id": "later", "start_s": 10.0, "media": {"kind": "filler"}})


def l4s_calls() -> list[Scenario]:
    """Video on the first of these links, and on bundled scenarios whose capacity changes, with DualPI2."""
    bundled = _bundled_calls(("steps", "cellular-3m", "wifi-5m"))
    return [with_media(l4s_links()[0], "video"), *map(_with_l4s_queue, bundled)]


def _l4s_links(suffix: str, *flows: dict[str, Any]) -> list[Scenario]:
    links = [_link(f"l4s-{rate:g}M{suffix}", rate * 1e6, *flows) for rate in L4S_MBPS]
    return [_with_l4s_queue(with_media(link, "filler")) for link in links]


def _with_l4s_queue(scenario: Scenario) -> Scenario:
    data = scenario.to_dict()
    data["forward"]["queue_discipline"] = "dualpi2"
    return Scenario.from_dict(data, scenario.name)


def wide_calls() -> list[Scenario]:
    """Calls at the edge of what training has: a screen at 5 frames/s, a round trip of 600 ms, 100 Mbps. The capacity is
    a quarter from 20 to 40 s.
    """

    def call(name: str, rate_bps: float, one_way_delay_ms: float | None = None, **media: float) -> Scenario:
        steps = CapacityTrace(np.array([0.0, 20.0, 40.0]), rate_bps * np.array([1.0, 0.25, 1.0]))
        data = scenario_from_capacity(steps, name, one_way_delay_ms=one_way_delay_ms).to_dict()
        data["flows"][0]["media"] |= media
        return Scenario.from_dict(data, name)

    return [
        call("screen-5fps", 4e6, frames_per_second=5.0),
        call("round-trip-600ms", 4e6, 300.0),
        call("100M", 100e6, max_rate_bps=40e6),
    ]


def sharing_with_route_changes() -> list[Scenario]:
    """RFC 8867 5.4 and 5.5 with a detour of 40 ms over the third quarter of their time."""
    return [_with_detour(case) for case in (competing_media(), round_trip_time_fairness())]


def muses_call() -> list[Scenario]:
    """Muses' cross traffic, 110 s."""
    return [muses_cross_traffic()]


def slow_decision_calls() -> list[Scenario]:
    """Muses' path, one of constant capacity and three cellular ones: video, CELLULAR_CALL_S but for the first."""
    return [*muses_call(), *_bundled_calls(("steady-2m5", "cellular-3m", "cellular-12m", "handover"))]


def impaired_calls() -> list[Scenario]:
    """One scenario of each family that a link can do to a browser: video on 4 Mbps, at most 40 s."""
    return [
        family.scenario(case, FAMILY_CALL_BPS, "video")
        for name, wanted in _CALLED_CASES.items()
        for family in (_shortened(FAMILIES[name]()),)
        for case in family.cases
        if case.name == wanted
    ]


def bundled_cellular_calls() -> list[Scenario]:
    """Nine bundled scenarios whose capacity changes: video, CELLULAR_CALL_S."""
    return _bundled_calls(_CHANGING_CAPACITY)


FAMILY_CALL_MAX_BITRATE_BPS = round(VIDEO_SHARE_OF_LINK * FAMILY_CALL_BPS / 1e3) * 1000


def as_called(scenario: Scenario) -> Scenario:
    """The scenario for replays beside its calls: without periodic key frames, the media's limit as a call has it."""
    data = scenario.to_dict()
    media = next(flow["media"] for flow in data["flows"] if flow["kind"] == "rtp")
    media["key_frame_interval_s"] = _KEY_FRAME_INTERVAL_S
    # A call's largest bitrate is of payload, a scenario's has the RTP headers in it.
    media["max_rate_bps"] *= 1 + _RTP_HEADER_BYTES / _PAYLOAD_BYTES
    return Scenario.from_dict(data, scenario.name)


def _bundled_calls(names: Sequence[str]) -> list[Scenario]:
    return [
        with_media(Scenario.from_dict(load_bundled(name).to_dict() | {"duration_s": CELLULAR_CALL_S}, name), "video")
        for name in names
    ]


def _with_detour(case: Scenario) -> Scenario:
    document = case.to_dict()
    times_s = [0.0, case.duration_s / 2, 3 * case.duration_s / 4]
    for side in ("forward", "reverse"):
        base_ms = document[side]["one_way_delay_ms"]
        values_ms = [base_ms, base_ms + _DETOUR_MS, base_ms]
        document[side]["one_way_delay_ms"] = {"times_s": times_s, "values_ms": values_ms}
    return Scenario.from_dict(document | {"name": f"{case.name}{ROUTE_CHANGES}"})


def _shortened(family: Family) -> Family:
    return replace(family, duration_s=min(family.duration_s, _FAMILY_CALL_S))


def losing_feedback(scenario: Scenario, percent: int) -> Scenario:
    """The scenario with that part of the packets on the return path lost at random; as it is for 0."""
    if not percent:
        return scenario
    data = scenario.to_dict()
    data["name"] = f"{scenario.name}-feedback-lost-{percent}"
    data["reverse"]["loss"] = {"kind": "bernoulli", "ratio": percent / 100}
    return Scenario.from_dict(data, data["name"])


def with_remb_alone(scenario: Scenario) -> Scenario:
    """The scenario with answers that exclude transport-cc."""
    data = scenario.to_dict()
    for flow in data["flows"]:
        if flow["kind"] == "rtp":
            flow["transport_cc"] = False
    return Scenario.from_dict(data, scenario.name)
