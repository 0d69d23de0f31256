"""The events of a call for any number of viewers: each gets them in order, whoever comes late gets the recent ones.

Live samples are kept for a minute, what happened (states, notes, changes) for the whole call. A viewer that does not
keep up is cut off, not waited for: it comes back with the number of the last event it has.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

HISTORY_US = 62_000_000
MAX_SAMPLES = 6000
MAX_HAPPENINGS = 400
MAX_BACKLOG = 1500
_SAMPLES = frozenset(["link", "estimate", "stats"])


class Viewer:
    """One viewer's place in the feed."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._waiting = deque(events)
        self._wake = asyncio.Event()
        if events:
            self._wake.set()
        self.lagging = False

    def put(self, event: dict[str, Any]) -> None:
        """Adds an event; a viewer with too many waiting becomes `lagging` and gets no more."""
        if len(self._waiting) >= MAX_BACKLOG + MAX_SAMPLES:
            self.lagging = True
        else:
            self._waiting.append(event)
        self._wake.set()

    async def take(self) -> list[dict[str, Any]]:
        """Waits for events and takes all that are there."""
        await self._wake.wait()
        self._wake.clear()
        taken = list(self._waiting)
        self._waiting.clear()
        return taken


class Feed:
    """Numbers events, keeps the recent ones and passes them on. All calls from one event loop."""

    def __init__(self) -> None:
        self._number = 0
        self._samples: deque[dict[str, Any]] = deque(maxlen=MAX_SAMPLES)
        self._happenings: deque[dict[str, Any]] = deque(maxlen=MAX_HAPPENINGS)
        self._viewers: set[Viewer] = set()

    def __len__(self) -> int:
        return len(self._viewers)

    def clear(self) -> None:
        """Forgets what was kept: another call begins. Numbers go on."""
        self._samples.clear()
        self._happenings.clear()

    def publish(self, event: dict[str, Any]) -> None:
        """Passes an event on; it gets its number as `seq`."""
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
        """A new viewer; it begins with what is kept of the events after number `after`."""
        kept = sorted([*self._happenings, *self._samples], key=lambda event: event["seq"])
        viewer = Viewer([event for event in kept if event["seq"] > after])
        self._viewers.add(viewer)
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """The viewer gets no more; it need not have joined."""
        self._viewers.discard(viewer)
