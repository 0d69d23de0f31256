"""The goals of a policy under network impairments: families of scenarios.

`weir.traces.generate.families` has the families: route changes, clocks, loss, jitter, TCP and more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from weir.qoe_eval.evaluate import hard_paths, scenarios
from weir.qoe_eval.evaluate import natural_measures as natural
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import score_measures as scores
from weir.qoe_eval.evaluate import series_measures as series
from weir.qoe_eval.evaluate.results import metric
from weir.qoe_eval.evaluate.suite import Goal, Measure, Replays, Suite
from weir.qoe_eval.measures.fairness import settled_jain_index
from weir.qoe_eval.report.goal_table import Bound
from weir.registry import LIBWEBRTC_SENDERS
from weir.traces.generate.families.path import ROUTE_CHANGES_MS
from weir.traces.schema.media import MEDIA, MediaKind
from weir.traces.schema.scenario import Scenario

_RIVALS: Final = ("weir", *LIBWEBRTC_SENDERS, "gcc-remb", "nada", "rule")
_PAIR: Final = ("weir", "gcc")
_HEAVY_LOSS: Final = "heavy loss"
_ONE_PACKET: Final = "queues of one packet"
_RISE: Final = f"base delay +{ROUTE_CHANGES_MS[0]:g} to +{ROUTE_CHANGES_MS[-1]:g} ms"
_FAULTS: Final = {
    "feedback50": "half of the feedback lost for 5 s",
    "feedback100": "all feedback lost for 5 s",
    "feedback100half": "all feedback lost for 5 s, at half the rate",
    "outage": "outage of 10 s",
    "queue1packet": "half the rate for 10 s, queue of one packet",
    "queue5s": "half the rate for 10 s, queue of 5 s",
}
_NOT_BELOW: Final = Bound("at least", 0.0, signed=True, decimals=1)
_WORST: Final = Bound("at least", -3.0, signed=True, decimals=1)


def _of_both(media: MediaKind) -> tuple[Goal, ...]:
    """The goals of calls that send one kind of media, those with filler by the names of sets with filler."""

    def goal(name: str, text: str, measure: Measure, bound: Bound) -> Goal:
        suffix = "" if media == "video" else f"_{media}"
        return Goal(f"{name}{suffix}", f"{text}, {media}", measure, bound)

    families = tuple(sets.families(media))
    # Without a bound of its own: a flow in competition with TCP has by its nature less than one that TCP has beaten
    # down.
    without_tcp = [name for name in families if sets.base_name(name) != "tcp"]
    return (
        goal("families_better", "each family: mean score against the better of gcc and scream, worst family",
             scores.worst_family(media), _NOT_BELOW),
        goal("families_rule", "each family: mean score against rule, worst family",
             scores.worst_family(media, against_rule=True), _NOT_BELOW),
        goal("scenarios_better", "each scenario: score against the better of gcc and scream, worst scenario",
             scores.worst_gain(*families, others=LIBWEBRTC_SENDERS), _WORST),
        goal("scenarios_utilisation", "each scenario but of tcp: utilisation as a ratio of gcc's, worst scenario",
             scores.worst_utilisation_ratio(*without_tcp), Bound("at least", 0.8)),
        goal("route_below_80", f"{_RISE}: longest total time below 0.8 of the rate before",
             series.route_dip(lambda dip: dip.below_80_percent_s, media), Bound("at most", 3.0, "s", decimals=1)),
        goal("route_below_half", f"{_RISE}: longest continuous time below half of the rate before",
             series.route_dip(lambda dip: dip.longest_below_half_s, media), Bound("at most", 1.5, "s", decimals=1)),
        goal("clock_utilisation", "clock within 1000 ppm: utilisation as a ratio of that at 0 ppm, worst clock",
             series.clock_utilisation(media), Bound("at least", 0.97)),
        goal("tcp_own_share", "TCP starts later: Weir's rate as a share of half the link, worst congestion control",
             series.share_of_half_link("rtp", media), Bound("at least", 0.5)),
        goal("tcp_left_share", "TCP starts later: TCP's rate as a share of half the link, worst congestion control",
             series.share_of_half_link("tcp", media), Bound("at least", 0.7)),
        goal("start_queue", "start on 3 Mbps: largest queue of the first 5 s", series.start_queue("3M", media),
             Bound("at most", 80.0, "ms", decimals=0)),
        *(
            goal(f"recovery_{fault}", f"{text}: recovered after, slowest scenario", series.recovery(fault, media),
                 Bound("at most", 5.0, "s", decimals=1))
            for fault, text in _FAULTS.items()
        ),
    )  # fmt: skip


def _of_case(case: str) -> Callable[[Scenario], bool]:
    return lambda scenario: case in scenario.name.split("-")


_FAMILY_GOALS: Final = (
    *_of_both("video"),
    *(
        Goal(f"loss_{percent}", f"random loss of {percent} %, video: utilisation",
             series.family_mean("loss", f"random{percent}"), Bound("at least", limit))
        for percent, limit in ((2, 0.95), (5, 0.92), (8, 0.85))
    ),
    *(
        Goal(f"viewer_loss_{percent}",
             f"random loss of {percent} %, video: viewer's quality against the better of gcc and scream, mean",
             natural.mean_gain(name, "weir", "viewer_quality", among=_of_case(f"random{percent}")),
             _NOT_BELOW)
        for percent, name in ((8, "loss"), (hard_paths.HEAVY_LOSS_PERCENT, _HEAVY_LOSS))
    ),
    Goal("one_packet_utilisation", "queues of one packet, filler: utilisation, lowest",
         scores.worst_value("weir", _ONE_PACKET, metric("utilisation"), ("gcc",)), Bound("at least", 0.75)),
    Goal("one_packet_gcc", "queues of one packet, filler: utilisation against gcc's, worst",
         scores.worst_gain(_ONE_PACKET, metric_name="utilisation"), Bound("at least", 0.0, signed=True)),
    *(
        Goal(f"jitter_{ms}", f"jitter of {ms} ms, video: utilisation", series.family_mean("jitter", f"gaussian{ms}"),
             Bound("at least", limit))
        for ms, limit in ((10, 0.95), (20, 0.90), (40, 0.80))
    ),
    *(
        Goal(f"jitter_delay_{ms}", f"jitter of {ms} ms, video: p95 queueing delay as a ratio of gcc's",
             series.family_ratio("jitter", f"gaussian{ms}", "p95_queueing_delay_ms"), Bound("at most", 1.1))
        for ms in (10, 20, 40)
    ),
    Goal("audio_feedback", "audio only: REMB or transport feedback a second, most in a scenario",
         series.audio_feedback("mute"), Bound("at most", 2.0, decimals=1)),
    *(
        Goal(f"jain_{case}{scenarios.ROUTE_CHANGES}", f"RFC 8867 {case}, with a base delay that changes: Jain's index",
             series.run_mean("sharing", f"rfc8867-{case}{scenarios.ROUTE_CHANGES}", settled_jain_index),
             Bound("at least", 0.9, decimals=3), f"RFC 8867 {case}; bound of the project")
        for case in ("5.4", "5.5")
    ),
    *_of_both("filler"),
)  # fmt: skip

SUITE: Final = Suite(
    name="impairments",
    about="A policy on families of network impairments, with video and apart from it with filler, which takes all that "
    "a link carries, against gcc, scream, gcc-remb, nada and rule. A call has recovered from a fault with the first "
    "three seconds in each of which it receives 80 % of its rate of the 10 s before, with at most 100 ms of queueing.",
    replays=(
        *(
            Replays(name, build, _RIVALS, series="kept")
            for media in MEDIA
            for name, build in sets.families(media).items()
        ),
        Replays(_HEAVY_LOSS, sets.fixed(hard_paths.heavy_loss), ("weir", *LIBWEBRTC_SENDERS)),
        Replays(_ONE_PACKET, sets.fixed(hard_paths.one_packet_queues), ("weir", *LIBWEBRTC_SENDERS)),
        Replays("sharing", sets.fixed(scenarios.sharing_with_route_changes), _PAIR, series="kept"),
    ),
    goals=_FAMILY_GOALS,
)  # fmt: skip
