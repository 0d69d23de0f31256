"""Paths on which a call under GCC or SCReAM was once better by far."""

from __future__ import annotations

import itertools
import re
from typing import Final

from weir.traces.catalogue import load_bundled
from weir.traces.formats.plain_trace import scenario_from_capacity
from weir.traces.generate.families.family import Case, Family, forward_with
from weir.traces.generate.families.path import bernoulli, gilbert_elliott
from weir.traces.generate.pantheon import pantheon_scenarios
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.links import Queue
from weir.traces.schema.media import with_media
from weir.traces.schema.scenario import Scenario

HEAVY_LOSS_PERCENT: Final = 12
_SLOW_KBPS: Final = (64, 92, 130, 200, 300, 450)
_SLOW_QUEUE_MS: Final = 2000
_CALLED_LOSS_PERCENT: Final = (2, 5, 7, 8, 12, 20)
_NOT_IN_NAMES: Final = re.compile(r"[ ,%]")
_CALL_BPS: Final = 4e6
_CALL_S: Final = 45.0
_TCP: Final = {"kind": "tcp", "id": "tcp", "start_s": 10.0, "stop_s": 40.0}


def heavy_loss() -> list[Scenario]:
    """More random loss than the family `loss` has, on its links: video."""
    percent = HEAVY_LOSS_PERCENT
    cases = [Case(f"random{percent}", forward_with(loss=bernoulli(percent / 100)))]
    return Family("loss", f"The path loses {percent} % of the packets", cases).scenarios("video")


def slow_links() -> list[Scenario]:
    """64 to 450 kbps with a queue of 2 s: 25 ms, 60 s, video."""
    return [_deep_link(f"slow-{kbps}k", 1e3 * kbps, _SLOW_QUEUE_MS) for kbps in _SLOW_KBPS]


def deep_queues_with_tcp() -> list[Scenario]:
    """Video of 2.5 Mbps, from the tenth to the fortieth second in competition with a TCP flow, in queues of 0.8 to 6 s:
    25 ms, 60 s.
    """
    found = []
    for mbps, congestion_control, queue_ms in itertools.product((2, 8), ("newreno", "bbr"), (800, 2000, 6000)):
        name = f"deep-{mbps}M-{congestion_control}-{queue_ms}ms"
        alone = _deep_link(name, 1e6 * mbps, queue_ms).to_dict()
        flows = [*alone["flows"], _TCP | {"congestion_control": congestion_control}]
        found.append(Scenario.from_dict(alone | {"flows": flows}, name))
    return found


def one_packet_queues() -> list[Scenario]:
    """Pantheon's emulators 7 to 12: filler on links of 12 to 108 Mbps whose queues hold one packet."""
    return pantheon_scenarios()[6:12]


def lossy_calls() -> dict[str, Scenario]:
    """Calls of 45 s by the names of their sets, video: 4 Mbps, 25 ms, with random loss, loss in bursts of 5 packets, a
    policer of half the rate, or a queue of two packets; and a cellular path with random loss.
    """
    links = {f"random loss, {percent} %": {"loss": bernoulli(percent / 100)} for percent in _CALLED_LOSS_PERCENT}
    links |= {
        "bursts": {"loss": gilbert_elliott(0.05)},
        "policer": {"loss": {"kind": "policer", "rate_bps": _CALL_BPS / 2, "burst_bytes": 25_000}},
        "short queue": {"queue": {"packets": 2}},
    }
    family = Family("loss", "The path loses packets", [], duration_s=_CALL_S)
    calls = {
        name: family.scenario(Case(_NOT_IN_NAMES.sub("", name), forward_with(**link)), _CALL_BPS, "video")
        for name, link in links.items()
    }
    cellular = load_bundled("cellular-3m").to_dict() | {"duration_s": _CALL_S}
    cellular["forward"]["loss"] = bernoulli(0.08)
    calls["cellular"] = with_media(Scenario.from_dict(cellular, "loss-cellular-3m"), "video")
    return calls


def _deep_link(name: str, rate_bps: float, queue_ms: float) -> Scenario:
    return scenario_from_capacity(CapacityTrace.constant(rate_bps), name, queue=Queue(milliseconds=queue_ms))
