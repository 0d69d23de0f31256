"""Reads rtcstats files: events of peer connections as JSON lines, including getStats reports.

A report is complete (Chromium's own), or the difference to the previous one: with numbers instead of names in version
3 (a page that uses rtcstats-js), with full names before it (Jitsi Meet). The last item of an event is its time, in
version 3 the time since the previous event.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from weir_cli.errors import InputError
from weir_eval.json_lines import LONGEST_LINE, number
from weir_eval.webrtc_stats import MOST_OBJECTS, NUMBERS, TEXTS
from weir_logs.dumps.dump import DumpBuilder, DumpedConnection, StatsDump, parse_json, short
from weir_logs.dumps.stats_names import standard_members

MAGIC = "RTCStatsDump"
VERSIONS = (2, 3)
_MOST_EVENTS = 1_000_000
_GET_STATS = ("getStats", "getstats", "g", 1)
# Event times of at least this are since 1970, smaller ones since the previous event.
_LEAST_TIME_MS = 1e11
# The format's numbers of the types and members that are read.
_TYPES: dict[int | str, str] = {
    1: "inbound-rtp", 2: "outbound-rtp", 3: "remote-inbound-rtp", 4: "remote-outbound-rtp", 5: "transport",
    6: "candidate-pair", 12: "media-source", 14: "codec",
}  # fmt: skip
_MEMBERS = {
    "6": "mimeType", "10": "ssrc", "11": "kind", "12": "codecId", "14": "packetsReceived", "15": "packetsLost",
    "16": "jitter", "20": "framesDecoded", "22": "framesDropped", "23": "frameWidth", "24": "frameHeight",
    "25": "framesPerSecond", "26": "qpSum", "27": "totalDecodeTime", "32": "freezeCount", "33": "totalFreezesDuration",
    "35": "headerBytesReceived", "41": "bytesReceived", "42": "nackCount", "44": "pliCount", "47": "jitterBufferDelay",
    "49": "jitterBufferEmittedCount", "60": "framesReceived", "66": "contentType", "75": "roundTripTime",
    "77": "fractionLost", "79": "packetsSent", "80": "bytesSent", "81": "mediaSourceId", "82": "rid",
    "84": "headerBytesSent", "85": "retransmittedPacketsSent", "86": "retransmittedBytesSent", "87": "targetBitrate",
    "89": "framesSent", "91": "framesEncoded", "93": "totalEncodeTime", "95": "qualityLimitationReason",
    "106": "width", "107": "height", "108": "frames", "118": "state", "125": "selectedCandidatePairId",
    "152": "currentRoundTripTime", "153": "availableOutgoingBitrate", "154": "availableIncomingBitrate",
}  # fmt: skip
_TIME = "t"
_LATEST_S = 60.0
_READ = frozenset().union(TEXTS, *NUMBERS.values()) | {"mediaType", "isRemote"}


def parse_rtcstats(text: str, source: str) -> StatsDump:
    """Reads the connections of a file; skips lines that are not events.

    Raises:
        InputError: the version is not supported, or there are too many values.
    """
    lines = io.StringIO(text)
    if not text.startswith(MAGIC):
        return _parse_events(lines, source, "Jitsi rtcstats")
    lines.readline()
    second = lines.readline(LONGEST_LINE)
    about = parse_json(second, f"{source}: line 2") if second else None
    version = about.get("fileFormat") if isinstance(about, Mapping) else None
    if version not in VERSIONS:
        raise InputError(
            f"{source}: rtcstats file format {version!s:.20}; only {VERSIONS[0]} and {VERSIONS[1]} are read"
        )
    return _parse_events(lines, source, "rtcstats")


def is_event(value: Any) -> bool:
    """True for an event: method, connection or null, value, optional others, and a time."""
    return (
        isinstance(value, list)
        and len(value) >= 4
        and isinstance(value[0], str | int)
        and isinstance(value[1], str | None)
        and number(value[-1], lowest=-1e15, highest=1e15) is not None
    )


def _parse_events(lines: Iterable[str], source: str, name: str) -> StatsDump:
    builder = DumpBuilder(name, source)
    connections: dict[str, _Connection] = {}
    page, time_ms = "", 0.0
    for line in itertools.islice(lines, _MOST_EVENTS):
        event = _event(line) if len(line) <= LONGEST_LINE else None
        if event is None:
            continue
        method, identifier, value, *others, stamp = event
        time_ms = stamp if stamp >= _LEAST_TIME_MS else time_ms + stamp
        if identifier is None:
            if method in ("create", "connectionInfo") and isinstance(value, Mapping):
                agent = short(value.get("userAgent")) or _brands(value.get("userAgentData"))
                builder.user_agent = builder.user_agent or agent
                page = page or short(value.get("url"))
            continue
        if method not in ("create", *_GET_STATS):
            continue
        identifier = short(identifier)
        dumped = builder.connection(identifier, identifier, page)
        if dumped is None:
            continue
        if method in _GET_STATS:
            if identifier not in connections:
                connections[identifier] = _Connection(dumped)
            connections[identifier].add(time_ms / 1e3, value, builder)
        elif others:
            dumped.url = short(others[0])
    return builder.dump()


class _Connection:
    """A connection and its last report, to which the next report may be a difference."""

    def __init__(self, dumped: DumpedConnection) -> None:
        self.dumped = dumped
        self._last: dict[str, dict[str, Any]] = {}

    def add(self, time_s: float, report: Any, builder: DumpBuilder) -> None:
        """Adds a report. The times of its objects, or its common time, take precedence over `time_s`, as a busy page
        records a report late.
        """
        if not isinstance(report, Mapping):
            return
        of_all = _time_s(report.get(_TIME, report.get("timestamp")), time_s)
        times: dict[str, float] = {}
        if any(key in self._last and _is_listed(changed) for key, changed in report.items()):
            self._last = {key: members for key, members in self._last.items() if key in report}
        for identifier, changed in report.items():
            identifier = short(identifier)
            if changed is None:
                self._last.pop(identifier, None)
            elif isinstance(changed, Mapping) and (identifier in self._last or len(self._last) < MOST_OBJECTS):
                self._last.setdefault(identifier, {}).update(_named(changed))
                times[identifier] = _time_s(changed.get("timestamp", changed.get(_TIME)), of_all)
        builder.take(1 + sum(map(len, self._last.values())))
        for identifier, members in self._last.items():
            standard = standard_members(identifier, members)
            self.dumped.reports.add_object(times.get(identifier, of_all), identifier, standard)


def _is_listed(changed: Any) -> bool:
    """True if a report lists an unchanged object, and thus all objects that still exist."""
    return isinstance(changed, Mapping) and ("type" in changed or changed == {"timestamp": 0})


def _time_s(time_ms: Any, otherwise_s: float) -> float:
    """Converts a time in ms since 1970 to seconds; `otherwise_s` if it is far from that."""
    found = number(time_ms)
    return found / 1e3 if found is not None and abs(found / 1e3 - otherwise_s) < _LATEST_S else otherwise_s


def _brands(data: Any) -> str:
    brands = data.get("brands") if isinstance(data, Mapping) else None
    known = [brand for brand in brands if isinstance(brand, Mapping)] if isinstance(brands, list) else []
    return ", ".join(f"{short(brand.get('brand'))} {short(brand.get('version'))}" for brand in known[:5])


def _named(changed: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for member, value in changed.items():
        name = _MEMBERS.get(member, member)
        if name == "type":
            named[name] = _TYPES.get(value, value) if isinstance(value, int | str) else None
        elif name in _READ and isinstance(value, int | float | str):
            named[name] = value
    return named


def _event(line: str) -> list[Any] | None:
    if not line.startswith("["):
        return None
    try:
        event = json.loads(line, parse_constant=lambda _: None)
        if isinstance(event, list) and len(event) > 2 and isinstance(event[2], str) and event[2].startswith("{"):
            # Some clients write a value as text.
            event[2] = json.loads(event[2], parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return event if is_event(event) else None
