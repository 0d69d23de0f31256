"""Reads dumps, and makes the report of one: the streams of each peer connection over time."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.input import printable, read_bytes
from weir.files.output import make_folder, refuse_other_results, write_text
from weir.qoe_eval.call.webrtc_stats import StatsObject
from weir.qoe_eval.dumps.dump import DumpedConnection, StatsDump, parse_internals, parse_json
from weir.qoe_eval.dumps.dump_charts import connection_chart, sent_streams, time_span_s
from weir.qoe_eval.dumps.freezes import freeze_text
from weir.qoe_eval.dumps.rtcstats_file import MAGIC, parse_rtcstats
from weir.qoe_eval.report.page_table import Cell, Cells, Row, Table
from weir.qoe_eval.report.page_template import REPORT, Section, render_page

LARGEST_BYTES = 64 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_STREAMS = 40
_HEADS = (
    "Stream", "Codec", Cell("Bitrate", "kbps"), Cell("Frames", "per s"), Cell("Size", "px, last"), Cell("Lost", "%"),
    "Freezes", Cell("Frozen", "%"), Cell("Round trip", "ms, mean"), Cell("Limited by CPU", "% of time"),
    Cell("by bandwidth", "% of time"),
)  # fmt: skip


def read_dump(path: Path) -> StatsDump:
    """Reads a dump of either format, gzipped or not. Dumps are untrusted: size is bounded, invalid parts are skipped.

    Raises:
        InputError: it cannot be read, is too large, or has no statistics.
    """
    text = _read(path)
    if text.startswith(MAGIC):
        dump = parse_rtcstats(text, printable(path))
    elif text.lstrip()[:1] == "{":
        dump = parse_internals(parse_json(text, printable(path)), printable(path))
    else:
        raise InputError(
            f"{path}: neither a dump of chrome://webrtc-internals (a JSON object) nor an rtcstats file (first line "
            f"{MAGIC}); save one with 'Create a WebRTC-Internals dump'"
        )
    dump.connections = [connection for connection in dump.connections if connection.reports.objects]
    if not dump.connections:
        raise InputError(
            f"{path}: no statistics of a peer connection in it (those from before webrtc-stats are not read); "
            "open chrome://webrtc-internals before the call begins, and save the dump before it is closed"
        )
    return dump


def _read(path: Path) -> str:
    content = read_bytes(path, LARGEST_BYTES)
    if content.startswith(_GZIP_MAGIC):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                content = file.read(LARGEST_BYTES + 1)
        except (EOFError, zlib.error, OSError) as error:
            raise InputError(f"{printable(path)}: damaged gzip file ({error})") from None
    if len(content) > LARGEST_BYTES:
        raise InputError(f"{printable(path)}: over {LARGEST_BYTES >> 20} MiB; save a dump of a shorter call")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{printable(path)}: byte {error.start} is no UTF-8 text; give the dump as it was saved"
        ) from None


def write_dump_report(dump: StatsDump, out: Path) -> Path:
    """Writes `report.html` into a folder, which is made if need be; returns the page's path.

    Raises:
        InputError: it cannot be written.
    """
    page = out / REPORT
    make_folder(out)
    refuse_other_results(out, REPORT)
    write_text(page, render_dump(dump))
    return page


def render_dump(dump: StatsDump) -> str:
    """The page as text."""
    charts = [connection_chart(connection) for connection in dump.connections]
    sections = [_section(index, connection) for index, connection in enumerate(dump.connections)]
    lead = {
        "connections": len(dump.connections),
        "format": dump.format,
        "user_agent": dump.user_agent,
        "left_out": dump.connections_left_out,
    }
    return render_page("dump_lead", "Weir: a browser's calls", lead, sections, {"charts": charts})


def _section(index: int, connection: DumpedConnection) -> Section:
    streams = [*connection.reports.of("inbound-rtp"), *connection.reports.of("outbound-rtp")]
    start_s, end_s = time_span_s(connection.reports)
    # The other end's report about each outgoing stream.
    reported: dict[str, StatsObject] = {}
    for report, stream in sent_streams(connection.reports).items():
        reported.setdefault(stream.id, connection.reports.objects[report])
    view = {
        "url": connection.url,
        "duration_s": f"{end_s - start_s:.0f}",
        "streams": Table(_HEADS, [_stream(connection, one, reported.get(one.id)) for one in streams[:_MOST_STREAMS]]),
        "more": len(streams) - _MOST_STREAMS,
        "chart": index,
    }
    return Section(f"connection-{index}", connection.id, "connection", view, f"Peer connection {connection.id}")


def _stream(connection: DumpedConnection, stream: StatsObject, reported: StatsObject | None) -> Row:
    direction = "in" if stream.type == "inbound-rtp" else "out"
    name = Cell(f"{direction}, {stream.kind or '?'}", _short_id(stream.id))
    return Row([name, Cell(_codec(connection, stream), kind="text"), *_measures(stream, reported)])


def _measures(stream: StatsObject, reported: StatsObject | None) -> Cells:
    """The cells in the order of the columns."""
    incoming = stream.type == "inbound-rtp"
    bytes_times, _ = stream.series("bytesReceived" if incoming else "bytesSent")
    span_s = float(bytes_times[-1] - bytes_times[0]) if len(bytes_times) > 1 else 0.0
    sent = _grown(stream, "bytesReceived" if incoming else "bytesSent")
    frames = _grown(stream, "framesDecoded" if incoming else "framesEncoded")
    width, height = (_last(stream, name) for name in ("frameWidth", "frameHeight"))
    lost, received = _grown(stream, "packetsLost"), _grown(stream, "packetsReceived")
    if not incoming:
        lost, received = (_grown(reported, "packetsLost") if reported else None), _grown(stream, "packetsSent")
        received = received - lost if received is not None and lost is not None else None
    ratio = lost / (lost + received) if lost is not None and received is not None and lost + received > 0 else None
    frozen = _grown(stream, "totalFreezesDuration")
    round_trips = reported.series("roundTripTime")[1].tolist() if reported else []
    return [
        _shown(8 * sent / span_s / 1e3 if sent is not None and span_s else None, 0),
        _shown(frames / span_s if frames is not None and span_s else None, 1),
        f"{width:.0f}x{height:.0f}" if width and height else "–",
        _shown(None if ratio is None else 100 * ratio, 2),
        Cell(_shown(_last(stream, "freezeCount"), 0), freeze_text(stream)),
        _shown(100 * frozen / span_s if frozen is not None and span_s else None, 1),
        _shown(1e3 * float(sum(round_trips) / len(round_trips)) if len(round_trips) else None, 0),
        *(_shown(_limited(stream, reason), 0) for reason in ("cpu", "bandwidth")),
    ]


def _codec(connection: DumpedConnection, stream: StatsObject) -> str:
    codec = connection.reports.objects.get(stream.text("codecId"))
    return codec.text("mimeType").rpartition("/")[2] if codec else "–"


def _limited(stream: StatsObject, reason: str) -> float | None:
    """Percentage of the time in which `reason` limited the quality."""
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
