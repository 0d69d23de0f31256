"""Layers and downlink of an SFU, as a subscriber sees them: Weir against GCC with mediasoup's and LiveKit's rules, in
rooms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from weir_eval.measures.families import GCC
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.call_media import CallMedia, Encoder, Room
from weir_suites import scenarios
from weir_suites.aggregations import MEDIAN
from weir_suites.comparison import Comparison
from weir_suites.suite import Goal, Replays, Suite, at_least, at_most

_WEIR: Final = "weir-send"
_ROOMS: Final = {
    "1 camera": Room(cameras=1),
    "3 cameras": Room(cameras=3),
    "6 cameras": Room(cameras=6),
    "screen and 2 cameras": Room(cameras=2, screens=1),
}


def _room(record: RunRecord) -> dict[str, Any]:
    """The measures of the subscriber, from its flow's record."""
    extra = record.flows[0].model_extra or {}
    return dict(extra["room"])


def lowered_per_minute(record: RunRecord) -> float:
    """Changes of a stream to a lower layer or to none, per stream and minute."""
    room = _room(record)
    return float(room["layers_lowered"] / room["streams"] / (record.duration_s / 60))


def fitting_share(record: RunRecord) -> float:
    """The forwarded part of the layers that fit, second by second; forwarding more than fits adds nothing."""
    room = _room(record)
    used = sum(map(min, room["forwarded_bps"], room["fitting_bps"]))
    return float(used / max(sum(room["fitting_bps"]), 1))


def frozen_share(record: RunRecord) -> float:
    """Share of the time in which a stream is frozen or paused, mean over streams."""
    return float(_room(record)["frozen_share"])


def end_to_end_delay_ms_p95(record: RunRecord) -> float:
    """95th percentile of the time from capture to rendering, ms; infinite if nothing was rendered."""
    delay_ms = _room(record)["end_to_end_delay_ms_p95"]
    return math.inf if delay_ms is None else float(delay_ms)


def best_layers_after_s(record: RunRecord) -> float:
    """Time from the start, and from each rise, until the layers that fit are forwarded in a whole second, mean in s.

    A rise whose layers do not fit for as long counts with the time for which they fit. Infinite without a rise.
    """
    room = _room(record)
    fitting, forwarded = room["fitting_bps"], room["forwarded_bps"]
    rises = [second for second, (before, fits) in enumerate(itertools.pairwise([0, *fitting])) if fits > before]
    times_s = [_time_to_best_s(fitting[second:], forwarded[second:]) for second in rises]
    return sum(times_s) / len(times_s) if times_s else math.inf


def _time_to_best_s(fitting: Sequence[float], forwarded: Sequence[float]) -> float:
    for second, (fits, sent) in enumerate(zip(fitting, forwarded, strict=True)):
        if fits < fitting[0] or sent >= fitting[0]:
            return float(second)
    return float(len(fitting))


def _of_livekit(name: str) -> str:
    """The set of a room in which GCC has LiveKit's rules."""
    return f"{name}, LiveKit"


def _goals_against(name: str, rules: str, suffix: str, baseline: str) -> Iterator[Goal]:
    key = name.replace(" ", "_") + suffix
    against = f"weir-send less gcc with {rules}'s rules"
    compared = partial(Comparison, name, controller=_WEIR, others=(GCC,), contrast="difference", baseline=baseline)
    yield Goal(
        f"lowered_{key}",
        f"{name}: layers lowered, per stream and minute, {against}, mean over paths",
        compared(lowered_per_minute),
        at_most(0.0, "/min", signed=True, decimals=2),
    )
    yield Goal(
        f"fitting_{key}",
        f"{name}: share of the layers that fit, {against}, mean over paths",
        compared(fitting_share),
        at_least(0.0, "points", signed=True, scale=100, decimals=1),
    )
    yield Goal(
        f"frozen_{key}",
        f"{name}: time frozen or paused, {against}, mean over paths",
        compared(frozen_share),
        at_most(0.0, "points", signed=True, scale=100, decimals=1),
    )
    yield Goal(
        f"best_after_{key}",
        f"{name}: time to the best layers that fit, {against}, median over paths",
        compared(best_layers_after_s, MEDIAN),
        at_most(0.0, "s", signed=True, decimals=1),
    )
    yield Goal(
        f"delay_{key}",
        f"{name}: end-to-end delay p95, {against}, median over paths",
        compared(end_to_end_delay_ms_p95, MEDIAN),
        at_most(0.0, "ms", signed=True, decimals=0),
        unbounded=True,
    )


def _goals() -> Iterator[Goal]:
    for name in _ROOMS:
        yield from _goals_against(name, "mediasoup", "", "")
        yield from _goals_against(name, "LiveKit", "_livekit", _of_livekit(name))


def _runs() -> Iterator[Replays]:
    for name, room in _ROOMS.items():
        yield Replays(name, scenarios.downlinks, (_WEIR, GCC), call=CallMedia(Encoder.FAKE, room=room))
        livekit = CallMedia(Encoder.FAKE, room=replace(room, allocation="livekit"))
        yield Replays(_of_livekit(name), scenarios.downlinks, (GCC,), call=livekit)


SUITE: Final = Suite(
    name="layers",
    about="Subscribers of an SFU in virtual calls: rooms of 1, 3 and 6 cameras and of a screen with 2 cameras, each in "
    "three simulcast layers, on constant, stepped, cellular and lossy downlinks, with Weir's estimator and allocator "
    "of layers, and with libwebrtc's GCC and the rules of mediasoup or LiveKit.",
    seeds=3,
    only_named=True,
    replays=tuple(_runs()),
    goals=tuple(_goals()),
)
