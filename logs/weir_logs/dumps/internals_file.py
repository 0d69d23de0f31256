"""Reads the JSON of `chrome://webrtc-internals`, of any version: a series of values for each member of an object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_eval.json_lines import number
from weir_eval.webrtc_stats import NUMBERS, TEXTS
from weir_logs.dumps.dump import DumpBuilder, DumpedConnection, StatsDump, iso_seconds, short
from weir_logs.dumps.stats_names import (
    LEGACY_RATES,
    is_legacy,
    kind_of,
    legacy_place,
    standard_name,
    standard_value,
    type_of,
)

_MOST_VALUES = 100_000
_TIME = "timestamp"
_SENDER = "_send-googFrameRateSent"


def parse_internals(data: Any, source: str) -> StatsDump:
    """The connections of a dump.

    Raises:
        InputError: it has no `PeerConnections`, or too many values.
    """
    found = data.get("PeerConnections") if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping):
        raise InputError(f"{source}: no PeerConnections in it; this is no dump of chrome://webrtc-internals")
    builder = DumpBuilder("webrtc-internals", source)
    builder.user_agent = short(data.get("UserAgent"))
    for identifier, content in found.items():
        if isinstance(content, Mapping):
            connection = builder.connection(identifier, short(identifier), short(content.get("url")))
            if connection is not None:
                _read_stats(connection, content.get("stats"), builder)
    return builder.dump()


def _read_stats(connection: DumpedConnection, stats: Any, builder: DumpBuilder) -> None:
    if not isinstance(stats, Mapping):
        return
    times_of: dict[str, list[float] | None] = {}
    senders = [key.rpartition("-")[0] for key in stats if key.endswith(_SENDER)]
    sender = senders[0] if len(senders) == 1 else ""
    for key, member in stats.items():
        identifier, separator, written = key.rpartition("-")
        if not separator or not isinstance(member, Mapping):
            continue
        legacy = is_legacy(identifier)
        kind_of_object = type_of(identifier, member.get("statsType") or _written_type(stats, identifier))
        name, scale = standard_name(identifier, kind_of_object, written)
        if legacy and (place := legacy_place(identifier, written, sender)):
            identifier, kind_of_object, name, scale = place
        if name not in TEXTS and name != "mediaType" and name not in NUMBERS.get(kind_of_object, ()):
            continue
        found = connection.reports.object(identifier, kind_of_object)
        if found is None:
            continue
        if identifier not in times_of:
            times_of[identifier] = _times_of_object(stats.get(f"{identifier}-{_TIME}"), builder)
            if kind := kind_of(identifier):
                found.add(0.0, "kind", kind)
            if ssrc := re.match(r"ssrc_(\d{1,10})_", identifier):
                found.add(0.0, "ssrc", ssrc[1])
        values = _values(member, builder)
        times = _times(member, times_of[identifier], len(values))
        if legacy and name != "ssrc":
            values = [standard_value(value, scale) for value in values]
        if legacy and written in LEGACY_RATES:
            values = _counted(times, values)
        for time_s, value in zip(times, values, strict=False):
            found.add(time_s, name, value)


def _counted(times_s: Sequence[float], per_s: Sequence[Any]) -> list[float]:
    """A counter that grows by these rates."""
    rates = [number(value, lowest=0) or 0.0 for value in per_s[: len(times_s)]]
    return np.cumsum(rates * np.diff(times_s, prepend=times_s[:1])).tolist() if rates else []


def _written_type(stats: Mapping[str, Any], identifier: str) -> str | None:
    """The type of an object if it is one of its members, as in exports of testRTC."""
    member = stats.get(f"{identifier}-type")
    written = str(member.get("values")) if isinstance(member, Mapping) else ""
    found = re.match(r'\["([a-z-]{1,30})"', written)
    return found[1] if found else None


def _values(member: Mapping[str, Any], builder: DumpBuilder) -> list[Any]:
    """The values, which every version so far writes as JSON text; also accepts a plain list."""
    values = member.get("values")
    if isinstance(values, str):
        # Estimate the number of values before parsing, which takes memory.
        builder.take(values.count(",") + values.count("[") + values.count("{"))
        try:
            values = json.loads(values, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return []
    return values[:_MOST_VALUES] if isinstance(values, list) else []


def _times_of_object(timestamps: Any, builder: DumpBuilder) -> list[float] | None:
    """The times of an object in seconds; None if it has none, or one is invalid."""
    if not isinstance(timestamps, Mapping):
        return None
    found = [number(value, lowest=0) for value in _values(timestamps, builder)]
    return None if None in found else [time_ms / 1e3 for time_ms in found if time_ms is not None]


def _times(member: Mapping[str, Any], of_object: list[float] | None, count: int) -> Sequence[float]:
    """Times in seconds. A member that appeared later than its object has fewer values than times, and uses the last
    times.
    """
    if of_object is not None and len(of_object) >= count:
        return of_object[len(of_object) - count :]
    start_s, end_s = _seconds(member.get("startTime")), _seconds(member.get("endTime"))
    if start_s is None or end_s is None or end_s < start_s:
        return []
    return [float(time_s) for time_s in np.linspace(start_s, end_s, count)]


def _seconds(text: Any) -> float | None:
    """Parses a time in ISO 8601, or in ms since 1970, as in exports of testRTC."""
    time_ms = number(text, lowest=0)
    return time_ms / 1e3 if time_ms is not None else iso_seconds(text)
