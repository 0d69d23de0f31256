"""A dump of getStats() reports, and the JSON form that `chrome://webrtc-internals` saves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from weir.errors import InputError
from weir.qoe_eval.call.webrtc_stats import NUMBERS, TEXTS, StatsReports
from weir.qoe_eval.json_lines import number

MOST_CONNECTIONS = 50
MOST_SAMPLES = 4_000_000
"""Values of all reports together: an hour of thirty streams, read in seconds."""
LONGEST_TEXT = 300
# Arrays, objects and texts, of which each takes far more memory than its two characters.
_MOST_PARTS = 2_000_000
_MOST_VALUES = 100_000
_TIME = "timestamp"


@dataclass
class DumpedConnection:
    """One peer connection: its id, the page that made it, its statistics (times in s since 1970)."""

    id: str
    url: str = ""
    reports: StatsReports = field(default_factory=StatsReports)


@dataclass
class StatsDump:
    """A dump; `format` is its name for people, `user_agent` may be empty. Connections without statistics are excluded;
    `connections_left_out` counts those beyond MOST_CONNECTIONS.
    """

    format: str
    user_agent: str
    connections: list[DumpedConnection]
    connections_left_out: int = 0


def parse_json(text: str, source: str) -> Any:
    """JSON values; NaN and infinities become null.

    Raises:
        InputError: it is invalid, nested too deeply, or of too many parts.
    """
    if text.count("{") + text.count("[") + text.count('"') // 2 > _MOST_PARTS or text.count(",") > 2 * MOST_SAMPLES:
        raise InputError(f"{source}: has more parts than a dump of hours; save one of a shorter call")
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply; this is not a dump") from None
    except ValueError as error:
        raise InputError(f"{source}: not valid JSON ({error}); was the dump saved completely?") from None


class SampleBudget:
    """Counts the values of a dump, so that no dump takes minutes to read."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._left = MOST_SAMPLES

    def take(self, samples: int) -> None:
        """Raises:
        InputError: these and those before are more than MOST_SAMPLES.
        """
        self._left -= samples
        if self._left < 0:
            raise InputError(f"{self._source}: over {MOST_SAMPLES:,} values; save a dump of a shorter call")


def short(value: Any) -> str:
    """A text of a dump, cut to the length that a page shows; empty for anything else."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""


def parse_internals(data: Any, source: str) -> StatsDump:
    """The connections of a dump.

    Raises:
        InputError: it has no `PeerConnections`.
    """
    found = data.get("PeerConnections") if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping):
        raise InputError(f"{source}: no PeerConnections in it; this is no dump of chrome://webrtc-internals")
    connections, budget = [], SampleBudget(source)
    for identifier, content in list(found.items())[:MOST_CONNECTIONS]:
        if isinstance(content, Mapping):
            connection = DumpedConnection(short(identifier), short(content.get("url")))
            _read_stats(connection, content.get("stats"), budget)
            connections.append(connection)
    left_out = max(0, len(found) - MOST_CONNECTIONS)
    return StatsDump("webrtc-internals", short(data.get("UserAgent")), connections, left_out)


def _read_stats(connection: DumpedConnection, stats: Any, budget: SampleBudget) -> None:
    if not isinstance(stats, Mapping):
        return
    times_of: dict[str, list[float] | None] = {}
    for key, member in stats.items():
        identifier, separator, name = key.rpartition("-")
        if not separator or not isinstance(member, Mapping):
            continue
        kind_of_object = str(member.get("statsType"))
        if name not in TEXTS and name != "mediaType" and name not in NUMBERS.get(kind_of_object, ()):
            continue
        found = connection.reports.object(identifier, kind_of_object)
        if found is None:
            continue
        if identifier not in times_of:
            times_of[identifier] = _times_of_object(stats.get(f"{identifier}-{_TIME}"), budget)
        values = _values(member, budget)
        times = _times(member, times_of[identifier], len(values))
        for time_s, value in zip(times, values, strict=False):
            found.add(time_s, name, value)


def _values(member: Mapping[str, Any], budget: SampleBudget) -> list[Any]:
    """The values, which every version so far writes as JSON text; a plain list is accepted too."""
    values = member.get("values")
    if isinstance(values, str):
        # One more than the commas, if these are plain values: counted before they take memory.
        budget.take(values.count(",") + values.count("[") + values.count("{"))
        try:
            values = json.loads(values, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return []
    return values[:_MOST_VALUES] if isinstance(values, list) else []


def _times_of_object(timestamps: Any, budget: SampleBudget) -> list[float] | None:
    """The times of an object in seconds; None where it has none, or one that is no time."""
    if not isinstance(timestamps, Mapping):
        return None
    found = [number(value, lowest=0) for value in _values(timestamps, budget)]
    return None if None in found else [time_ms / 1e3 for time_ms in found if time_ms is not None]


def _times(member: Mapping[str, Any], of_object: list[float] | None, count: int) -> Sequence[float]:
    """Times in seconds. A member that appeared later than its object has fewer values than times; the last times are
    its.
    """
    if of_object is not None and len(of_object) >= count:
        return of_object[len(of_object) - count :]
    start_s, end_s = _seconds(member.get("startTime")), _seconds(member.get("endTime"))
    if start_s is None or end_s is None or end_s < start_s:
        return []
    return [float(time_s) for time_s in np.linspace(start_s, end_s, count)]


def _seconds(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
