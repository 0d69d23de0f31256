"""A policy on paths whose capacity changes. Gains are in the challenge score; sets and goals with video are separate
from those with filler.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from weir_eval.measures.fairness import settled_jain_index, settled_media_share
from weir_eval.measures.families import GCC, SCORE
from weir_eval.measures.table import MEASURES
from weir_eval.records.run_record import RunRecord
from weir_eval.runs import scenario_sets as sets
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import scenarios
from weir_suites import series_measures as series
from weir_suites import special_measures as special
from weir_suites.aggregations import LOW_END, MEAN, MEDIAN, PART_LOST, WORST, Aggregation, quantile, share_where
from weir_suites.comparison import Comparison
from weir_suites.results import delay_p95_ms
from weir_suites.special_measures import ALL
from weir_suites.suite import Goal, Measure, Replays, Suite, at_least, at_most
from weir_traces.generate.published import competing_media, long_tcp, round_trip_time_fairness
from weir_traces.schema.scenario import Scenario

_PATHS: Final = {
    "catalogue": scenarios.bundled,
    "random": sets.random(),
    "mahimahi": sets.whole_traces["mahimahi"],
}
# Links that video would not fill; the papers fill OpenNetLab's.
_LINKS: Final = {"opennetlab": sets.whole_traces["opennetlab"], "steady": scenarios.steady_links}
_VIDEO: Final = sets.sending("video", _PATHS)
_FILLER: Final = sets.sending("filler", {**_PATHS, **_LINKS})
_CATALOGUE, _RANDOM, _MAHIMAHI, _OPENNETLAB, _STEADY = _FILLER
_COMPARED: Final = (_OPENNETLAB, _MAHIMAHI, _RANDOM, _STEADY)
# One run of each of nine times as many further random scenarios, for the longest delays.
_LONG: Final = sets.sending("filler", {"more random": sets.random(first=1, times=10)})
_STEPS: Final = sets.sending("filler", {"start": scenarios.start_link, "halved": scenarios.halved_link})
_START, _HALVED = _STEPS
# Sets by the time that the model takes for a decision, ms.
_SLOW: Final = {ms: f"slow decisions, {ms} ms" for ms in (0, 25, 50, 100)}
_RFC8867: Final = (competing_media, round_trip_time_fairness, lambda: long_tcp(300.0), lambda: long_tcp(1000.0))
# The sets that also run under other presets, by their joint name there.
_STEERED: Final = {"compared": {name: _FILLER[name] for name in _COMPARED}, "video": _VIDEO}
_OTHERS: Final = ("throughput", "latency")
_PRESETS: Final = {
    name: {"balanced": tuple(some), **{preset: (f"{name}, {preset}",) for preset in _OTHERS}}
    for name, some in _STEERED.items()
}

_GAIN: Final = at_least(0.0, signed=True)
_SHARE: Final = at_least(0.9, "%", scale=100, decimals=1)
_MOCC: Final = "MOCC (EuroSys 2022)"
_RECOCO: Final = "ReCoCo, Table I"

_VIEWER: Final = (
    ("utility", "utility", at_least(8.0, signed=True, decimals=1)),
    ("viewer", "viewer_quality", at_least(4.0, signed=True, decimals=1)),
    ("freezes", "freeze_count", at_most(0.0, signed=True)),
)

_STARTED_S: Final = series.of_series(lambda some, _: series.start_time_s(some, scenarios.START_BPS))
_DRAINED_S: Final = series.of_series(lambda some, base_ms: series.drain_time_s(some, base_ms, scenarios.HALVED_AT_S))
_USED_BEFORE: Final = series.of_series(lambda some, _: series.share_before_step(some, scenarios.HALVED_AT_S))


def _first_delay_ms(record: RunRecord) -> float | None:
    return delay_p95_ms(record) if record.seed == 1 else None


def _queue(scenario: Scenario) -> list[str]:
    return [f"{scenario.name.partition('-queue')[2]} ms"]


def _tcp_share(record: RunRecord) -> float | None:
    media = settled_media_share(record)
    return None if media is None else 1 - media


def _less(other: str, names: str | tuple[str, ...], metric: str = SCORE, aggregation: Aggregation = MEAN) -> Comparison:
    return Comparison(names, metric, aggregation, others=(other,), contrast="difference", paired=True)


def _worst(name: str, *others: str) -> Comparison:
    return Comparison(name, aggregation=WORST, others=others)


def _closed(name: str, *others: str) -> Measure:
    return partial(special.distance_closed, name=name, others=others)


# fmt: off
def _goals() -> Iterator[Goal]:
    for key, metric, bound in _VIEWER:
        for other in LIBWEBRTC_SENDERS:
            yield Goal(f"catalogue_{key}_{other}",
                       f"bundled scenarios with video: {MEASURES[metric].label.lower()}, less {other}'s",
                       _less(other, "catalogue", metric), bound)
    for name, text in (("random", "random scenarios"), ("mahimahi", "mahimahi traces")):
        yield Goal(f"{name}_video_closed", f"{text} with video: distance from the better of gcc and scream to oracle "
                   "closed", _closed(name, *LIBWEBRTC_SENDERS), at_least(0.6, "%", scale=100, decimals=1))
    yield Goal("opennetlab_gain", "opennetlab traces: mean gain over gcc", _less(GCC, _OPENNETLAB),
               at_least(8.95, signed=True), _RECOCO)
    yield Goal("opennetlab_worst", "opennetlab traces: worst trace against gcc", _worst(_OPENNETLAB, GCC),
               at_least(-2.0, signed=True))
    yield Goal("opennetlab_recoco", "opennetlab traces: ReCoCo's own formula, mean of the one model",
               Comparison(_OPENNETLAB, "recoco", listed=ALL), at_least(80.85), _RECOCO)
    yield Goal("mahimahi_closed", "mahimahi traces, filler: distance from gcc to oracle closed",
               _closed(_MAHIMAHI, GCC), at_least(0.7, "%", scale=100, decimals=1))
    yield Goal("random_wins", "random scenarios, filler: share of wins over gcc",
               Comparison(_RANDOM, aggregation=share_where(lambda gain: gain > 0), others=(GCC,)), _SHARE)
    yield Goal("random_closed", "random scenarios, filler: distance from gcc to oracle closed", _closed(_RANDOM, GCC),
               at_least(0.6, "%", scale=100, decimals=1))
    yield Goal("steady_worst", "steady links of 0.3, 1, 2.5, 8 and 30 Mbps, filler: worst link against gcc",
               _worst(_STEADY, GCC), _GAIN)
    yield Goal("rule_gain", "opennetlab, mahimahi, random, steady, filler: mean gain over rule",
               _less("rule", _COMPARED), at_least(2.0, signed=True))
    for name in _COMPARED:
        yield Goal(f"rule_low_{sets.base_name(name)}",
                   f"{name}: lower end of the 95 % interval of the mean gain over rule",
                   _less("rule", name, aggregation=LOW_END), at_least(0.0, strict=True, signed=True))
    yield Goal("p95_queueing_delay_ms_against_gcc", "p95 queueing delay less gcc's, median over these sets",
               Comparison(_COMPARED, "p95_queueing_delay_ms", MEDIAN, others=(GCC,), contrast="difference"),
               at_most(0.0, "ms", decimals=1, signed=True))
    yield Goal("utilisation_against_gcc", "utilisation less gcc's, median over these sets",
               Comparison(_COMPARED, "utilisation", MEDIAN, others=(GCC,)),
               at_least(0.0, "points", scale=100, signed=True))
    yield Goal("random_worst_delay", "random scenarios, filler: p95 delay as a ratio of gcc's, 99th percentile",
               Comparison((_RANDOM, *_LONG), _first_delay_ms, quantile(0.99), others=(GCC,), contrast="ratio",
                          more_metrics={"utilisation": "utilisation"}), at_most(1.25, "times"))
    for ms, limit in ((50, -0.5), (100, -1.0)):
        yield Goal(f"slow_{ms}_score", f"random scenarios with video, decisions of {ms} ms: score less that at 0 ms",
                   Comparison(_SLOW[ms], baseline=_SLOW[0], paired=True), at_least(limit, signed=True))
    for ms, limit in ((25, 0.001), (50, 0.005)):
        yield Goal(f"slow_{ms}_bytes", f"random scenarios with video, decisions of {ms} ms: bytes lost against 0 ms",
                   Comparison(_SLOW[ms], lambda record: record.flows[0].bytes_received, PART_LOST, baseline=_SLOW[0]),
                   at_most(limit, "%", scale=100))
    yield Goal("start", "start, filler: from 300 kbps to 90 % of a 5 Mbps link",
               Comparison(_START, _STARTED_S, listed=ALL), at_most(3.0, "s"))
    yield Goal("halved", "halved link, filler, 2.5 to 1.25 Mbps: until back under 50 ms of queueing",
               Comparison(_HALVED, _DRAINED_S, listed=ALL, more_metrics={"used of the link before": _USED_BEFORE}),
               at_most(1.5, "s"))
    yield Goal("halved_against_gcc", "halved link: that time, less gcc's",
               Comparison(_HALVED, _DRAINED_S, others=(GCC,)), at_most(0.0, "s", strict=True, signed=True))
    yield Goal("steering", "presets move utilisation and p95 delay the right way, share of scenarios",
               partial(special.steering, sets=_PRESETS["compared"]), _SHARE, _MOCC)
    for preset in _PRESETS["video"]:
        yield Goal(f"own_utility_{preset}", f"with video: utility of {preset} under its own weights, less the best "
                   "other preset's under them", partial(special.own_utility, sets=_PRESETS["video"], preset=preset),
                   _GAIN, _MOCC)
    yield Goal("wide_worst",
               "screen at 5 frames/s, round trip of 600 ms, 100 Mbps: worst against the better of gcc and scream",
               _worst("wide", *LIBWEBRTC_SENDERS), at_least(-1.0, signed=True))
    for case, text, limit in (("5.4", "3 flows on one link", 0.95), ("5.5", "5 round trip times", 0.9)):
        yield Goal(f"jain_{case}", f"RFC 8867 {case}, {text}: Jain's index",
                   Comparison("rfc8867", settled_jain_index, where=sets.with_part(case), listed=ALL),
                   at_least(limit, decimals=3), f"RFC 8867 {case}; bound of the project")
    for key, whose, share in (("own", "Weir's", settled_media_share), ("tcp", "TCP's", _tcp_share)):
        yield Goal(f"rfc8867_5.6_{key}_share", f"RFC 8867 5.6, against one TCP Cubic flow: {whose} throughput share",
                   Comparison("rfc8867", share, WORST, where=sets.with_part("5.6"), groups=_queue, min_rows=2),
                   at_least(0.2, "%", strict=True, scale=100, decimals=1), "RFC 8867 5.6; bound of the project")


# fmt: on
SUITE: Final = Suite(
    name="policy",
    about="A policy against gcc, scream, rule and oracle on bundled, random, recorded, steady and shared paths, "
    "objective balanced. With video: media of a call, at most 2.5 Mbps, or the video that the scenario has. With "
    "filler, which takes all that a link carries: what a link is used for; OpenNetLab as in the papers. "
    "Traces are whole: 25 ms one way, queue of 300 ms of the mean capacity, OpenNetLab entries above 60 Mbps "
    "cut to that. Random scenarios are held-out ones. Start: to the end of the first 0.3 s at 90 % of the "
    "link. Halved link: to the first second in which every 100 ms have a mean queueing delay under 50 ms. "
    "Steering: neither utilisation nor p95 queueing delay rises from throughput to balanced to latency, but "
    "for ties of 0.2 points and 1 ms. RFC 8867: rates from 20 s after the last flow's start to the first "
    "one's end.",
    seeds=5,
    random=200,
    replays=(
        *(Replays(name, build, ALL) for name, build in {**_VIDEO, **_FILLER}.items()),
        *(Replays(name, build, (POLICY, GCC), first_seed=True) for name, build in _LONG.items()),
        *(
            Replays(name, _VIDEO["random"], (POLICY,), first_seed=True, decision_delay_ms=ms)
            for ms, name in _SLOW.items()
        ),
        *(Replays(name, build, ALL, series="kept") for name, build in _STEPS.items()),
        Replays("rfc8867", sets.fixed(lambda: [case() for case in _RFC8867]), ALL, series="kept"),
        *(
            Replays(f"{name}, {preset}", sets.joined(*some.values()), (POLICY,), objective=preset)
            for name, some in _STEERED.items()
            for preset in _OTHERS
        ),
        Replays("wide", scenarios.wide_calls, ALL),
    ),
    goals=tuple(_goals()),
)
