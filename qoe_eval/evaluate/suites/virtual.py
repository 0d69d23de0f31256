"""Virtual calls: libwebrtc's own sender and receiver in simulated time, Weir at either end against the better of
libwebrtc's controllers, path by path.

Bundled scenarios, cellular paths and L4S queues have the video of `weir call` as VP8; whole traces, mixtures and
families of impairments, which are many or long, its frame sizes alone, as have links on which GCC was once better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from weir.qoe_eval.evaluate import hard_paths, scenarios
from weir.qoe_eval.evaluate import natural_measures as natural
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import score_measures as scores
from weir.qoe_eval.evaluate.suite import Goal, Replays, Suite
from weir.qoe_eval.evaluate.suites.natural import MIXTURES, mixtures
from weir.qoe_eval.measures.families import GCC
from weir.qoe_eval.report.goal_table import Bound
from weir.qoe_eval.runs.call_media import CallMedia, Encoder
from weir.registry import LIBWEBRTC_SENDERS, POLICY
from weir.traces.catalogue import bundled_scenarios
from weir.traces.schema.scenario import Scenario

_VIDEO: Final = CallMedia()
_SIZES_ALONE: Final = CallMedia(Encoder.FAKE)
_OWN: Final = (POLICY, "weir-send")
_SETS: Final = {
    "bundled": (sets.fixed(bundled_scenarios), _VIDEO),
    "cellular": (sets.cellular_calls, _VIDEO),
    "opennetlab": (sets.traces("opennetlab"), _SIZES_ALONE),
    "mahimahi": (sets.traces("mahimahi"), _SIZES_ALONE),
    MIXTURES: (mixtures, _SIZES_ALONE),
    "impairments": (sets.joined(*sets.families("video").values()), _SIZES_ALONE),
}
_SLOW: Final = "slow links"
_DEEP: Final = "deep queues with TCP"
_HARD: Final = {_SLOW: hard_paths.slow_links, _DEEP: hard_paths.deep_queues_with_tcp}
_L4S: Final = "l4s"
_WEIR_CCFB: Final = "weir-send-ccfb"
_SCREAM_CCFB: Final = "scream-ccfb"
_POINTS: Final = Bound("at least", 0.0, signed=True, decimals=1)
_SLOW_BPS: Final = 130e3


def _goals(name: str) -> Iterator[Goal]:
    for own in _OWN:
        what = f"{name}, {own}: viewer's quality"
        yield Goal(
            f"mean_{name}_{own}",
            f"{what} against the better of gcc and scream, mean",
            natural.mean_gain(name, own, "viewer_quality"),
            _POINTS,
        )
        yield Goal(
            f"not_below_{name}_{own}",
            f"{what} not below the better of gcc and scream, share of paths",
            natural.not_below(name, own, "viewer_quality"),
            Bound("at least", 0.8, "%", scale=100, decimals=0),
        )


def _is_slow(scenario: Scenario) -> bool:
    return (scenario.forward.mean_capacity_bps(scenario.duration_s) or math.inf) <= _SLOW_BPS


def _goals_of_hard_paths() -> Iterator[Goal]:
    for own in _OWN:
        yield Goal(
            f"slow_{own}",
            f"{MIXTURES}, {own}: links of at most 130 kbps: challenge against gcc, mean",
            natural.mean_gain(MIXTURES, own, "challenge", others=(GCC,), among=_is_slow),
            _POINTS,
        )
        yield Goal(
            f"slow_delay_{own}",
            f"{_SLOW}, {own}: p95 network delay over scream's, mean",
            natural.mean_ratio(_SLOW, own, "network_delay_ms_p95", "scream"),
            Bound("at most", 1.2, "times"),
        )
        yield Goal(
            f"freezes_cellular_{own}",
            f"cellular, {own}: freezes a call, gcc's less its own, mean",
            natural.mean_gain("cellular", own, "freeze_count", others=(GCC,)),
            _POINTS,
        )
        yield Goal(
            f"deep_tcp_{own}",
            f"{_DEEP}, {own}: time frozen, gcc's less its own, worst path",
            scores.worst_gain(_DEEP, own=own, metric_name="frozen_share"),
            Bound("at least", -0.02, "points", signed=True, scale=100, decimals=1),
        )


SUITE: Final = Suite(
    name="virtual",
    about="Virtual calls: libwebrtc's own sender and receiver in simulated time, on the bundled scenarios and twelve "
    "cellular paths (VP8 at 640x360), on OpenNetLab's and Mahimahi's traces, mixtures of ordinary networks, families "
    "of impairments, slow links, and deep queues with TCP (VP8's frame sizes without pictures), against gcc and scream "
    "on the same stack. On L4S queues (DualPI2), from RFC 8888 feedback, Weir at the sender against scream.",
    random=300,
    only_named=True,
    replays=(
        *(Replays(name, build, (*_OWN, *LIBWEBRTC_SENDERS), call=media) for name, (build, media) in _SETS.items()),
        *(
            Replays(name, sets.fixed(build), (*_OWN, *LIBWEBRTC_SENDERS), call=_SIZES_ALONE)
            for name, build in _HARD.items()
        ),
        Replays(_L4S, sets.fixed(scenarios.l4s_calls), (_WEIR_CCFB, _SCREAM_CCFB), call=_VIDEO),
    ),
    goals=(
        *(goal for name in _SETS for goal in _goals(name)),
        *(
            Goal(
                f"lowest_trouble_{own}",
                f"{MIXTURES}, {own}: viewer's quality against the better of gcc and scream, worst trouble's mean",
                natural.lowest_trouble(MIXTURES, own, "viewer_quality"),
                _POINTS,
            )
            for own in _OWN
        ),
        *_goals_of_hard_paths(),
        Goal(
            "mean_l4s",
            "L4S queues, weir-send-ccfb: viewer's quality against scream-ccfb, mean",
            natural.mean_gain(_L4S, _WEIR_CCFB, "viewer_quality", others=(_SCREAM_CCFB,)),
            _POINTS,
        ),
    ),
)
