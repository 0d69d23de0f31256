"""Reads a dump, detecting its format by content; refuses other files with instructions to get a dump."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError
from weir_cli.files.input import printable, read_bytes
from weir_eval.json_lines import LONGEST_LINE, MOST_LINES
from weir_logs.dumps.dump import StatsDump, parse_json
from weir_logs.dumps.firefox_file import is_firefox, parse_firefox
from weir_logs.dumps.internals_file import parse_internals
from weir_logs.dumps.rtcstats_file import MAGIC, is_event, parse_rtcstats
from weir_logs.dumps.stats_log import is_stats_log, parse_stats_log

LARGEST_BYTES = 64 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_FIRST_LINES = 1000
READABLE = (
    "chrome://webrtc-internals ('Create a WebRTC-Internals dump'), rtcstats, Firefox's about:webrtc ('Copy Report "
    "History'), or getStats() as JSON lines"
)
_IS_LATE = "open chrome://webrtc-internals before the call begins, and save the dump before the call's page is closed"
_IS_OLD = "no report of getStats() in it has the standard's objects, as those of browsers before 2018"
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive; unpack it and give the dump in it"),
    (b"\xd4\xc3\xb2\xa1", "a packet capture"),
    (b"\xa1\xb2\xc3\xd4", "a packet capture"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture"),
    (b"#!rtpplay1.0", "an rtpdump of packets"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"RIFF", "a recording of audio or video"),
    (b"\x1aE\xdf\xa3", "a recording of audio or video"),
    (b"%PDF", "a PDF"),
)


def read_dump(path: Path) -> StatsDump:
    """Reads a dump, gzipped or not. Dumps are untrusted: the size is bounded, and invalid parts are skipped.

    Raises:
        InputError: the file cannot be read, is too large, is not a dump, or has no statistics.
    """
    source = printable(path)
    dump = _parse(_read(path), source)
    dump.connections = [connection for connection in dump.connections if connection.reports.objects]
    if not dump.connections:
        advice = _IS_LATE if dump.format == "webrtc-internals" else _IS_OLD
        raise InputError(f"{source}: no statistics of a peer connection in it; {advice}")
    return dump


def _parse(text: str, source: str) -> StatsDump:
    if text.startswith(MAGIC):
        return parse_rtcstats(text, source)
    if text.lstrip()[:1] not in ("{", "["):
        raise InputError(f"{source}: {_content_text(text)}; give a dump of {READABLE}")
    whole_lines = text if len(text) <= LONGEST_LINE else text[: text.rfind("\n", 0, LONGEST_LINE) + 1]
    first = list(itertools.islice(_json_lines(whole_lines), _FIRST_LINES))
    if len(first) > 1 and any(map(is_event, first)):
        return parse_rtcstats(text, source)
    if len(first) > 1 and any(map(is_stats_log, first)):
        return parse_stats_log(_json_lines(text), source)
    data = first if len(first) > 1 else parse_json(text, source)
    if isinstance(data, Mapping) and "PeerConnections" in data:
        return parse_internals(data, source)
    if is_firefox(data):
        return parse_firefox(data, source)
    if is_stats_log(data):
        return parse_stats_log([data], source)
    raise InputError(f"{source}: JSON without PeerConnections or reports of getStats(); give a dump of {READABLE}")


def _json_lines(text: str) -> Iterator[Any]:
    """The values of lines that are JSON objects or arrays."""
    for line in itertools.islice(io.StringIO(text), MOST_LINES):
        if line[:1] in ("{", "[") and len(line) <= LONGEST_LINE:
            try:
                yield json.loads(line, parse_constant=lambda _: None)
            except (ValueError, RecursionError):
                continue


def _content_text(text: str) -> str:
    start = text.lstrip()[:200].lower()
    if start.startswith("<"):
        if "rtp-stats: " in text or "peer-connection" in text:
            return (
                "the page that Firefox's about:webrtc saves, which has one moment and no times; use 'Copy Report "
                "History' there (about:config, media.aboutwebrtc.hist.enabled) and save what it copied"
            )
        return "a web page; save the dump itself, not the page that shows it"
    return "not a dump" if start else "an empty file"


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
    for magic, content_kind in _OTHERS:
        if content.startswith(magic):
            raise InputError(f"{printable(path)}: {content_kind}; give a dump of {READABLE}")
    # Windows' PowerShell writes UTF-16.
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if content.lstrip().startswith(b"<"):
            # A later check refuses it as a web page.
            return content.decode("latin-1")
        raise InputError(
            f"{printable(path)}: no UTF-8 text from byte {error.start} on, perhaps an RTC event log or another "
            f"recording of packets; give a dump of {READABLE}"
        ) from None
