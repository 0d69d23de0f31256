"""The events of a call for any number of viewers, in order; a late viewer gets the recent ones.

Samples are kept for a minute; states, notes and changes for the whole call. A viewer that does not keep up is
disconnected, and reconnects with the number of its last event. Events contain only what the page shows, in bounded
size.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

from weir_calls.link.child_process import monotonic_us
from weir_eval.json_lines import number

Event = dict[str, Any]

HISTORY_US = 62_000_000
MAX_SAMPLES = 6000
MAX_HAPPENINGS = 400
MAX_BACKLOG = 1500
MAX_TEXT = 2000
MAX_FIELDS = 40

_SAMPLES = frozenset(["link", "estimate", "stats", "progress"])
_KINDS = _SAMPLES | {"state", "note", "end"}
# Members that viewers do not get: reports are reduced, and paths of files stay on this machine.
_NOT_SHOWN = ("report", "frames")
# The members of W3C webrtc-stats that the page shows. A whole report has tens of kilobytes.
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


class Viewer:
    """The queue of one viewer."""

    def __init__(self, events: list[Event]) -> None:
        self._waiting = deque(events)
        self._wake = asyncio.Event()
        if events:
            self._wake.set()
        self.lagging = False

    def put(self, event: Event) -> None:
        """Adds an event; a viewer with too many waiting becomes `lagging` and gets no more."""
        if len(self._waiting) >= MAX_BACKLOG + MAX_SAMPLES:
            self.lagging = True
        else:
            self._waiting.append(event)
        self._wake.set()

    async def take(self) -> list[Event]:
        """Waits for events and returns all that are queued."""
        await self._wake.wait()
        self._wake.clear()
        events = list(self._waiting)
        self._waiting.clear()
        return events


class Feed:
    """Numbers events, keeps the recent ones and forwards them. All methods must be called from one event loop."""

    def __init__(self) -> None:
        self._number = 0
        self._samples: deque[Event] = deque(maxlen=MAX_SAMPLES)
        self._happenings: deque[Event] = deque(maxlen=MAX_HAPPENINGS)
        self._viewers: set[Viewer] = set()

    def __len__(self) -> int:
        return len(self._viewers)

    def clear(self) -> None:
        """Drops the kept events, for a new call. Numbers continue."""
        self._samples.clear()
        self._happenings.clear()

    def publish(self, event: Event) -> None:
        """Forwards an event; its number is `seq`."""
        self._number += 1
        event = event | {"seq": self._number}
        if event["type"] in _SAMPLES:
            self._samples.append(event)
            while event["time_us"] - self._samples[0]["time_us"] > HISTORY_US:
                self._samples.popleft()
        else:
            self._happenings.append(event)
        for viewer in self._viewers:
            viewer.put(event)

    def join(self, after: int = 0) -> Viewer:
        """Adds a viewer, which begins with the kept events after number `after`."""
        kept = sorted([*self._happenings, *self._samples], key=lambda event: event["seq"])
        viewer = Viewer([event for event in kept if event["seq"] > after])
        self._viewers.add(viewer)
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """Removes a viewer if it is there."""
        self._viewers.discard(viewer)


def for_viewers(event: Mapping[str, Any]) -> Event | None:
    """The event for viewers, always with `time_us` (CLOCK_MONOTONIC); None if they do not need it."""
    kind = event.get("type")
    if kind not in _KINDS or (kind == "link" and event.get("direction") != "forward"):
        return None
    shown = {name: _plain(value) for name, value in list(event.items())[:MAX_FIELDS] if name not in _NOT_SHOWN}
    if kind == "stats":
        shown["report"] = _stats(event.get("report"))
    if not isinstance(shown.get("time_us"), int | float):
        shown["time_us"] = monotonic_us()
    return shown


def _stats(report: Any) -> list[Event]:
    entries = []
    for entry in report if isinstance(report, list) else []:
        names = _STATS.get(str(entry.get("type"))) if isinstance(entry, Mapping) else None
        if names:
            entries.append({"type": entry["type"]} | {name: _plain(entry[name]) for name in names if name in entry})
    return entries[:MAX_FIELDS]


def _plain(value: Any, depth: int = 3) -> Any:
    """The value as JSON with bounded texts, depth and lengths, and finite numbers."""
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
