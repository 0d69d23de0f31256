"""getStats() reports of a browser, libwebrtc or a dump as time series, with the names of W3C webrtc-stats. Skips
unknown, infinite and out-of-bounds values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir_eval.json_lines import number, read_objects

Array = NDArray[np.float64]

_RECEIVED = (
    "bytesReceived", "headerBytesReceived", "packetsReceived", "packetsLost", "jitter", "framesReceived",
    "framesDecoded", "keyFramesDecoded", "framesDropped", "framesPerSecond", "frameWidth", "frameHeight", "freezeCount",
    "totalFreezesDuration", "qpSum", "jitterBufferDelay", "jitterBufferEmittedCount", "nackCount", "pliCount",
    "totalDecodeTime", "totalSamplesReceived", "concealedSamples", "silentConcealedSamples",
    "estimatedPlayoutTimestamp", "jitterBufferTargetDelay", "jitterBufferMinimumDelay",
)  # fmt: skip
_SENT = (
    "bytesSent", "headerBytesSent", "packetsSent", "retransmittedPacketsSent", "retransmittedBytesSent",
    "targetBitrate", "framesEncoded", "framesSent", "framesPerSecond", "frameWidth", "frameHeight", "qpSum",
    "totalEncodeTime", "nackCount", "pliCount", "keyFramesEncoded", "totalPacketSendDelay",
)  # fmt: skip
NUMBERS: Mapping[str, frozenset[str]] = {
    "inbound-rtp": frozenset(_RECEIVED),
    "outbound-rtp": frozenset(_SENT),
    "remote-inbound-rtp": frozenset(("packetsLost", "jitter", "roundTripTime", "fractionLost")),
    "remote-outbound-rtp": frozenset(("bytesSent", "packetsSent", "roundTripTime")),
    "candidate-pair": frozenset(
        ("availableOutgoingBitrate", "availableIncomingBitrate", "currentRoundTripTime", "bytesSent", "bytesReceived")
    ),
    "transport": frozenset(("bytesSent", "bytesReceived", "packetsSent", "packetsReceived")),
    "media-source": frozenset(("framesPerSecond", "width", "height", "frames")),
    # libwebrtc before 2023 counted freezes here.
    "track": frozenset(
        ("freezeCount", "totalFreezesDuration", "frameWidth", "frameHeight", "framesReceived", "framesDropped")
    ),
    "codec": frozenset(),
    # Not W3C's: a page that can read capture times reports one for each frame that it renders.
    "rendered-frame": frozenset(("endToEndDelay",)),
}
"""The types of statistics that are read, and their numeric members."""
TEXTS = frozenset((
    "kind", "ssrc", "qualityLimitationReason", "mimeType", "codecId", "state", "selectedCandidatePairId", "rid",
    "trackId", "contentType", "mediaSourceId",
))  # fmt: skip
"""The text members that are read, for any type."""

MOST_OBJECTS = 1000
_LONGEST_TEXT = 200


@dataclass(eq=False)
class StatsObject:
    """One object of the reports over time; times are in seconds of the writer's clock.

    A number or text that a report lacks has no sample. Texts have one sample per change.
    """

    id: str
    type: str
    numbers: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    texts: dict[str, tuple[list[float], list[str]]] = field(default_factory=dict)
    _arrays: dict[str, tuple[Array, Array]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def kind(self) -> str:
        """video or audio; else empty."""
        return self.text("kind")

    @property
    def ssrc(self) -> str:
        """SSRC in decimal; empty if it has none."""
        return self.text("ssrc")

    def directed(self, quantity: str) -> str:
        """The name of a stream's counter of `bytes` or `packets`, as in bytesSent or bytesReceived."""
        return f"{quantity}Sent" if self.type == "outbound-rtp" else f"{quantity}Received"

    def add(self, time_s: float, name: str, value: Any) -> None:
        """Adds a value; skips unknown names, and values not later than the last one."""
        if name == "mediaType":
            name = "kind"
        elif name == "ssrc" and isinstance(value, int):
            value = str(value & 0xFFFFFFFF)
        if name in NUMBERS[self.type]:
            found = number(value)
            if found is not None:
                times, values = self.numbers.setdefault(name, ([], []))
                if not times or time_s > times[-1]:
                    times.append(time_s)
                    values.append(float(found))
        elif name in TEXTS and isinstance(value, str):
            times, texts = self.texts.setdefault(name, ([], []))
            if not texts or (time_s > times[-1] and value[:_LONGEST_TEXT] != texts[-1]):
                times.append(time_s)
                texts.append(value[:_LONGEST_TEXT])

    def text(self, name: str) -> str:
        """The last value of a text; empty if there is none."""
        _, values = self.texts.get(name, ([], []))
        return values[-1] if values else ""

    def series(self, name: str) -> tuple[Array, Array]:
        """Times and values of a number, both of shape [n], which must not be changed."""
        times, values = self.numbers.get(name, ([], []))
        if name not in self._arrays or len(self._arrays[name][0]) != len(times):
            self._arrays[name] = np.array(times), np.array(values)
        return self._arrays[name]

    def counter(self, name: str) -> tuple[Array, Array]:
        """The series of a counter. If it falls because its stream restarted with the same ID, it continues from the
        previous value. `packetsLost` restarts only with `packetsReceived`, as late packets lower it, too.
        """
        times, values = self.series(name)
        steps = np.diff(values)
        began_anew = steps < 0
        if name == "packetsLost":
            packet_times, packets = self.series("packetsReceived")
            began_anew &= np.isin(times[1:], packet_times[1:][np.diff(packets) < 0])
        if not began_anew.any():
            return times, values
        return times, values[0] + np.concatenate([[0.0], np.cumsum(np.where(began_anew, values[1:], steps))])

    def rate(self, name: str) -> tuple[Array, Array]:
        """The growth of a counter per second: end times of intervals, and rates, both of shape [at most n - 1].
        Excludes intervals in which the counter was reset.
        """
        times, values = self.series(name)
        steps = np.diff(values)
        kept = steps >= 0
        return times[1:][kept], (steps / np.diff(times))[kept]

    def growth(self, name: str, start_s: float, end_s: float, zero_s: float | None = None) -> float | None:
        """The growth of a counter between two times, linearly interpolated; None without a sample. The counter was 0 at
        `zero_s`, by default until its first sample.
        """
        times, values = self.counter(name)
        if not len(times):
            return None
        if zero_s is not None and zero_s < times[0]:
            times, values = np.insert(times, 0, zero_s), np.insert(values, 0, 0.0)
        at_start = np.interp(start_s, times, values, left=0.0)
        return max(0.0, float(np.interp(end_s, times, values) - at_start))


class StatsReports:
    """Reports over time: `objects` by their id, in the order of their first appearance."""

    def __init__(self) -> None:
        self.objects: dict[str, StatsObject] = {}

    def object(self, identifier: str, kind_of_object: str) -> StatsObject | None:
        """Returns the object with this ID and type, and creates it if needed; None for a type that is not read, an ID
        of another type, or beyond MOST_OBJECTS.
        """
        if kind_of_object not in NUMBERS:
            return None
        identifier = identifier[:_LONGEST_TEXT]
        found = self.objects.get(identifier)
        if found is None and len(self.objects) < MOST_OBJECTS:
            found = self.objects[identifier] = StatsObject(identifier, kind_of_object)
        return found if found is not None and found.type == kind_of_object else None

    def add(self, time_s: float, report: Any) -> None:
        """Adds a report: a list of objects with `id` and `type`, or a mapping of them by id."""
        if isinstance(report, Mapping):
            report = [
                {"id": identifier} | dict(value) for identifier, value in report.items() if isinstance(value, Mapping)
            ]
        if not isinstance(report, list):
            return
        for entry in report:
            if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
                self.add_object(time_s, entry["id"], entry)

    def add_object(self, time_s: float, identifier: str, members: Mapping[str, Any]) -> None:
        """Adds an object of a report; `members` has its `type`."""
        found = self.object(identifier, str(members.get("type")))
        if found is not None:
            for name, value in members.items():
                found.add(time_s, str(name), value)

    def of(self, kind_of_object: str, kind: str | None = None) -> list[StatsObject]:
        """The objects of a type; with `kind`, those of video or audio only."""
        return [o for o in self.objects.values() if o.type == kind_of_object and kind in (None, o.kind)]

    def freeze_counters(self) -> list[StatsObject]:
        """The objects that count the freezes of incoming video: streams, or in older versions tracks."""
        streams = [stream for stream in self.of("inbound-rtp", "video") if "freezeCount" in stream.numbers]
        return streams or [track for track in self.of("track") if "freezeCount" in track.numbers]

    def selected_pair(self) -> StatsObject | None:
        """The candidate pair of the media: the one that the transport selects, else the one with the most bytes."""
        pairs = self.of("candidate-pair")
        for transport in self.of("transport"):
            named = self.objects.get(transport.text("selectedCandidatePairId"))
            if named is not None and named.type == "candidate-pair":
                return named
        return max(pairs, key=carried_bytes, default=None)

    def pair_with(self, name: str) -> StatsObject | None:
        """The selected candidate pair if it has this number, else another pair that has it."""
        pairs = [self.selected_pair(), *self.of("candidate-pair")]
        return next((pair for pair in pairs if pair is not None and name in pair.numbers), None)


def read_stats_log(path: Path) -> StatsReports:
    """Reads a log of lines `{"time_us": ..., "report": [...]}`; empty if there is no such file.

    Raises:
        InputError: the file cannot be read, or is too large for a call.
    """
    collected = StatsReports()
    for line in read_objects(path):
        at = number(line.get("time_us"))
        if at is not None:
            collected.add(at / 1e6, line.get("report"))
    return collected


def carried_bytes(carrier: StatsObject) -> float:
    """The bytes that a stream or candidate pair has sent and received."""
    return sum(float(values[-1]) for name in ("bytesSent", "bytesReceived") if len(values := carrier.series(name)[1]))
