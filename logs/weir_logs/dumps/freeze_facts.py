"""The table of facts about a freeze: the measurement of each, and its text in the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

from weir_cli.console import counted
from weir_eval.webrtc_stats import StatsReports
from weir_logs.dumps.around_freeze import AroundFreeze, fallen
from weir_logs.dumps.freeze import DumpFreeze

_LEAST_KBPS = 30.0
_LEAST_RISE_OF_JITTER_MS = 20.0
_FEWER_FRAMES = 0.87
_LEAST_SHOWN_LOST = 0.001
# A freeze with the same cause as a gap in the reports lasts at least this share of the gap.
_LEAST_OF_GAP = 0.1


class FreezeFacts(SimpleNamespace):
    """The value of each row of FACTS under its name, and facts derived from these values."""

    def __init__(self, freeze: DumpFreeze, reports: StatsReports, all_reports: Iterable[StatsReports]) -> None:
        """`reports`: of the freeze's connection. `all_reports`: of all connections, which may include the sender's."""
        around = AroundFreeze(freeze, reports, all_reports)
        super().__init__(**{fact.name: fact.measure(around) for fact in FACTS})
        self.is_outgoing, self.is_open = freeze.is_outgoing, freeze.is_open
        self.path_worked = self.others_came is True or (self.others_came is None and self.connection_received)
        # No packet was received, or sent, for most of the freeze.
        self.is_dry = 0 < self.without_packets_s >= 0.5 * freeze.duration_s
        self.rate_fell = fallen(self.rate_kbps) is not None and self.rate_kbps[0] >= _LEAST_KBPS
        self.available_fell = fallen(self.available_kbps) is not None
        self.was_busy = self.reports_gap_s is not None and freeze.duration_s >= _LEAST_OF_GAP * self.reports_gap_s
        self.is_slowed = self.round_trip_ms is not None or self.jitter_ms is not None

    def texts(self, cause: str) -> list[str]:
        """The texts of the facts in the order of the table, at least one. `cause`: the likely cause."""
        found = [text for fact in FACTS if (text := fact.describe(self, cause))]
        if found and cause != "key frame":
            return found
        if self.rate_kbps is None:
            return ["it had just begun", *found]
        without = " without loss" if self.lost == 0 else ""
        return [f"packets {_arrival_verb(self)} at {self.rate_kbps[1]:,.0f} kbps or more{without}", *found]


class Fact(NamedTuple):
    """A row of the table.

    Attributes:
        name: name of the value in FreezeFacts.
        measure: measures the value; None, 0, False or empty if the dump does not have it, or it did not change.
        text: a template for the value or its two values, or a function that returns the text.
        when: the verdict includes the text only if this is true for the facts and the likely cause.
    """

    name: str
    measure: Callable[[AroundFreeze], Any]
    text: str | Callable[[FreezeFacts, str], str] = ""
    when: Callable[[FreezeFacts, str], bool] = lambda facts, cause: True

    def describe(self, facts: FreezeFacts, cause: str) -> str:
        """The text; empty if the verdict does not include it."""
        value = getattr(facts, self.name)
        if not value or not self.when(facts, cause):
            return ""
        if callable(self.text):
            return self.text(facts, cause)
        return self.text.format(*value) if isinstance(value, tuple) else self.text.format(value)


def seconds_text(value_s: float) -> str:
    """A duration in seconds, or in minutes from one minute on."""
    return f"{value_s:,.1f} s" if value_s < 60 else f"{value_s / 60:,.1f} minutes"


def _arrival_verb(facts: FreezeFacts) -> str:
    return "went out" if facts.is_outgoing else "came"


def _without_packets(facts: FreezeFacts, cause: str) -> str:
    of_any = " of any stream" if facts.others_came is False else ""
    others = " while other streams went on" if facts.others_came else " while RTCP went on" if facts.path_worked else ""
    return f"no packet{of_any} {_arrival_verb(facts)} for {seconds_text(facts.without_packets_s)}{others}"


def _available(facts: FreezeFacts, cause: str) -> str:
    if facts.available_fell:
        return "the available bandwidth fell from {:,.0f} to {:,.0f} kbps".format(*facts.available_kbps)
    return f"{facts.available_kbps[1]:,.0f} kbps were available" if cause == "sender limit" else ""


def _lost(facts: FreezeFacts, cause: str) -> str:
    return f"{100 * facts.lost:.{0 if facts.lost >= 0.02 else 1}f} % of packets were lost"


def _heights(facts: FreezeFacts, cause: str) -> str:
    with_key_frame = " with a key frame" if facts.key_frames and cause == "resolution" else ""
    return "the picture went from {:.0f} to {:.0f} lines".format(*facts.heights) + with_key_frame


# In the order of the verdict: rates, the path, both machines. Facts without text serve causes or the texts of others.
FACTS: tuple[Fact, ...] = (
    Fact("without_packets_s", lambda stats: sum(end_s - start_s for start_s, end_s in stats.intervals_without_packets),
         _without_packets, when=lambda facts, cause: facts.is_dry),
    Fact("others_came", lambda stats: stats.others_came()),
    Fact("connection_received", lambda stats: stats.connection_received()),
    # Measured also if it did not fall, like the sender's estimate.
    Fact("rate_kbps", lambda stats: stats.lowest_growth(stats.stream, stats.stream.directed("bytes"), 8e-3),
         "the rate fell from {:,.0f} to {:,.0f} kbps",
         when=lambda facts, cause: facts.rate_fell and not (facts.is_dry and facts.rate_kbps[1] < 1)),
    Fact("target_kbps", lambda stats: fallen(stats.lowest(stats.sender, "targetBitrate", 1e-3)),
         "the target of the sender’s encoder fell from {:,.0f} to {:,.0f} kbps"),
    Fact("available_kbps", lambda stats: stats.lowest(stats.sender_pair, "availableOutgoingBitrate", 1e-3), _available),
    Fact("lost", lambda stats: stats.lost_of_sent() if stats.is_outgoing else stats.lost_of_received(),
         _lost, when=lambda facts, cause: facts.lost >= _LEAST_SHOWN_LOST and cause != "sender stopped"),
    Fact("nacks", lambda stats: stats.grown_at_receiver("nackCount"),
         lambda facts, cause: f"{counted(facts.nacks, 'NACK')} went to the sender",
         when=lambda facts, cause: cause == "loss" and (facts.lost or 0.0) < _LEAST_SHOWN_LOST),
    Fact("round_trip_ms", lambda stats: stats.round_trip_rise(), "the round trip rose from {:,.0f} to {:,.0f} ms"),
    Fact("jitter_ms", lambda stats: stats.rise(stats.jitter_of, "jitter", _LEAST_RISE_OF_JITTER_MS),
         "jitter rose from {:,.0f} to {:,.0f} ms", when=lambda facts, cause: facts.round_trip_ms is None),
    # True if there are round trips or jitter, changed or not.
    Fact("knows_path", lambda stats: stats.knows_path()),
    Fact("steady_path",
         lambda stats: "nothing was lost" + (" and the round trip stayed" if stats.knows_path() else ""), "{}",
         when=lambda facts, cause: cause in ("sender limit", "sent less") and not facts.lost and not facts.is_slowed),
    Fact("undecoded", lambda stats: 0 if stats.is_outgoing else stats.undecoded(),
         "{:,} frames that came were not decoded"),
    Fact("decode_ms", lambda stats: None if stats.is_outgoing else stats.decode_rise(),
         "decoding a frame took {1:.0f} ms, before {0:.0f}"),
    Fact("encoded_per_s",
         lambda stats: None if stats.is_outgoing
         else fallen(stats.lowest_growth(stats.sender, "framesEncoded"), _FEWER_FRAMES),
         "the sender encoded {1:.0f} frames a second, before {0:.0f}", when=lambda facts, cause: not facts.rate_fell),
    Fact("limited_by", lambda stats: stats.text(stats.sender, "qualityLimitationReason"),
         "the sender’s quality was limited by {}",
         when=lambda facts, cause: (cause, facts.limited_by) != ("sender limit", "bandwidth")),
    Fact("own_cpu",
         lambda stats: any(
             stats.text(stream, "qualityLimitationReason") == "cpu" for stream in stats.reports.of("outbound-rtp")),
         "the video that it sends was limited by cpu, too",
         when=lambda facts, cause: cause == "cpu" and not facts.limited_by),
    Fact("key_frames_requested", lambda stats: stats.grown_at_receiver("pliCount"),
         lambda facts, cause: f"{counted(facts.key_frames_requested, 'key frame')} requested",
         when=lambda facts, cause: cause in ("key frame", "loss")),
    Fact("key_frames", lambda stats: stats.grown_at_receiver("keyFramesDecoded")),
    # Heights of the picture before and after the freeze.
    Fact("heights", lambda stats: stats.heights(), _heights),
    Fact("reports_gap_s", lambda stats: stats.reports_gap_s(),
         lambda facts, cause: f"the browser made no report for {seconds_text(facts.reports_gap_s)}"),
    # The sender's camera or screen had no frames.
    Fact("source_stopped", lambda stats: stats.has_stalled(stats.source, "frames")),
)  # fmt: skip
