"""From the events of a call to what viewers get: only what the page shows, in bounded size, as valid JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from weir.qoe_eval.call.logs.json_lines import number

MAX_TEXT = 2000
MAX_FIELDS = 40

# Names of W3C webrtc-stats that the page shows. A whole report is tens of kilobytes.
_STATS = {
    "inbound-rtp": (
        "kind", "ssrc", "bytesReceived", "headerBytesReceived", "packetsReceived", "packetsLost", "framesPerSecond",
        "frameWidth", "frameHeight", "framesDecoded", "freezeCount", "totalFreezesDuration", "timestamp",
    ),
    "outbound-rtp": (
        "kind", "ssrc", "bytesSent", "headerBytesSent", "framesPerSecond", "frameWidth", "frameHeight",
        "qualityLimitationReason", "targetBitrate", "timestamp",
    ),
    "candidate-pair": (
        "availableOutgoingBitrate", "availableIncomingBitrate", "currentRoundTripTime", "nominated", "state",
        "timestamp",
    ),
}  # fmt: skip
_KINDS = frozenset(["state", "link", "estimate", "stats", "note", "end"])


def for_viewers(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """The event as viewers get it, with `time_us` (CLOCK_MONOTONIC) in any case; None for one that they do not need."""
    kind = event.get("type")
    if kind not in _KINDS or (kind == "link" and event.get("direction") != "forward"):
        return None
    shown = {name: _plain(value) for name, value in list(event.items())[:MAX_FIELDS] if name != "report"}
    if kind == "stats":
        shown["report"] = _stats(event.get("report"))
    if not isinstance(shown.get("time_us"), int | float):
        shown["time_us"] = now_us()
    return shown


def now_us() -> int:
    """CLOCK_MONOTONIC, microseconds: the clock of all events."""
    return time.monotonic_ns() // 1000


def _stats(report: Any) -> list[dict[str, Any]]:
    entries = []
    for entry in report if isinstance(report, list) else []:
        names = _STATS.get(str(entry.get("type"))) if isinstance(entry, Mapping) else None
        if names:
            entries.append({"type": entry["type"]} | {name: _plain(entry[name]) for name in names if name in entry})
    return entries[:MAX_FIELDS]


def _plain(value: Any, depth: int = 3) -> Any:
    """The value as JSON has it: texts cut, numbers finite, objects and lists of bounded depth and length."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return number(value)
    if depth > 0 and isinstance(value, Mapping):
        return {str(name)[:100]: _plain(inner, depth - 1) for name, inner in list(value.items())[:MAX_FIELDS]}
    if depth > 0 and isinstance(value, list | tuple):
        return [_plain(inner, depth - 1) for inner in value[:MAX_FIELDS]]
    return str(value)[:MAX_TEXT]
