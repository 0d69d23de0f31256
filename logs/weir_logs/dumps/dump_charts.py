"""The time series of one peer connection of a dump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.flow_series import Array
from weir_eval.report.chart_rows import Chart, Line, chart, line, row, thinned
from weir_eval.webrtc_stats import StatsObject, carried_bytes
from weir_logs.dumps.dump import DumpedConnection
from weir_logs.dumps.freeze import DumpFreeze
from weir_logs.dumps.related_objects import sent_streams
from weir_logs.dumps.stream_names import stream_names
from weir_logs.dumps.verdict import time_span_s

# For each kind of statistics, to keep the chart readable.
_MOST_LINES = 6
_MOST_MARKS = 200
_COLOURS = ("--series-1", "--series-5", "--series-3", "--series-4", "--series-7", "--series-6")
_CONNECTION = ("connection", "--series-2")
_LIMITATIONS = ("none", "bandwidth", "cpu", "other")


def connection_chart(connection: DumpedConnection, freezes: Sequence[DumpFreeze] = ()) -> Chart:
    """Rates, round-trip time, jitter, loss, frames, the time that each takes, freezes and quality limitation, if the
    dump has them. Every row is marked where one of the freezes is. Nothing is drawn of a stream, or of an estimate,
    while nothing was sent.
    """
    reports = connection.reports
    start_s, end_s = time_span_s(reports)
    outgoing, incoming = (_largest(reports.of(kind)) for kind in ("outbound-rtp", "inbound-rtp"))
    video_out, video_in = ([o for o in some if o.kind == "video"] for some in (outgoing, incoming))
    sent = sent_streams(reports)
    shown_ids = {stream.id for stream in outgoing}
    remote = [
        report for report in reports.of("remote-inbound-rtp") if report.id in sent and sent[report.id].id in shown_ids
    ]
    remote = remote[:_MOST_LINES]
    lines = _Drawing(start_s, stream_names(reports), sent)
    estimates = {"availableOutgoingBitrate": outgoing, "availableIncomingBitrate": incoming}
    rates = [
        *(lines.estimate(reports.pair_with(name), name, streams) for name, streams in estimates.items()),
        *lines.of(outgoing, "bytesSent", "sent", 8e-3, "kbps", rate=True),
        *(lines.target(stream) for stream in video_out),
        *lines.of(incoming, "bytesReceived", "received", 8e-3, "kbps", rate=True),
    ]
    pair = reports.pair_with("currentRoundTripTime")
    round_trips = [
        *lines.of([pair] if pair else [], "currentRoundTripTime", "by ICE", 1e3, "ms"),
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
    decoding = [lines.time_per_frame(stream, "totalDecodeTime", "framesDecoded", "decoding") for stream in video_in]
    encoding = [lines.time_per_frame(stream, "totalEncodeTime", "framesEncoded", "encoding") for stream in video_out]
    frozen = [lines.frozen(counter) for counter in reports.freeze_counters()[:_MOST_LINES]]
    limited = [lines.limitation(stream, end_s) for stream in video_out]
    places = (-0.3, len(_LIMITATIONS) - 0.7)
    rows = [
        row("Rate, kbps", rates, share=1.8),
        row("Round trip, ms", round_trips),
        row("Jitter, ms", jitters, share=0.8),
        row("Lost, %", losses, share=0.8),
        row("Frames per s", frames),
        row("Codec, ms a frame", [*decoding, *encoding], share=0.8),
        row("Frozen, s", frozen, share=0.7),
        row("Limited by", limited, share=0.8, range=places, ticks=_LIMITATIONS),
    ]
    found = chart(connection.id, "", max(1.0, end_s - start_s), rows)
    spans = ((freeze.start_s - start_s, freeze.end_s - start_s) for freeze in freezes[:_MOST_MARKS])
    return {**found, "spans": [(round(a, 2), round(b, 2)) for a, b in spans if a < found["duration_s"] and b > 0]}


class _Drawing:
    """Makes lines with time 0 at the first report; a stream has the same colour in all rows."""

    def __init__(self, start_s: float, names: Mapping[str, str], sent: Mapping[str, StatsObject]) -> None:
        self._start_s = start_s
        self._names = names
        self._sent_streams = sent
        self._colours: dict[str, str] = {}

    def of(
        self,
        objects: Sequence[StatsObject],
        name: str,
        label: str,
        scale: float,
        unit: str,
        *,
        rate: bool = False,
        decimals: int = 0,
    ) -> list[Line]:
        """A number of some objects, scaled; with `rate`, its growth per second."""
        lines = []
        for stats in objects:
            times, values = stats.rate(name) if rate else stats.series(name)
            lines.append(self._line(stats, label, times, scale * values, unit, decimals=decimals))
        return lines

    def estimate(self, pair: StatsObject | None, name: str, streams: Sequence[StatsObject]) -> Line:
        """An estimate of the available bandwidth, while one of the streams carries something."""
        if pair is None:
            return None
        times, values = pair.series(name)
        sending = np.any([_carries(stream, times) for stream in streams], axis=0) if streams else False
        label = "available outgoing" if name == "availableOutgoingBitrate" else "available incoming"
        return self._line(pair, label, times, np.where(sending, 1e-3 * values, np.nan), "kbps", step=True)

    def time_per_frame(self, stream: StatsObject, spent: str, frames: str, label: str) -> Line:
        """The time that a frame took, between one report and the next with new frames, in ms."""
        times, seconds = stream.series(spent)
        frame_times, count = stream.series(frames)
        if len(times) < 2 or not np.array_equal(times, frame_times):
            return None
        grown_s, grown = np.diff(seconds), np.diff(count)
        # A reset counter falls.
        kept = (grown > 0) & (grown_s >= 0)
        return self._line(stream, label, times[1:][kept], 1e3 * grown_s[kept] / grown[kept], "ms", decimals=1)

    def frozen(self, counter: StatsObject) -> Line:
        """The time frozen until then."""
        return self._line(counter, "frozen", *counter.counter("totalFreezesDuration"), "s", decimals=1)

    def target(self, stream: StatsObject) -> Line:
        """The target of a stream's encoder, while it sends."""
        times, values = stream.series("targetBitrate")
        shown = np.where(_carries(stream, times), 1e-3 * values, np.nan)
        return self._line(stream, "target", times, shown, "kbps", dash="dash")

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

    def _line(self, measured: StatsObject, label: str, times_s: Array, values: Array, unit: str, **style: Any) -> Line:
        group, colour = self._group(measured)
        points = thinned(times_s - self._start_s, values)
        return line(f"{group}, {label}", colour, *points, group=group, unit=unit, **style)

    def _group(self, measured: StatsObject) -> tuple[str, str]:
        stream = self._sent_streams.get(measured.id) if measured.type == "remote-inbound-rtp" else measured
        name = self._names.get(stream.id) if stream else None
        if name is None:
            return _CONNECTION
        return name, self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])


def _carries(stream: StatsObject, times: Array) -> NDArray[np.bool_]:
    """For each time, whether bytes went between the reports around it; shape [n]."""
    report_times, values = stream.series(stream.directed("bytes"))
    if len(report_times) < 2:
        return np.zeros(len(times), dtype=bool)
    grew = np.diff(values) > 0
    return np.asarray(grew[np.clip(np.searchsorted(report_times, times) - 1, 0, len(grew) - 1)])


def _largest(streams: Sequence[StatsObject]) -> list[StatsObject]:
    """The streams with most bytes, in their own order; none without bytes."""
    with_bytes = [stream for stream in streams if _has_bytes(stream)]
    chosen = {stream.id for stream in sorted(with_bytes, key=carried_bytes, reverse=True)[:_MOST_LINES]}
    return [stream for stream in with_bytes if stream.id in chosen]


def _has_bytes(stream: StatsObject) -> bool:
    _, values = stream.series(stream.directed("bytes"))
    return len(values) > 0 and values.max() > (values[0] if len(values) > 1 else 0)
