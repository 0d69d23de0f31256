"""The report of a dump of getStats(): what each peer connection sent and received, over time."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from weir.files.output import make_folder, write_text
from weir.qoe_eval.call.logs.webrtc_stats import StatsObject
from weir.qoe_eval.dumps.charts import connection_chart, sent_stream, time_span_s
from weir.qoe_eval.dumps.stats_dump import DumpedConnection, StatsDump
from weir.qoe_eval.report import html_parts as html
from weir.qoe_eval.report.page_template import render_page

REPORT = "report.html"
_MOST_STREAMS = 40
_LINES = (
    "In the charts a stream has one colour, and solid lines are what was measured of it; dashed, in the row of rates, "
    "is the target that its encoder was given. <b>connection</b> is the transport that all streams share: what the "
    "browser believes it may send (available outgoing bitrate) or receive, and the round trip of its ICE checks. "
    "“Frozen” adds up from the start. A click in the legend hides or shows a line."
)


def write_dump_report(dump: StatsDump, out: Path) -> Path:
    """Writes `report.html` into a folder, which is made if need be; returns the page's path.

    Raises:
        InputError: it cannot be written.
    """
    page = out / REPORT
    make_folder(out)
    write_text(page, render_dump(dump))
    return page


def render_dump(dump: StatsDump) -> str:
    """The page as text."""
    charts = [connection_chart(connection) for connection in dump.connections]
    parts = [_section(index, connection) for index, connection in enumerate(dump.connections)]
    links = [(f"connection-{index}", connection.id) for index, connection in enumerate(dump.connections)]
    count = len(dump.connections)
    lead = f"{count} peer connection{'s' * (count != 1)} of a {escape(dump.format)} dump."
    if dump.user_agent:
        lead += f" <small>{escape(dump.user_agent)}</small>"
    if dump.connections_left_out:
        lead += f" {dump.connections_left_out} more are left out."
    return render_page("Weir: a browser's calls", lead, parts, links, {"charts": charts}, "rows.js")


def _section(index: int, connection: DumpedConnection) -> str:
    streams = [*connection.reports.of("inbound-rtp"), *connection.reports.of("outbound-rtp")]
    start_s, end_s = time_span_s(connection.reports)
    rows = [html.row(_cells(connection, stream)) for stream in streams[:_MOST_STREAMS]]
    head = [
        "Stream",
        "Codec",
        "Bitrate<small>kbps</small>",
        "Frames<small>per s</small>",
        "Size<small>px, last</small>",
    ]
    head += ["Lost<small>%</small>", "Freezes", "Frozen<small>%</small>", "Round trip<small>ms, mean</small>"]
    head += ["Limited by CPU<small>% of time</small>", "by bandwidth<small>% of time</small>"]
    more = f"<p class=note>{len(streams) - _MOST_STREAMS} more streams</p>" if len(streams) > _MOST_STREAMS else ""
    table = html.table(head, rows) + more if rows else "<p class=note>No media in it.</p>"
    chart = f'<div id="chart-{index}" class="chart connection" data-chart="{index}"></div>'
    where = f"{escape(connection.url)}; " if connection.url else ""
    note = f"{where}{end_s - start_s:.0f} s. {_LINES}"
    return html.section(f"connection-{index}", f"Peer connection {connection.id}", note, table + chart)


def _cells(connection: DumpedConnection, stream: StatsObject) -> list[str]:
    incoming = stream.type == "inbound-rtp"
    bytes_times, _ = stream.series("bytesReceived" if incoming else "bytesSent")
    span_s = float(bytes_times[-1] - bytes_times[0]) if len(bytes_times) > 1 else 0.0
    sent = _grown(stream, "bytesReceived" if incoming else "bytesSent")
    frames = _grown(stream, "framesDecoded" if incoming else "framesEncoded")
    width, height = (_last(stream, name) for name in ("frameWidth", "frameHeight"))
    reported = _remote(connection, stream)
    lost, received = _grown(stream, "packetsLost"), _grown(stream, "packetsReceived")
    if not incoming:
        lost, received = (_grown(reported, "packetsLost") if reported else None), _grown(stream, "packetsSent")
        received = received - lost if received is not None and lost is not None else None
    ratio = lost / (lost + received) if lost is not None and received is not None and lost + received > 0 else None
    frozen = _grown(stream, "totalFreezesDuration")
    round_trips = reported.series("roundTripTime")[1].tolist() if reported else []
    return [
        f"{'in' if incoming else 'out'}, {escape(stream.kind or '?')} <small>{escape(_short_id(stream.id))}</small>",
        f"<td class=text>{escape(_codec(connection, stream))}</td>",
        _shown(8 * sent / span_s / 1e3 if sent is not None and span_s else None, 0),
        _shown(frames / span_s if frames is not None and span_s else None, 1),
        f"{width:.0f}x{height:.0f}" if width and height else "–",
        _shown(None if ratio is None else 100 * ratio, 2),
        _shown(_last(stream, "freezeCount"), 0),
        _shown(100 * frozen / span_s if frozen is not None and span_s else None, 1),
        _shown(1e3 * float(sum(round_trips) / len(round_trips)) if len(round_trips) else None, 0),
        *(_shown(_limited(stream, reason), 0) for reason in ("cpu", "bandwidth")),
    ]


def _codec(connection: DumpedConnection, stream: StatsObject) -> str:
    codec = connection.reports.objects.get(stream.text("codecId"))
    return codec.text("mimeType").rpartition("/")[2] if codec else "–"


def _remote(connection: DumpedConnection, stream: StatsObject) -> StatsObject | None:
    """What the other end reports of an outgoing stream."""
    if stream.type != "outbound-rtp":
        return None
    reports, outgoing = connection.reports.of("remote-inbound-rtp"), connection.reports.of("outbound-rtp")
    return next((report for report in reports if sent_stream(report, outgoing) is stream), None)


def _limited(stream: StatsObject, reason: str) -> float | None:
    """Share of the time in which that limited the quality, in percent."""
    times, reasons = stream.texts.get("qualityLimitationReason", ([], []))
    end_s = max((float(found[-1]) for name in stream.numbers if len(found := stream.series(name)[0])), default=0.0)
    if not times or end_s <= times[0]:
        return None
    spans = zip(times, [*times[1:], end_s], reasons, strict=True)
    return 100 * sum(until - since for since, until, why in spans if why == reason) / (end_s - times[0])


def _grown(stream: StatsObject, name: str) -> float | None:
    _, values = stream.series(name)
    return max(0.0, float(values[-1] - values[0])) if len(values) else None


def _last(stream: StatsObject, name: str) -> float | None:
    _, values = stream.series(name)
    return float(values[-1]) if len(values) else None


def _shown(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:,.{decimals}f}"


def _short_id(identifier: str) -> str:
    return identifier if len(identifier) <= 24 else identifier[:23] + "…"


def describe(dump: StatsDump) -> list[dict[str, Any]]:
    """For scripts: per connection its id, page, length and the ids of its streams."""
    described = []
    for connection in dump.connections:
        start_s, end_s = time_span_s(connection.reports)
        streams = [o.id for kind in ("inbound-rtp", "outbound-rtp") for o in connection.reports.of(kind)]
        described.append(
            {"id": connection.id, "url": connection.url, "duration_s": round(end_s - start_s, 3), "streams": streams}
        )
    return described
