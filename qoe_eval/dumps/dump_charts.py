"""The time series of one peer connection of a dump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.qoe_eval.call.webrtc_stats import StatsObject, StatsReports, carried_bytes
from weir.qoe_eval.dumps.dump import DumpedConnection
from weir.qoe_eval.measures.flow_series import Array
from weir.qoe_eval.report.chart_rows import Chart, Line, chart, line, row, thinned

# For each kind of statistics, to keep the chart readable.
_MOST_LINES = 6
_COLOURS = ("--series-1", "--series-5", "--series-3", "--series-4", "--series-7", "--series-6")
_CONNECTION = ("connection", "--series-2")
_LIMITATIONS = ("none", "bandwidth", "cpu", "other")


def time_span_s(reports: StatsReports) -> tuple[float, float]:
    """First and last time of any number, in seconds."""
    times = [
        found for o in reports.objects.values() for times, _ in o.numbers.values() for found in (times[0], times[-1])
    ]
    return (min(times), max(times)) if times else (0.0, 0.0)


def connection_chart(connection: DumpedConnection) -> Chart:
    """Rates, round-trip time, jitter, loss, frames, freezes and quality limitation, if the dump has them."""
    reports = connection.reports
    start_s, end_s = time_span_s(reports)
    outgoing, incoming = (_largest(reports.of(kind)) for kind in ("outbound-rtp", "inbound-rtp"))
    video_out, video_in = ([o for o in some if o.kind == "video"] for some in (outgoing, incoming))
    remote = reports.of("remote-inbound-rtp")[:_MOST_LINES]
    pair = reports.selected_pair()
    pairs = [pair] if pair else []
    lines = _Drawing(start_s, outgoing, incoming, sent_streams(reports))
    rates = [
        *lines.of(pairs, "availableOutgoingBitrate", "available outgoing", 1e-3, "kbps", step=True),
        *lines.of(pairs, "availableIncomingBitrate", "available incoming", 1e-3, "kbps", step=True),
        *lines.of(outgoing, "bytesSent", "sent", 8e-3, "kbps", rate=True),
        *lines.of(video_out, "targetBitrate", "target", 1e-3, "kbps", dash="dash"),
        *lines.of(incoming, "bytesReceived", "received", 8e-3, "kbps", rate=True),
    ]
    round_trips = [
        *lines.of(pairs, "currentRoundTripTime", "by ICE", 1e3, "ms"),
        *lines.of(remote, "roundTripTime", "by RTCP", 1e3, "ms"),
    ]
    jitters = [
        *lines.of(incoming, "jitter", "jitter", 1e3, "ms"),
        *lines.of(remote, "jitter", "jitter at the other end", 1e3, "ms"),
    ]
    losses = [
        *(lines.loss(stream) for stream in incoming),
        *lines.of(remote, "fractionLost", "lost, as the other end reports", 100, "%", decimals=1),
    ]
    frames = [
        *lines.of(video_in, "framesDecoded", "decoded", 1, "per s", rate=True, decimals=1),
        *lines.of(video_out, "framesEncoded", "encoded", 1, "per s", rate=True, decimals=1),
    ]
    frozen = lines.of(reports.freeze_counters()[:_MOST_LINES], "totalFreezesDuration", "frozen", 1, "s", decimals=1)
    limited = [lines.limitation(stream, end_s) for stream in video_out]
    places = (-0.3, len(_LIMITATIONS) - 0.7)
    rows = [
        row("Rate, kbps", rates, share=1.8),
        row("Round trip, ms", round_trips),
        row("Jitter, ms", jitters, share=0.8),
        row("Lost, %", losses, share=0.8),
        row("Frames per s", frames),
        row("Frozen, s", frozen, share=0.7),
        row("Limited by", limited, share=0.8, range=places, ticks=_LIMITATIONS),
    ]
    return chart(connection.id, "", max(1.0, end_s - start_s), rows)


class _Drawing:
    """Makes lines with time 0 at the first report; a stream has the same colour in all rows."""

    def __init__(
        self,
        start_s: float,
        outgoing: Sequence[StatsObject],
        incoming: Sequence[StatsObject],
        sent_streams: Mapping[str, StatsObject],
    ) -> None:
        self._start_s = start_s
        self._groups: dict[str, tuple[str, str]] = {}
        for direction, streams in (("out", outgoing), ("in", incoming)):
            for stream in streams:
                alike = [other for other in streams if other.kind == stream.kind]
                number = f" {alike.index(stream) + 1}" if len(alike) > 1 else ""
                name = f"{stream.kind or 'media'} {direction}{number}"
                self._groups[stream.id] = (name, _COLOURS[len(self._groups) % len(_COLOURS)])
        self._sent_streams = sent_streams

    def of(
        self,
        objects: Sequence[StatsObject],
        name: str,
        label: str,
        scale: float,
        unit: str,
        *,
        rate: bool = False,
        step: bool = False,
        dash: str = "",
        decimals: int = 0,
    ) -> list[Line]:
        """A number of some objects, scaled; with `rate`, its growth per second."""
        drawn = []
        for one in objects:
            times, values = one.rate(name) if rate else one.series(name)
            drawn.append(self._line(one, label, times, scale * values, unit, step=step, dash=dash, decimals=decimals))
        return drawn

    def loss(self, stream: StatsObject) -> Line:
        """Packets lost of those expected, between one report and the next, in percent."""
        times, lost = stream.series("packetsLost")
        received_times, received = stream.series("packetsReceived")
        if len(times) < 2 or not np.array_equal(times, received_times):
            return None
        # A late packet is subtracted from the lost ones.
        newly_lost, newly_received = np.diff(lost), np.diff(received)
        expected = newly_lost + newly_received
        ratio = np.where(expected > 0, np.maximum(0, newly_lost) / np.maximum(expected, 1), 0.0)
        return self._line(stream, "lost", times[1:], 100 * ratio, "%", decimals=1)

    def limitation(self, stream: StatsObject, end_s: float) -> Line:
        """The reason of the quality limitation, as an index of _LIMITATIONS."""
        times, reasons = stream.texts.get("qualityLimitationReason", ([], []))
        if not times:
            return None
        places = [float(_LIMITATIONS.index(r) if r in _LIMITATIONS else len(_LIMITATIONS) - 1) for r in reasons]
        x, y = np.array([*times, max(end_s, times[-1])]), np.array([*places, places[-1]])
        return self._line(stream, "limited by reason", x, y, "", step=True)

    def _line(self, one: StatsObject, label: str, times_s: Array, values: Array, unit: str, **how: Any) -> Line:
        group, colour = self._group(one)
        x, y = thinned(times_s - self._start_s, values)
        return line(f"{group}, {label}", colour, x, y, group=group, unit=unit, **how)

    def _group(self, one: StatsObject) -> tuple[str, str]:
        if one.type == "candidate-pair":
            return _CONNECTION
        if one.type == "remote-inbound-rtp":
            stream = self._sent_streams.get(one.id)
            return self._groups.get(stream.id, _CONNECTION) if stream else _CONNECTION
        return self._groups.get(one.id, _CONNECTION)


def sent_streams(reports: StatsReports) -> dict[str, StatsObject]:
    """The outgoing stream of each remote-inbound-rtp report, by the report's id: by its SSRC, else by its kind."""
    of_ssrc: dict[str, StatsObject] = {}
    of_kind: dict[str, StatsObject] = {}
    for stream in reports.of("outbound-rtp"):
        of_ssrc.setdefault(stream.ssrc, stream)
        of_kind.setdefault(stream.kind, stream)
    found = {
        report.id: of_ssrc.get(report.ssrc) if report.ssrc in of_ssrc and report.ssrc else of_kind.get(report.kind)
        for report in reports.of("remote-inbound-rtp")
    }
    return {identifier: stream for identifier, stream in found.items() if stream is not None}


def _largest(streams: Sequence[StatsObject]) -> list[StatsObject]:
    """The streams with most bytes, in their own order."""
    chosen = sorted(streams, key=carried_bytes, reverse=True)[:_MOST_LINES]
    return [stream for stream in streams if stream in chosen]
