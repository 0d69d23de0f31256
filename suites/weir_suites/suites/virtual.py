"""Virtual calls: libwebrtc's sender and receiver in simulated time, path by path.

Traces, mixtures and families of impairments, which are many or long, use only VP8's frame sizes, and so do links on
which GCC was once better.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import scenarios
from weir_suites.aggregations import GEOMETRIC_MEAN, WORST, share_where
from weir_suites.comparison import Comparison
from weir_suites.suite import Goal, Replays, Suite, at_least, at_most
from weir_suites.suites.natural import FAR_BELOW, MIXTURES
from weir_traces.schema.scenario import Scenario

_VIDEO: Final = CallMedia()
_SIZES_ALONE: Final = CallMedia(Encoder.FAKE)
_OWN: Final = (POLICY, "weir-send")
_IMPAIRMENTS: Final = "impairments"
_SETS: Final = {
    "bundled": (scenarios.bundled, _VIDEO),
    "cellular": (scenarios.cellular_calls, _VIDEO),
    **{name: (traces, _SIZES_ALONE) for name, traces in sets.whole_traces.items()},
    MIXTURES: (sets.mixtures, _SIZES_ALONE),
    _IMPAIRMENTS: (sets.joined(*sets.families("video").values()), _SIZES_ALONE),
}
_SLOW: Final = "slow links"
_DEEP: Final = "deep queues with TCP"
_ALL: Final = _SETS | {
    _SLOW: (scenarios.slow_links, _SIZES_ALONE),
    _DEEP: (scenarios.deep_queues_with_tcp, _SIZES_ALONE),
}
_L4S: Final = "l4s"
_WEIR_CCFB: Final = "weir-send-ccfb"
_SCREAM_CCFB: Final = "scream-ccfb"
_POINTS: Final = at_least(0.0, signed=True, decimals=1)
_SLOW_BPS: Final = 130e3


def _is_slow(scenario: Scenario) -> bool:
    return (scenario.forward.mean_capacity_bps(scenario.duration_s) or math.inf) <= _SLOW_BPS


def _troubles(scenario: Scenario) -> list[str]:
    return scenario.description.split(", ")


_quality: Final = partial(Comparison, metric="viewer_quality", others=LIBWEBRTC_SENDERS)


# fmt: off
def _goals() -> Iterator[Goal]:
    better = "viewer's quality against the better of gcc and scream"
    for name, own in itertools.product(_SETS, _OWN):
        yield Goal(f"mean_{name}_{own}", f"{name}, {own}: {better}, mean", _quality(name, controller=own), _POINTS)
        yield Goal(f"not_below_{name}_{own}",
                   f"{name}, {own}: viewer's quality not below the better of gcc and scream, share of paths",
                   _quality(name, aggregation=share_where(lambda gain: gain >= 0), controller=own),
                   at_least(0.8, "%", scale=100, decimals=0))
    for name, own in itertools.product((MIXTURES, _IMPAIRMENTS), _OWN):
        yield Goal(f"frozen_{name}_{own}", f"{name}, {own}: time frozen, gcc's less its own, mean",
                   Comparison(name, "frozen_share", controller=own, others=(GCC,)),
                   at_least(0.0, "points", signed=True, scale=100, decimals=1))
        yield Goal(f"below_{name}_{own}",
                   f"{name}, {own}: viewer's quality 5 points below the better of gcc and scream, share of paths",
                   _quality(name, aggregation=share_where(lambda gain: gain < FAR_BELOW), controller=own),
                   at_most(0.05, "%", scale=100, decimals=0))
        yield Goal(f"worst_{name}_{own}", f"{name}, {own}: {better}, worst path",
                   _quality(name, aggregation=WORST, controller=own), at_least(-15.0, signed=True, decimals=1))
    for own in _OWN:
        yield Goal(f"lowest_trouble_{own}", f"{MIXTURES}, {own}: {better}, worst trouble's mean",
                   _quality(MIXTURES, aggregation=WORST, controller=own, groups=_troubles), _POINTS)
    for own in _OWN:
        yield Goal(f"slow_{own}", f"{MIXTURES}, {own}: links of at most 130 kbps: challenge against gcc, mean",
                   Comparison(MIXTURES, controller=own, others=(GCC,), where=_is_slow), _POINTS)
        yield Goal(f"slow_delay_{own}", f"{_SLOW}, {own}: p95 network delay over scream's, mean",
                   Comparison(_SLOW, "network_delay_ms_p95", GEOMETRIC_MEAN, own, ("scream",), "ratio"),
                   at_most(1.2, "times"))
        yield Goal(f"freezes_cellular_{own}", f"cellular, {own}: freezes a call, gcc's less its own, mean",
                   Comparison("cellular", "freeze_count", controller=own, others=(GCC,)), _POINTS)
        yield Goal(f"deep_tcp_{own}", f"{_DEEP}, {own}: time frozen, gcc's less its own, worst path",
                   Comparison(_DEEP, "frozen_share", WORST, own, (GCC,)),
                   at_least(-0.02, "points", signed=True, scale=100, decimals=1))
    yield Goal("mean_l4s", "L4S queues, weir-send-ccfb: viewer's quality against scream-ccfb, mean",
               _quality(_L4S, controller=_WEIR_CCFB, others=(_SCREAM_CCFB,)), _POINTS)


# fmt: on
SUITE: Final = Suite(
    name="virtual",
    about="Virtual calls: libwebrtc's own sender and receiver in simulated time, on the bundled scenarios and twelve "
    "cellular paths (VP8 at 640x360), on OpenNetLab's and Mahimahi's traces, mixtures of ordinary networks, families "
    "of impairments, slow links, and deep queues with TCP (VP8's frame sizes without pictures), against gcc and scream "
    "on the same stack. On L4S queues (DualPI2), from RFC 8888 feedback, Weir at the sender against scream.",
    random=300,
    only_named=True,
    replays=(
        *(Replays(name, build, (*_OWN, *LIBWEBRTC_SENDERS), call=media) for name, (build, media) in _ALL.items()),
        Replays(_L4S, scenarios.l4s_calls, (_WEIR_CCFB, _SCREAM_CCFB), call=_VIDEO),
    ),
    goals=tuple(_goals()),
)
