"""Compares statistics just before and during a freeze with those of the time before."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from weir_eval.webrtc_stats import Array, StatsObject, StatsReports
from weir_logs.dumps.freeze import DumpFreeze
from weir_logs.dumps.related_objects import ABSENT, find_report, find_sender

Change = tuple[float, float]
"""The usual value before the freeze, and the worst value from just before it on."""

_FALLEN = 0.6
# Windows that contain two or more samples of any dump.
_BEFORE_S = 12.0
_JUST_BEFORE_S = 3.0
_AFTER_S = 2.5
_RISEN = 1.6
_LEAST_RISE_MS = 60.0
_LEAST_UNDECODED = 5
# Loss is measured over this time, or over one report interval if that is longer.
_LOSS_S = 2.5
# Rates over report intervals above the larger of these (in usual intervals, in s more than one) are ignored.
_LONG_INTERVALS, _LONG_S = 3.0, 2.0
# Share of the time between two frames: a decoder that takes longer on average stalls at times.
_SLOW_DECODING = 0.6
# Smallest relative change of the height that is not due to rounding.
_OTHER_SIZE = 0.05
# Lower limit of the denominator of loss ratios: one lost packet of fewer is many percent.
_LEAST_PACKETS = 30
_LEAST_GAP_S = 0.7


def fallen(levels: Change | None, share: float = _FALLEN) -> Change | None:
    """Returns the levels if the second is below `share` of the first, else None."""
    return levels if levels and levels[1] < share * levels[0] else None


class AroundFreeze:
    """Measures statistics around one freeze. If a report lacks a statistic, the result is None, 0, False or empty.

    Attributes:
        reports: the reports of the connection.
        stream: the stream that froze.
        is_outgoing: True if the stream is outgoing.
        remote: the remote endpoint's report about an outgoing stream.
        jitter_of: the object that has the jitter.
        sender: the stream at its sender, if this dump has it.
        sender_pair: the candidate pair with the sender's estimate.
        source: the sender's camera or screen.
    """

    def __init__(self, freeze: DumpFreeze, reports: StatsReports, all_reports: Iterable[StatsReports]) -> None:
        """`all_reports`: reports of all connections of the dump, which may include the sender's."""
        self._freeze, self.reports = freeze, reports
        self.stream, self.is_outgoing = freeze.stream, freeze.is_outgoing
        self.remote = find_report(freeze.stream, reports)
        self.jitter_of = self.remote if freeze.is_outgoing else freeze.stream
        self.sender, senders = find_sender(freeze.stream, reports, all_reports)
        self.sender_pair = senders.pair_with("availableOutgoingBitrate") or ABSENT
        self.source = senders.objects.get(self.sender.text("mediaSourceId"), ABSENT)
        self._times = self.stream.series(self.stream.directed("bytes"))[0]
        self._step_s = float(np.median(np.diff(self._times))) if len(self._times) > 1 else 1.0
        self._just_before_s = freeze.start_s - max(_JUST_BEFORE_S, 1.5 * self._step_s)
        self._before_s = self._just_before_s - max(_BEFORE_S, 4 * self._step_s)
        self._after_s = freeze.end_s + max(_AFTER_S, 1.1 * self._step_s)
        earlier = self._times[self._times <= self._just_before_s + self._step_s]
        later = self._times[self._times >= freeze.end_s]
        # Counters are compared between a report before the freeze and the first or second after it.
        self._growth_span = (
            float(earlier[-1]) if len(earlier) else freeze.start_s - self._step_s,
            float(later[min(1, len(later) - 1)]) if len(later) else freeze.end_s,
        )

    def lowest(self, measured: StatsObject, name: str, scale: float = 1.0) -> Change | None:
        """The usual value before the freeze, and the lowest from just before to its end."""
        return self._lowest(*measured.series(name), scale)

    def lowest_growth(self, measured: StatsObject, name: str, scale: float = 1.0) -> Change | None:
        """The usual growth per second of a counter before the freeze, and the lowest from just before to its end."""
        times, values = measured.counter(name)
        spans = np.diff(times)
        kept = spans <= max(_LONG_INTERVALS * self._step_s, self._step_s + _LONG_S)
        return self._lowest(times[1:][kept], (np.diff(values) / spans)[kept], scale, self._step_s)

    def _lowest(self, times: Array, values: Array, scale: float, span_s: float = 0.0) -> Change | None:
        """`span_s`: length of the interval before each time to which the value applies."""
        earlier = values[(times > self._before_s) & (times <= self._just_before_s + span_s)]
        during = values[(times > self._just_before_s) & (times - span_s < self._freeze.end_s)]
        if not len(earlier):
            earlier = values[times <= self._freeze.start_s]
        if not len(earlier) or not len(during):
            return None
        return scale * float(np.percentile(earlier, 70)), scale * float(during.min())

    def rise(self, measured: StatsObject, name: str, least_ms: float) -> Change | None:
        """The usual time before the freeze, and the longest until just after it, in ms; None unless it is far above."""
        times, values = measured.series(name)
        # Zero means not known yet.
        levels = self._highest(times[values > 0], values[values > 0])
        return levels if levels and levels[1] > max(_RISEN * levels[0], levels[0] + least_ms) else None

    def round_trips(self) -> list[tuple[StatsObject, str]]:
        """Objects with round trips, and the names of these numbers: from ICE and from RTCP."""
        pair = self.reports.pair_with("currentRoundTripTime")
        found = [(pair, "currentRoundTripTime")] if pair else []
        for kind in ("remote-inbound-rtp", "remote-outbound-rtp"):
            found += [
                (report, "roundTripTime") for report in self.reports.of(kind) if "roundTripTime" in report.numbers
            ][:2]
        return found

    def knows_path(self) -> bool:
        """True if there are round trips or jitter."""
        return bool(self.round_trips()) or "jitter" in self.jitter_of.numbers

    def round_trip_rise(self) -> Change | None:
        """The rise of the round trip that becomes the longest."""
        rises = (self.rise(measured, name, _LEAST_RISE_MS) for measured, name in self.round_trips())
        return max((rise for rise in rises if rise), key=lambda rise: rise[1], default=None)

    def decode_rise(self) -> Change | None:
        """The rise of the decode time per frame in ms; None unless it reaches most of the time between frames."""
        frames, (times, spent) = self.stream.counter("framesDecoded")[1], self.stream.counter("totalDecodeTime")
        if len(frames) != len(spent) or len(frames) < 3:
            return None
        decoded = np.diff(frames)
        kept = decoded > 0
        levels = self._highest(times[1:][kept], np.diff(spent)[kept] / decoded[kept])
        if levels is None:
            return None
        between_ms = 1e3 / float(np.percentile(decoded[kept] / np.diff(times)[kept], 70))
        return levels if levels[1] > max(_RISEN * levels[0], _SLOW_DECODING * between_ms) else None

    def _highest(self, times: Array, values_s: Array) -> Change | None:
        earlier = values_s[(times > self._before_s) & (times <= self._just_before_s)]
        if not len(earlier):
            earlier = values_s[times <= self._just_before_s]
        during = self._just_around(times, values_s)
        return (1e3 * float(np.median(earlier)), 1e3 * float(during.max())) if len(earlier) and len(during) else None

    def _just_around(self, times: Array, values: Array) -> Array:
        """The values from just before the freeze to just after it."""
        return values[(times > self._just_before_s) & (times <= self._after_s)]

    def heights(self) -> Change | None:
        """Heights of the picture: outgoing, if they fell; incoming, in the last report before the freeze and in the
        first after it, if these differ.
        """
        if self.is_outgoing:
            return fallen(self.lowest(self.stream, "frameHeight"))
        times, values = self.stream.series("frameHeight")
        before = values[times <= self._freeze.start_s - max(self._freeze.error_s, 0.5 * self._step_s)]
        after = values[times >= self._freeze.end_s]
        if not len(before) or not len(after):
            return None
        found = float(before[-1]), float(after[0])
        return found if abs(found[1] - found[0]) > _OTHER_SIZE * found[0] > 0 else None

    def grown_at_receiver(self, name: str) -> int:
        """The growth of a counter of an incoming stream around the freeze."""
        return 0 if self.is_outgoing else int(self.stream.growth(name, *self._growth_span) or 0)

    def has_stalled(self, measured: StatsObject, name: str) -> bool:
        """True if a counter that grew before the freeze does not grow during it."""
        times, values = measured.series(name)
        earlier_growth = measured.growth(name, self._before_s, self._just_before_s)
        inside = values[(times >= self._freeze.start_s) & (times <= self._freeze.end_s)]
        return bool(earlier_growth) and len(inside) > 1 and bool(inside[-1] <= inside[0])

    @cached_property
    def intervals_without_packets(self) -> list[tuple[float, float]]:
        """The report intervals around the freeze in which no packet of the stream was received, or sent."""
        times, values = self.stream.counter(self.stream.directed("packets"))
        stalled = np.flatnonzero(np.diff(values) <= 0)
        first_s, last_s = self._freeze.start_s - 1.5 * self._step_s, self._freeze.end_s + 1.5 * self._step_s
        spans = ((float(times[i]), float(times[i + 1])) for i in stalled)
        return [(start_s, end_s) for start_s, end_s in spans if start_s >= first_s and end_s <= last_s]

    def others_came(self) -> bool | None:
        """True if other streams in the same direction had packets in these intervals; None if either are missing."""
        others = [stream for stream in self.reports.of(self.stream.type) if stream is not self.stream]
        spans = self.intervals_without_packets
        if not others or not spans:
            return None
        return any(other.growth(other.directed("packets"), *span) for other in others for span in spans)

    def connection_received(self) -> bool:
        """True if the connection received packets, such as RTCP, in most intervals without a packet of an incoming
        stream.
        """
        pair, spans = self.reports.pair_with("bytesReceived"), self.intervals_without_packets
        received = [bool(pair and pair.growth("bytesReceived", *span)) for span in spans]
        return not self.is_outgoing and sum(received) > 0.5 * len(received)

    def lost_of_received(self) -> float | None:
        """Loss ratio of an incoming stream, 0 to 1: the worst just before and during the freeze."""
        times, received = self.stream.counter("packetsReceived")
        lost_times, lost = self.stream.counter("packetsLost")
        # All reports whose intervals overlap that time.
        first = max(0, int(np.searchsorted(times, self._freeze.start_s - _JUST_BEFORE_S, side="right")) - 1)
        last = int(np.searchsorted(times, self._freeze.end_s + (_AFTER_S if self._step_s < _AFTER_S else 0.0))) + 1
        if not len(lost) or len(times[first:last]) < 2:
            return None
        counts = np.column_stack([np.interp(times[first:last], lost_times, lost), received[first:last]])
        span = min(max(1, int(_LOSS_S / self._step_s)), len(counts) - 1)
        newly_lost, newly_received = (counts[span:] - counts[:-span]).clip(0).T
        ratios = newly_lost / np.maximum(newly_lost + newly_received, _LEAST_PACKETS)
        return float(ratios.max())

    def lost_of_sent(self) -> float | None:
        """Loss ratio of an outgoing stream, 0 to 1, as reported by the remote endpoint."""
        during = self._just_around(*self.remote.series("fractionLost"))
        if len(during):
            return float(during.max())
        lost, sent = (
            measured.growth(name, *self._growth_span)
            for measured, name in ((self.remote, "packetsLost"), (self.stream, "packetsSent"))
        )
        return min(1.0, lost / sent) if lost and sent else None

    def undecoded(self) -> int:
        """Received frames that were not decoded or were dropped; 0 for the few that are normal."""
        # Older versions count them in the track.
        track = self.reports.objects.get(self.stream.text("trackId"), ABSENT)
        counter = self.stream if "framesReceived" in self.stream.numbers else track
        received = counter.growth("framesReceived", *self._growth_span) or 0.0
        decoded = self.stream.growth("framesDecoded", *self._growth_span)
        missing = int(received - decoded) if decoded is not None else 0
        found = max(missing, int(counter.growth("framesDropped", *self._growth_span) or 0))
        return found if found >= max(_LEAST_UNDECODED, 0.2 * received) else 0

    def reports_gap_s(self) -> float | None:
        """The longest time between reports at the freeze, if it is far above the usual."""
        spans = np.diff(self._times)
        near = (self._times[1:] > self._freeze.start_s - 1) & (self._times[:-1] < self._freeze.end_s + 1)
        longest = float(spans[near].max()) if near.any() else 0.0
        return longest if longest > self._step_s + max(_LEAST_GAP_S, 0.7 * self._step_s) else None

    def text(self, measured: StatsObject, name: str) -> str:
        """The last text other than "none" from just before to the end of the freeze; empty if there is none."""
        times, texts = measured.texts.get(name, ([], []))
        index = int(np.searchsorted(times, self._just_before_s, side="right"))
        during = texts[max(0, index - 1) : int(np.searchsorted(times, self._freeze.end_s, side="right"))]
        return next((text for text in reversed(during) if text != "none"), "")
