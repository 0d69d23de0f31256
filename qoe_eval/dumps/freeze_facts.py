"""The facts of a freeze: numbers of before, and of the worst moment from just before it on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weir.qoe_eval.call.webrtc_stats import StatsObject, StatsReports
from weir.qoe_eval.dumps.around_freeze import AroundFreeze, Change, has_fallen, pair_with
from weir.qoe_eval.dumps.freeze import Freeze

_LEAST_KBPS = 30.0


@dataclass(frozen=True)
class FreezeFacts:
    """None where the dump has no such number, or it did not change.

    Attributes:
        rate_kbps: of the stream.
        without_packets_s: the time at the freeze in which no packet of the stream came, or went out.
        others_came: at that time, other streams of the connection had packets.
        lost: of the stream's packets, 0 to 1.
        knows_path: there are round trips or jitter, which may have stayed as they were.
        round_trip_ms: where it rose.
        jitter_ms: where it rose.
        decode_ms: of a frame, where it rose to most of the time between frames.
        undecoded: frames that came whole and were not decoded.
        nacks: NACK messages that went to the sender.
        own_cpu: this machine's outgoing video is limited by CPU.
        key_frames_requested: picture loss indications that went to the sender.
        reports_gap_s: the longest time between two reports, where it is far above the usual.
        available_kbps: the estimate of the sender, where this dump has the sender.
        target_kbps: of the sender's encoder, where it fell.
        limited_by: the sender's quality limitation.
        encoded_per_s: frames of another connection's encoder, where that sends the stream and they became fewer.
        source_stopped: the sender's camera or screen had no frames.
        heights: of the picture before and after, where they differ.
        key_frames: those that were decoded.
    """

    rate_kbps: Change | None = None
    without_packets_s: float = 0.0
    others_came: bool | None = None
    lost: float | None = None
    knows_path: bool = False
    round_trip_ms: Change | None = None
    jitter_ms: Change | None = None
    decode_ms: Change | None = None
    undecoded: int = 0
    nacks: int = 0
    own_cpu: bool = False
    key_frames_requested: int = 0
    reports_gap_s: float | None = None
    available_kbps: Change | None = None
    target_kbps: Change | None = None
    encoded_per_s: Change | None = None
    limited_by: str = ""
    source_stopped: bool = False
    heights: Change | None = None
    key_frames: int = 0

    @property
    def rate_fell(self) -> bool:
        """True where the stream's rate fell from one that video has."""
        return self.rate_kbps is not None and self.rate_kbps[0] >= _LEAST_KBPS and has_fallen(self.rate_kbps)

    @property
    def available_fell(self) -> bool:
        """True where the sender's estimate fell."""
        return self.available_kbps is not None and has_fallen(self.available_kbps)


def freeze_facts(freeze: Freeze, reports: StatsReports, everything: Iterable[StatsReports]) -> FreezeFacts:
    """The facts of a freeze of a connection's `reports`. `everything`: of all connections of the dump, of which one may
    be the sender's.
    """
    stream, around = freeze.stream, AroundFreeze(freeze)
    outgoing = freeze.is_outgoing
    sender, senders = _sender(stream, reports, everything)
    without_s, gaps = around.without("packetsSent" if outgoing else "packetsReceived")
    others = [one for one in reports.of(stream.type) if one is not stream]
    round_trip, knows_round_trip = around.round_trip(reports)
    remote = _reported(stream, reports)
    jitter = around.jitter_rise(remote if outgoing else stream)
    pair = pair_with(senders, "availableOutgoingBitrate") if senders else None
    source = senders.objects.get(sender.text("mediaSourceId")) if sender and senders else None
    return FreezeFacts(
        rate_kbps=around.rates("bytesSent" if outgoing else "bytesReceived"),
        without_packets_s=without_s,
        others_came=any(_moved(one, gaps) for one in others) if gaps and others else None,
        lost=around.lost_of_sent(remote) if outgoing else around.lost_of_received(),
        knows_path=knows_round_trip or "jitter" in (remote.numbers if outgoing and remote else stream.numbers),
        round_trip_ms=round_trip,
        jitter_ms=jitter,
        decode_ms=None if outgoing else around.decode_rise(),
        undecoded=0 if outgoing else around.undecoded(reports.objects.get(stream.text("trackId"))),
        nacks=0 if outgoing else around.grown("nackCount"),
        own_cpu=any(around.text(one, "qualityLimitationReason") == "cpu" for one in reports.of("outbound-rtp")),
        key_frames_requested=0 if outgoing else around.grown("pliCount"),
        reports_gap_s=around.reports_gap_s(),
        available_kbps=around.levels(pair, "availableOutgoingBitrate", 1e-3) if pair else None,
        target_kbps=around.fall(sender, "targetBitrate", 1e-3) if sender else None,
        encoded_per_s=around.fewer(sender, "framesEncoded") if sender and not outgoing else None,
        limited_by=around.text(sender, "qualityLimitationReason") if sender else "",
        source_stopped=around.stands(source, "frames") if source else False,
        heights=around.fall(stream, "frameHeight", 1.0) if outgoing else around.another(stream, "frameHeight"),
        key_frames=0 if outgoing else around.grown("keyFramesDecoded"),
    )


def _sender(
    stream: StatsObject, reports: StatsReports, everything: Iterable[StatsReports]
) -> tuple[StatsObject | None, StatsReports | None]:
    """The sending stream, of this or another connection of the dump, and its connection's reports."""
    if stream.type == "outbound-rtp":
        return stream, reports
    for one in everything:
        for found in one.of("outbound-rtp"):
            if stream.ssrc and found.ssrc == stream.ssrc:
                return found, one
    return None, None


def _reported(stream: StatsObject, reports: StatsReports) -> StatsObject | None:
    """The other end's report about an outgoing stream."""
    found = reports.of("remote-inbound-rtp")
    return next((one for one in found if one.ssrc == stream.ssrc), next(iter(found), None))


def _moved(stream: StatsObject, spans: Sequence[tuple[float, float]]) -> bool:
    name = "packetsReceived" if stream.type == "inbound-rtp" else "packetsSent"
    return any((stream.growth(name, *span) or 0) > 0 for span in spans)
