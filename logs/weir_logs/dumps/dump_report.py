"""The report of a dump: its freezes and why, then the streams of each peer connection over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weir_cli.console import counted
from weir_cli.files.output import begin_page, write_text
from weir_eval.report.page_blocks import Bullets, Charts, Folded, Heading, Section, Span, Text, Words, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table
from weir_eval.report.page_template import render_page
from weir_eval.webrtc_stats import Array, StatsObject
from weir_logs.dumps.dump import DumpedConnection, StatsDump
from weir_logs.dumps.dump_charts import connection_chart
from weir_logs.dumps.freeze import DumpFreeze
from weir_logs.dumps.freezes import counter_of
from weir_logs.dumps.related_objects import sent_streams
from weir_logs.dumps.verdict import ConnectionVerdict, earlier_texts, find_verdicts, summary_text, time_span_s

_MOST_STREAMS = 40
_MOST_SENTENCES = 12
_ABOUT_FREEZES = (
    "A browser counts a freeze when the next frame comes; one that it does not count is taken from frames that were "
    "not decoded. “Before” is the 12 s before a freeze, the other number the worst from 3 s before it to its end. The "
    "cause is what those numbers fit; red spans in the charts are the freezes."
)
_ABOUT_CHART = (
    "In the charts a stream has one colour, and solid lines are what was measured of it; dashed, in the row of rates, "
    "is the target that its encoder was given. **connection** is the transport that all streams share: what the "
    "browser believes it may send (available outgoing bitrate) or receive, and the round trip of its ICE checks. "
    "“Frozen” adds up from the start. Below the number of freezes: their likely causes. A click in the legend hides or "
    "shows a line."
)
_HEADS = (
    "Stream", "Codec", Cell("Bitrate", "kbps"), Cell("Frames", "per s"), Cell("Size", "px, last"), Cell("Lost", "%"),
    "Freezes", Cell("Frozen", "%"), Cell("Round trip", "ms, mean"), Cell("Limited by CPU", "% of time"),
    Cell("by bandwidth", "% of time"),
)  # fmt: skip


def write_dump_report(dump: StatsDump, out: Path) -> tuple[list[dict[str, Any]], Path, str]:
    """Writes `report.html` into a folder, which is made if need be.

    Returns what `describe` has, the page's path, and the verdict in a sentence or two.

    Raises:
        InputError: it cannot be written.
    """
    page = begin_page(out)
    verdicts = find_verdicts(dump.connections)
    write_text(page, render_dump(dump, verdicts))
    return describe(verdicts), page, summary_text(verdicts)


def render_dump(dump: StatsDump, verdicts: Sequence[ConnectionVerdict]) -> str:
    """The page as text. `verdicts`: of the dump's connections."""
    sections = [
        _section(index, verdict, _marked(verdict, verdicts), _title(verdict, verdicts))
        for index, verdict in enumerate(verdicts)
    ]
    about: Words = [
        f"{counted(len(dump.connections), 'peer connection')} of a {dump.format} dump. ",
        Span(dump.user_agent, "small"),
    ]
    omitted = note(f"{dump.omitted_connections} more are left out.") if dump.omitted_connections else None
    lead = [Text(summary_text(verdicts), "verdict"), Text(about, "note"), omitted]
    return render_page("Weir: a browser's calls", lead, [_freezes(verdicts), *sections])


def _freezes(verdicts: Sequence[ConnectionVerdict]) -> Section:
    """A sentence for each freeze, and for each stop of outgoing video."""
    more = sum(verdict.more for verdict in verdicts)
    earlier = [Text(text, "note") for verdict in verdicts for text in earlier_texts(verdict)]
    stops = _sentences(verdicts, stops=True)
    blocks = [
        *(_sentences(verdicts, stops=False) or [Text("None of incoming video.")]),
        note(f"{more} shorter ones have no sentence.") if more > 0 else None,
        *earlier[:_MOST_SENTENCES],
        *([Heading("Outgoing video that stopped or fell, and video that was not sent"), *stops] if stops else []),
        note(_ABOUT_FREEZES),
    ]
    return Section("verdict", "Freezes", blocks)


def _sentences(verdicts: Sequence[ConnectionVerdict], *, stops: bool) -> list[Block]:
    blocks: list[Block] = []
    for index, verdict in enumerate(verdicts):
        texts = [found.sentence for found in verdict.explained if found.is_stop == stops]
        first, others = texts[:_MOST_SENTENCES], texts[_MOST_SENTENCES:]
        if texts:
            blocks += [Text([Span(_title(verdict, verdicts), href=f"#connection-{index}")]), Bullets(first)]
        if others:
            blocks.append(Folded(f"{len(others)} more", [Bullets(others)]))
    return blocks


def _title(verdict: ConnectionVerdict, verdicts: Sequence[ConnectionVerdict]) -> str:
    """The name of a connection on the page; the ID of an only one distinguishes it from nothing."""
    return f"Peer connection {verdict.connection.id}" if len(verdicts) > 1 else "Peer connection"


def _marked(verdict: ConnectionVerdict, verdicts: Sequence[ConnectionVerdict]) -> list[DumpFreeze]:
    """The freezes of a connection, and those of streams that it sends."""
    sent = {stream.ssrc for stream in verdict.connection.reports.of("outbound-rtp") if stream.ssrc}
    all_freezes = [
        found.freeze for other in verdicts if other is not verdict for found in other.explained if not found.is_stop
    ]
    incoming = [found.freeze for found in verdict.explained if not found.is_stop]
    return [*incoming, *(freeze for freeze in all_freezes if freeze.stream.ssrc in sent)]


def _section(index: int, verdict: ConnectionVerdict, marked: Sequence[DumpFreeze], title: str) -> Section:
    connection = verdict.connection
    streams = [*connection.reports.of("inbound-rtp"), *connection.reports.of("outbound-rtp")]
    start_s, end_s = time_span_s(connection.reports)
    # The other end's report about each outgoing stream.
    reported: dict[str, StatsObject] = {}
    for report, stream in sent_streams(connection.reports).items():
        reported.setdefault(stream.id, connection.reports.objects[report])
    more = len(streams) - _MOST_STREAMS
    table = Table(_HEADS, [_stream(verdict, stream, reported.get(stream.id)) for stream in streams[:_MOST_STREAMS]])
    blocks = [
        Text(f"{connection.url}{'; ' if connection.url else ''}{end_s - start_s:.0f} s.", "note"),
        note(_ABOUT_CHART),
        table if streams else note("No media in it."),
        note(f"{more} more streams") if more > 0 else None,
        Charts([connection_chart(connection, marked)]),
    ]
    return Section(f"connection-{index}", title, blocks)


def _stream(verdict: ConnectionVerdict, stream: StatsObject, reported: StatsObject | None) -> Row:
    connection = verdict.connection
    counter = counter_of(connection.reports, stream)
    causes: Counter[str] = Counter()
    for explained in verdict.explained:
        if explained.freeze.stream is stream and not explained.is_stop:
            causes[explained.cause] += explained.freeze.count
    direction = "in" if stream.type == "inbound-rtp" else "out"
    name = Cell(f"{direction}, {stream.kind or '?'}", _short_id(stream.id))
    return Row([name, Cell(_codec(connection, stream), kind="text"), *_measures(stream, counter, reported, causes)])


def _measures(stream: StatsObject, counter: StatsObject, reported: StatsObject | None, causes: Counter[str]) -> Cells:
    """The cells in the order of the columns."""
    incoming = stream.type == "inbound-rtp"
    bytes_times, _ = stream.series(stream.directed("bytes"))
    span_s = float(bytes_times[-1] - bytes_times[0]) if len(bytes_times) > 1 else 0.0
    sent = _growth(stream, stream.directed("bytes"))
    frames = _growth(stream, "framesDecoded" if incoming else "framesEncoded")
    width, height = (
        _last(stream.series(name)) or _last(counter.series(name)) for name in ("frameWidth", "frameHeight")
    )
    lost, received = _growth(stream, "packetsLost"), _growth(stream, "packetsReceived")
    if not incoming:
        lost, received = (_growth(reported, "packetsLost") if reported else None), _growth(stream, "packetsSent")
        received = received - lost if received is not None and lost is not None else None
    ratio = lost / (lost + received) if lost is not None and received is not None and lost + received > 0 else None
    frozen = _growth(counter, "totalFreezesDuration")
    round_trips = reported.series("roundTripTime")[1].tolist() if reported else []
    return [
        _shown(8 * sent / span_s / 1e3 if sent is not None and span_s else None, 0),
        _shown(frames / span_s if frames is not None and span_s else None, 1),
        f"{width:.0f}x{height:.0f}" if width and height else "–",
        _shown(None if ratio is None else 100 * ratio, 2),
        Cell(
            _shown(_last(counter.counter("freezeCount")), 0),
            ", ".join(f"{number} {cause}" for cause, number in causes.most_common()),
        ),
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
    return 100 * sum(until - since for since, until, limitation in spans if limitation == reason) / (end_s - times[0])


def _growth(stream: StatsObject, name: str) -> float | None:
    times, _ = stream.series(name)
    return stream.growth(name, times[0], times[-1]) if len(times) else None


def _last(series: tuple[Array, Array]) -> float | None:
    _, values = series
    return float(values[-1]) if len(values) else None


def _shown(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:,.{decimals}f}"


def _short_id(identifier: str) -> str:
    return identifier if len(identifier) <= 24 else identifier[:23] + "…"


def describe(verdicts: Sequence[ConnectionVerdict]) -> list[dict[str, Any]]:
    """For scripts: per connection its id, page, length, the ids of its streams, and its freezes and stops."""
    described = []
    for verdict in verdicts:
        connection = verdict.connection
        start_s, end_s = time_span_s(connection.reports)
        streams = [o.id for kind in ("inbound-rtp", "outbound-rtp") for o in connection.reports.of(kind)]
        freezes = [
            {
                "stream": explained.freeze.stream.id,
                "start_s": round(explained.freeze.start_s - start_s, 3),
                "duration_s": round(explained.freeze.duration_s, 3),
                "count": explained.freeze.count,
                "kind": "stop" if explained.is_stop else "freeze",
                "cause": explained.cause,
                "text": explained.sentence,
            }
            for explained in verdict.explained
        ]
        described.append(
            {
                "id": connection.id, "url": connection.url, "duration_s": round(end_s - start_s, 3),
                "streams": streams, "freezes": freezes, "freezes_not_explained": verdict.more,
            }
        )  # fmt: skip
    return described
