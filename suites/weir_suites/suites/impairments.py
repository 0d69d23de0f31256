"""A policy under the network impairments of `weir_traces.generate.families`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from weir_eval.measures.fairness import settled_jain_index
from weir_eval.measures.families import GCC
from weir_eval.measures.run_values import Metric
from weir_eval.report.goal_table import Bound
from weir_eval.runs import scenario_sets as sets
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import scenarios
from weir_suites import series_measures as series
from weir_suites import special_measures as special
from weir_suites.aggregations import RATIO_OF_MEANS, WORST
from weir_suites.comparison import Comparison
from weir_suites.rows import Unit
from weir_suites.suite import Goal, Measure, Replays, Suite, at_least, at_most
from weir_traces.generate.families.call import AUDIO_PACKETS_PER_SECOND, CONGESTION_CONTROLS
from weir_traces.generate.families.path import FAULT_BEGINS_S, FAULT_LENGTHS_S, ROUTE_CHANGES_AT_S, ROUTE_CHANGES_MS
from weir_traces.schema.media import MEDIA, MediaKind
from weir_traces.schema.scenario import Scenario

_PAIR: Final = (POLICY, GCC)
_BETTER: Final = (POLICY, *LIBWEBRTC_SENDERS)
_RIVALS: Final = (*_BETTER, "gcc-remb", "nada", "rule")
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
_NOT_BELOW: Final = at_least(0.0, signed=True, decimals=1)
_WORST: Final = at_least(-3.0, signed=True, decimals=1)


def _control(scenario: Scenario) -> list[str]:
    return [part for part in scenario.name.split("-") if part in CONGESTION_CONTROLS]


def _recovery(fault: str) -> series.SeriesMetric:
    ends_s = FAULT_BEGINS_S + FAULT_LENGTHS_S[fault]
    return series.of_series(lambda some, base_ms: series.recovery_s(some, FAULT_BEGINS_S, ends_s, base_ms))


def _dip(part: float, *, longest: bool) -> series.SeriesMetric:
    return series.of_series(lambda some, _: series.time_below_s(some, ROUTE_CHANGES_AT_S, part, longest=longest))


# fmt: off
def _media_goals(media: MediaKind) -> Iterator[Goal]:
    """The goals of calls that send one kind of media; for filler, with the names of its sets."""

    def goal(name: str, text: str, measure: Measure, bound: Bound) -> Goal:
        suffix = "" if media == "video" else f"_{media}"
        return Goal(f"{name}{suffix}", f"{text}, {media}", measure, bound)

    def slowest(family: str, metric: Metric, *parts: str, unit: Unit = "scenario") -> Comparison:
        name = sets.of_media(family, media)
        return Comparison(name, metric, WORST, unit=unit, where=sets.with_part(*parts), listed=(GCC,))

    families = tuple(sets.families(media))
    # Without TCP: a flow that competes with TCP inherently has a lower utilization than one that TCP has beaten down.
    without_tcp = [name for name in families if sets.base_name(name) != "tcp"]
    rises = [f"plus{ms:g}" for ms in ROUTE_CHANGES_MS]
    for key, whom, others in (("better", "the better of gcc and scream", LIBWEBRTC_SENDERS),
                              ("rule", "rule", ("rule",))):
        yield goal(f"families_{key}", f"each family: mean score against {whom}, worst family",
                   Comparison(families, aggregation=WORST, others=others, unit="set", paired=True), _NOT_BELOW)
    yield goal("scenarios_better", "each scenario: score against the better of gcc and scream, worst scenario",
               Comparison(families, aggregation=WORST, others=LIBWEBRTC_SENDERS), _WORST)
    yield goal("scenarios_utilisation", "each scenario but of tcp: utilisation as a ratio of gcc's, worst scenario",
               Comparison(without_tcp, "utilisation", WORST, others=(GCC,), contrast="ratio"), at_least(0.8))
    for key, text, part, longest, limit in (("80", "longest total time below 0.8", 0.8, False, 3.0),
                                            ("half", "longest continuous time below half", 0.5, True, 1.5)):
        yield goal(f"route_below_{key}", f"{_RISE}: {text} of the rate before",
                   slowest("route", _dip(part, longest=longest), *rises, unit="run"), at_most(limit, "s", decimals=1))
    yield goal("clock_utilisation", "clock within 1000 ppm: utilisation as a ratio of that at 0 ppm, worst clock",
               partial(special.clock_utilisation, media=media), at_least(0.97))
    for key, whose, kind, limit in (("own", "Weir's", "rtp", 0.5), ("left", "TCP's", "tcp", 0.7)):
        yield goal(f"tcp_{key}_share",
                   f"TCP starts later: {whose} rate as a share of half the link, worst congestion control",
                   Comparison(sets.of_media("tcp", media), series.share_of_half_link(kind), WORST, groups=_control,
                              listed=(GCC,)), at_least(limit))
    yield goal("start_queue", "start on 3 Mbps: largest queue of the first 5 s",
               slowest("start", series.of_series(series.largest_queue_ms), "3M"), at_most(80.0, "ms", decimals=0))
    for fault, text in _FAULTS.items():
        yield goal(f"recovery_{fault}", f"{text}: recovered after, slowest scenario",
                   slowest("fault", _recovery(fault), fault), at_most(5.0, "s", decimals=1))


def _goals() -> Iterator[Goal]:
    def used(family: str, case: str) -> Comparison:
        return Comparison(family, "utilisation", where=sets.with_part(case), listed=(GCC,))

    yield from _media_goals("video")
    for percent, limit in ((2, 0.95), (5, 0.92), (8, 0.85)):
        yield Goal(f"loss_{percent}", f"random loss of {percent} %, video: utilisation",
                   used("loss", f"random{percent}"), at_least(limit))
    for percent, name in ((8, "loss"), (scenarios.HEAVY_LOSS_PERCENT, _HEAVY_LOSS)):
        yield Goal(f"viewer_loss_{percent}",
                   f"random loss of {percent} %, video: viewer's quality against the better of gcc and scream, mean",
                   Comparison(name, "viewer_quality", others=LIBWEBRTC_SENDERS,
                              where=sets.with_part(f"random{percent}")), _NOT_BELOW)
    yield Goal("one_packet_utilisation", "queues of one packet, filler: utilisation, lowest",
               Comparison(_ONE_PACKET, "utilisation", WORST, listed=(GCC,)), at_least(0.75))
    yield Goal("one_packet_gcc", "queues of one packet, filler: utilisation against gcc's, worst",
               Comparison(_ONE_PACKET, "utilisation", WORST, others=(GCC,)), at_least(0.0, signed=True))
    for ms, limit in ((10, 0.95), (20, 0.90), (40, 0.80)):
        yield Goal(f"jitter_{ms}", f"jitter of {ms} ms, video: utilisation", used("jitter", f"gaussian{ms}"),
                   at_least(limit))
    for ms in (10, 20, 40):
        yield Goal(f"jitter_delay_{ms}", f"jitter of {ms} ms, video: p95 queueing delay as a ratio of gcc's",
                   Comparison("jitter", "p95_queueing_delay_ms", RATIO_OF_MEANS, others=(GCC,), contrast="ratio",
                              where=sets.with_part(f"gaussian{ms}")), at_most(1.1))
    yield Goal("audio_feedback", "audio only: REMB or transport feedback a second, most in a scenario",
               Comparison("mute", series.rate_feedback_per_second, WORST, listed=(GCC, "gcc-remb"),
                          where=sets.with_part(*(f"audio{rate}" for rate in AUDIO_PACKETS_PER_SECOND))),
               at_most(2.0, decimals=1))
    for case in ("5.4", "5.5"):
        yield Goal(f"jain_{case}{scenarios.ROUTE_CHANGES}",
                   f"RFC 8867 {case}, with a base delay that changes: Jain's index",
                   Comparison("sharing", settled_jain_index, where=sets.with_part(case), listed=(GCC,)),
                   at_least(0.9, decimals=3), f"RFC 8867 {case}; bound of the project")
    yield from _media_goals("filler")


# fmt: on
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
        Replays(_HEAVY_LOSS, scenarios.heavy_loss, _BETTER),
        Replays(_ONE_PACKET, scenarios.one_packet_queues, _BETTER),
        Replays("sharing", scenarios.sharing_with_route_changes, _PAIR, series="kept"),
    ),
    goals=tuple(_goals()),
)
