"""The sets of scenarios of suites, other than traces, random ones and families; and scenarios changed for calls.

Links have 25 ms one way, a queue of 300 ms and a duration of 60 s, unless noted.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from weir_eval.runs.scenario_sets import ScenarioSet, Settings, fixed, mahimahi_calls
from weir_traces.catalogue import bundled_scenarios, load_bundled
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.generate.families.families import FAMILIES
from weir_traces.generate.families.family import VIDEO_SHARE_OF_LINK, Case, Family, forward_with
from weir_traces.generate.families.path import bernoulli, gilbert_elliott
from weir_traces.generate.pantheon import pantheon_scenarios
from weir_traces.generate.published import competing_media, muses_cross_traffic, round_trip_time_fairness
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.links import Queue
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario

START_BPS: Final = 5e6
HALVED_AT_S: Final = 30.0
HEAVY_LOSS_PERCENT: Final = 12
ROUTE_CHANGES: Final = "-route-changes"
_L4S_MBPS: Final = (2.0, 5.0, 20.0, 50.0)
_DETOUR_MS: Final = 40.0
# libwebrtc's VP8 makes a key frame every 3000 frames, so that calls have only those that the receiver requests.
_KEY_FRAME_INTERVAL_S: Final = 100.0
# RTP header with extensions, and payload, of a video packet.
_RTP_HEADER_BYTES: Final = 24
_PAYLOAD_BYTES: Final = 1200
_FAMILY_CALL_BPS: Final = 4e6
FAMILY_CALL_MAX_BITRATE_BPS: Final = round(VIDEO_SHARE_OF_LINK * _FAMILY_CALL_BPS / 1e3) * 1000
_IMPAIRED_CALL_S: Final = 40.0
_LOSSY_CALL_S: Final = 45.0
_CELLULAR_CALL_S: Final = 30.0
# One case of each family that a link can impose on a browser. A link cannot set the browser's clock, pause its media,
# choose its content, or make it start below its 300 kbps.
_CALLED_CASES: Final = {
    "route": "plus40", "loss": "random2", "jitter": "gaussian20", "tcp": "cubic-stays", "policer": "burst15kB",
    "slots": "20of100ms", "reverse": "plus500", "start": "300k", "everything": "4",
}  # fmt: skip
_CHANGING_CAPACITY: Final = (
    "cellular-500k", "cellular-3m", "cellular-12m", "wifi-5m", "outage", "handover", "sawtooth", "steps",
    "call-on-cellular",
)  # fmt: skip
_DOWNLINKS: Final = ("cellular-3m", "cellular-12m", "wifi-5m", "handover", "lossy-random", "lossy-bursty")
_LOSSY_LINKS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{f"random loss, {percent} %": {"loss": bernoulli(percent / 100)} for percent in (2, 5, 7, 8, 12, 20)},
    "bursts": {"loss": gilbert_elliott(0.05)},
    "policer": {"loss": {"kind": "policer", "rate_bps": _FAMILY_CALL_BPS / 2, "burst_bytes": 25_000}},
    "short queue": {"queue": {"packets": 2}},
}
SHORT_QUEUE_COMPETITORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "gcc": {"kind": "rtp", "controller": "gcc", "media": {"kind": "filler"}},
    "cubic": {"kind": "tcp", "congestion_control": "cubic"},
    "bbr": {"kind": "tcp", "congestion_control": "bbr"},
    "equal": {"kind": "rtp", "media": {"kind": "filler"}},
}
SHORT_QUEUE_LOSS_PERCENTS: Final = (0, 4, 8, 12)
RANDOM_LOSS_PERCENTS: Final = (1, 3, 8)
COMPETITOR: Final = "competitor"
_SHORT_QUEUES: Final = tuple(itertools.product((4.0, 10.0, 20.0), (2, 4, 20)))
# In virtual calls of one video of at most 20 Mbps.
_CALLED_SHORT_QUEUES: Final = ((4.0, 4), (20.0, 20))
_SHARED_LOSS_PERCENTS: Final = (0, 1, 4)
_SHARED_QUEUES_MS: Final = (20, 100, 300)
_NOT_IN_NAMES: Final = re.compile(r"[ ,%]")


def random_loss_name(round_trip_ms: int, percent: int) -> str:
    """The name of a set of `random_losses`."""
    return f"random loss, {percent} % at {round_trip_ms} ms"


def _link(name: str, rate_bps: float, *flows: dict[str, Any], **more: Any) -> Scenario:
    """A link with constant capacity and further flows."""
    link = scenario_from_capacity(CapacityTrace.constant(rate_bps), name, **more).to_dict()
    return Scenario.from_dict(link | {"flows": [*link["flows"], *flows]}, name)


def _stepped(name: str, times_s: Sequence[float], rates_bps: Sequence[float], **more: Any) -> Scenario:
    """A link whose capacity changes at these times."""
    return scenario_from_capacity(CapacityTrace(np.array(times_s), np.array(rates_bps)), name, **more)


def _wide_call(name: str, rate_bps: float, one_way_delay_ms: float | None = None, **media: float) -> Scenario:
    """A call on a link that has a quarter of its capacity from 20 to 40 s."""
    rates_bps = (rate_bps, rate_bps / 4, rate_bps)
    data = _stepped(name, (0.0, 20.0, 40.0), rates_bps, one_way_delay_ms=one_way_delay_ms).to_dict()
    data["flows"][0]["media"] |= media
    return Scenario.from_dict(data, name)


def _with_l4s_queue(scenario: Scenario) -> Scenario:
    data = scenario.to_dict()
    data["forward"]["queue_discipline"] = "dualpi2"
    return Scenario.from_dict(data, scenario.name)


def _l4s_links(suffix: str = "", *flows: dict[str, Any]) -> list[Scenario]:
    links = [_link(f"l4s-{rate:g}M{suffix}", rate * 1e6, *flows) for rate in _L4S_MBPS]
    return [_with_l4s_queue(with_media(link, "filler")) for link in links]


def _with_detour(case: Scenario) -> Scenario:
    """The case with a longer base delay during the third quarter of its time."""
    document = case.to_dict()
    times_s = [0.0, case.duration_s / 2, 3 * case.duration_s / 4]
    for side in ("forward", "reverse"):
        base_ms = document[side]["one_way_delay_ms"]
        values_ms = [base_ms, base_ms + _DETOUR_MS, base_ms]
        document[side]["one_way_delay_ms"] = {"times_s": times_s, "values_ms": values_ms}
    return Scenario.from_dict(document | {"name": f"{case.name}{ROUTE_CHANGES}"})


def _family_call(family: Family, case: Case, longest_s: float) -> Scenario:
    """A case of a family as a call with video on 4 Mbps."""
    shortened = replace(family, duration_s=min(family.duration_s, longest_s))
    return shortened.scenario(case, _FAMILY_CALL_BPS, "video")


def _impaired_calls() -> list[Scenario]:
    families = {name: FAMILIES[name]() for name in _CALLED_CASES}
    return [
        _family_call(family, next(case for case in family.cases if case.name == _CALLED_CASES[name]), _IMPAIRED_CALL_S)
        for name, family in families.items()
    ]


def _lossy_call(name: str, link: Mapping[str, Any]) -> list[Scenario]:
    family = Family("loss", "The path loses packets", [], duration_s=_LOSSY_CALL_S)
    return [_family_call(family, Case(_NOT_IN_NAMES.sub("", name), forward_with(**link)), _LOSSY_CALL_S)]


def _lossy_cellular_call() -> list[Scenario]:
    data = load_bundled("cellular-3m").to_dict() | {"duration_s": _LOSSY_CALL_S}
    data["forward"]["loss"] = bernoulli(0.08)
    return [with_media(Scenario.from_dict(data, "loss-cellular-3m"), "video")]


def _random_loss(round_trip_ms: int, percent: int) -> list[Scenario]:
    name = f"round-trip-{round_trip_ms}ms-loss-{percent}"
    path = {"one_way_delay_ms": round_trip_ms / 2, "loss_ratio": percent / 100, "duration_s": 40.0}
    return [with_media(_link(name, 2e6, **path), "video")]


def _shared_link(name: str, media: str, mbps: float, queue: Queue, other: str, loss_percent: int) -> Scenario:
    """A link with random loss and a competing flow; its description names both."""
    flow = {"id": COMPETITOR, **SHORT_QUEUE_COMPETITORS[other]}
    path = {"queue": queue, "loss_ratio": loss_percent / 100, "duration_s": _LOSSY_CALL_S}
    link = _link(name, 1e6 * mbps, flow, **path).to_dict() | {"description": f"{other}, {loss_percent} %"}
    link["flows"][0]["media"] = {"kind": media, "max_rate_bps": 20e6 if media == "video" else 50e6}
    return Scenario.from_dict(link, name)


def _short_queues(media: str, paths: Iterable[tuple[float, int]], other: str, loss_percent: int) -> list[Scenario]:
    """Links with a queue of a few packets, random loss and a competing flow."""
    return [
        _shared_link(f"short-{mbps:g}M-{packets}-{other}-{loss_percent}-{media}", media, mbps, Queue(packets=packets),
                     other, loss_percent)
        for mbps, packets in paths
    ]  # fmt: skip


def _bundled_calls(names: Sequence[str]) -> list[Scenario]:
    return [
        with_media(Scenario.from_dict(load_bundled(name).to_dict() | {"duration_s": _CELLULAR_CALL_S}, name), "video")
        for name in names
    ]


bundled: Final = fixed(bundled_scenarios)
steady_links: Final = fixed(lambda: [_link(f"steady-{mbps:g}M", mbps * 1e6) for mbps in (0.3, 1.0, 2.5, 8.0, 30.0)])
# 20 s.
start_link: Final = fixed(lambda: [_link("start-5M", START_BPS, duration_s=20.0)])
halved_link: Final = fixed(lambda: [_stepped("halved-2.5M", (0.0, HALVED_AT_S), (2.5e6, 1.25e6))])
# More random loss than in the family `loss`, on its links: video.
heavy_loss: Final = fixed(
    lambda: Family(
        "loss",
        f"The path loses {HEAVY_LOSS_PERCENT} % of the packets",
        [Case(f"random{HEAVY_LOSS_PERCENT}", forward_with(loss=bernoulli(HEAVY_LOSS_PERCENT / 100)))],
    ).scenarios("video")
)
# Video in a queue of 2 s.
slow_links: Final = fixed(
    lambda: [
        _link(f"slow-{kbps}k", 1e3 * kbps, queue=Queue(milliseconds=2000)) for kbps in (64, 92, 130, 200, 300, 450)
    ]
)
# Video of 2.5 Mbps, from the tenth to the fortieth second in competition with a TCP flow.
deep_queues_with_tcp: Final = fixed(
    lambda: [
        _link(
            f"deep-{mbps}M-{control}-{queue_ms}ms",
            1e6 * mbps,
            {"kind": "tcp", "id": "tcp", "start_s": 10.0, "stop_s": 40.0, "congestion_control": control},
            queue=Queue(milliseconds=queue_ms),
        )
        for mbps, control, queue_ms in itertools.product((2, 8), ("newreno", "bbr"), (800, 2000, 6000))
    ]
)
# Pantheon's emulators 7 to 12: filler on links of 12 to 108 Mbps whose queues hold one packet.
one_packet_queues: Final = fixed(lambda: pantheon_scenarios()[6:12])
# A set for each round trip and random loss: video on 2 Mbps, 40 s.
random_losses: Final = {
    random_loss_name(round_trip_ms, percent): fixed(partial(_random_loss, round_trip_ms, percent))
    for round_trip_ms, percent in itertools.product((30, 120, 240), RANDOM_LOSS_PERCENTS)
}
# DualPI2 (RFC 9332), for filler: alone, with a TCP Cubic flow in the classic queue from the tenth second on, and with
# a second flow under test from then on.
l4s_links: Final = fixed(_l4s_links)
l4s_links_with_tcp: Final = fixed(lambda: _l4s_links("-cubic", {"kind": "tcp", "start_s": 10.0}))
l4s_links_with_an_equal: Final = fixed(
    lambda: _l4s_links("-equal", {"kind": "rtp", "id": "later", "start_s": 10.0, "media": {"kind": "filler"}})
)
# Video on the first of these links, and on bundled scenarios whose capacity changes, with DualPI2.
l4s_calls: Final = fixed(
    lambda: [
        with_media(_l4s_links()[0], "video"),
        *map(_with_l4s_queue, _bundled_calls(("steps", "cellular-3m", "wifi-5m"))),
    ]
)
# Calls at the edge of the training domain: a screen at 5 frames/s, a round trip of 600 ms, 100 Mbps.
wide_calls: Final = fixed(
    lambda: [
        _wide_call("screen-5fps", 4e6, frames_per_second=5.0),
        _wide_call("round-trip-600ms", 4e6, 300.0),
        _wide_call("100M", 100e6, max_rate_bps=40e6),
    ]
)
# RFC 8867 5.4 and 5.5.
sharing_with_route_changes: Final = fixed(
    lambda: [_with_detour(case) for case in (competing_media(), round_trip_time_fairness())]
)
# Muses' cross traffic, 110 s.
muses_call: Final = fixed(lambda: [muses_cross_traffic()])
# Muses' path, one of constant capacity and three cellular ones: video, 30 s but for the first.
slow_decision_calls: Final = fixed(
    lambda: [muses_cross_traffic(), *_bundled_calls(("steady-2m5", "cellular-3m", "cellular-12m", "handover"))]
)
# Video on 4 Mbps, at most 40 s.
impaired_calls: Final = fixed(_impaired_calls)
# A set of one call of 45 s each, video: on 4 Mbps, and on a cellular path with random loss.
lossy_calls: Final = {name: fixed(partial(_lossy_call, name, link)) for name, link in _LOSSY_LINKS.items()} | {
    "cellular": fixed(_lossy_cellular_call)
}

# The same paths by competing flow and random loss, 45 s: filler, and for virtual calls video.
short_queues: Final = {
    (other, percent): fixed(partial(_short_queues, "filler", _SHORT_QUEUES, other, percent))
    for other, percent in itertools.product(SHORT_QUEUE_COMPETITORS, SHORT_QUEUE_LOSS_PERCENTS)
}
called_queues: Final = {
    (other, percent): fixed(partial(_short_queues, "video", _CALLED_SHORT_QUEUES, other, percent))
    for other, percent in itertools.product(SHORT_QUEUE_COMPETITORS, SHORT_QUEUE_LOSS_PERCENTS)
}
# A video of at most 20 Mbps on 4 Mbps with each competing flow, with and without random loss: 45 s.
shared_queues: Final = fixed(
    lambda: [
        _shared_link(f"shared-{ms}ms-{other}-{percent}", "video", 4.0, Queue(milliseconds=ms), other, percent)
        for other, percent, ms in itertools.product(SHORT_QUEUE_COMPETITORS, _SHARED_LOSS_PERCENTS, _SHARED_QUEUES_MS)
    ]
)

# Downlinks of an SFU, 60 s: constant, stepped, cellular and lossy.
downlinks: Final = fixed(
    lambda: [
        *(with_media(_link(f"downlink-{kbps}k", 1e3 * kbps), "video") for kbps in (500, 1000, 2500, 8000)),
        with_media(_stepped("downlink-rises", (0.0, 20.0, 40.0), (0.8e6, 4e6, 0.8e6)), "video"),
        with_media(_stepped("downlink-falls", (0.0, 20.0, 40.0), (3e6, 1e6, 3e6)), "video"),
        *(with_media(load_bundled(name), "video") for name in _DOWNLINKS),
    ]
)


def cellular_calls(settings: Settings) -> ScenarioSet:
    """Twelve cellular paths: three traces and nine bundled scenarios whose capacity changes, 30 s."""
    traced = mahimahi_calls(settings, _CELLULAR_CALL_S)
    return replace(traced, scenarios=[*traced.scenarios, *_bundled_calls(_CHANGING_CAPACITY)])


def as_called(scenario: Scenario) -> Scenario:
    """The scenario for replays that are compared with calls: no periodic key frames, and the rate limit of a call."""
    data = scenario.to_dict()
    media = next(flow["media"] for flow in data["flows"] if flow["kind"] == "rtp")
    media["key_frame_interval_s"] = _KEY_FRAME_INTERVAL_S
    # The maximum bitrate of a call counts payload only, that of a scenario also RTP headers.
    media["max_rate_bps"] *= 1 + _RTP_HEADER_BYTES / _PAYLOAD_BYTES
    return Scenario.from_dict(data, scenario.name)


def losing_feedback(scenario: Scenario, percent: int) -> Scenario:
    """The scenario with this percentage of random loss on the return path; unchanged for 0."""
    if not percent:
        return scenario
    data = scenario.to_dict()
    data["name"] = f"{scenario.name}-feedback-lost-{percent}"
    data["reverse"]["loss"] = bernoulli(percent / 100)
    return Scenario.from_dict(data, data["name"])


def with_remb_alone(scenario: Scenario) -> Scenario:
    """The scenario with answers that exclude transport-cc."""
    data = scenario.to_dict()
    for flow in data["flows"]:
        if flow["kind"] == "rtp":
            flow["transport_cc"] = False
    return Scenario.from_dict(data, scenario.name)
