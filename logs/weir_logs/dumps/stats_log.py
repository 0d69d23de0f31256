"""Reads logs of getStats by pages and programs: JSON lines or a list, in any of the usual forms.

A report is a list of objects with `type`, an object of them by ID, a list of pairs of ID and object, or one object per
line. It may be inside an object with a time and the name of its connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from weir_eval.json_lines import number
from weir_eval.webrtc_stats import NUMBERS, StatsReports
from weir_logs.dumps.dump import DumpBuilder, StatsDump, iso_seconds, short
from weir_logs.dumps.stats_names import standard_members, type_of

_REPORTS = ("stats", "report", "reports", "getStats", "rtcStats", "data", "values", "value", "result", "payload")
_CONNECTIONS = (
    "pc", "pcId", "pc_id", "pcid", "peerConnection", "peerConnectionId", "connection", "connectionId", "peerId", "peer",
)  # fmt: skip
_TIMES = ("timestamp", "time", "ts", "t", "date", "at", "time_ms", "timeMs", "timestamp_ms", "time_us", "time_s")
_LEAST_SINCE_1970 = 1e8
_DEEPEST = 4
# Shorter intervals between reports do not occur in practice.
_SHORTEST_STEP_S = 0.02


def is_stats_log(value: Any) -> bool:
    """True for a line with an object of getStats, or a list of them."""
    return any(type_of(entry["id"], entry["type"]) in NUMBERS for _, _, entry in _reports(value, None, "", 0))


def parse_stats_log(values: Iterable[Any], source: str) -> StatsDump:
    """The connections of a log; skips lines without a report or a time.

    Raises:
        InputError: the log has too many values.
    """
    builder = DumpBuilder("getStats", source)
    for value in values:
        for name, time_s, entry in _reports(value, None, "", 0):
            own_s = _time_s("", entry.get("timestamp"))
            if own_s is None or (own_s < _LEAST_SINCE_1970 and time_s is not None):
                own_s = time_s
            if own_s is None or (connection := builder.connection(name, name or "1")) is None:
                continue
            builder.take(len(entry))
            identifier = entry["id"]
            connection.reports.add_object(own_s, identifier, standard_members(identifier, entry))
    dump = builder.dump()
    for connection in dump.connections:
        _make_seconds(connection.reports)
    return dump


def _make_seconds(reports: StatsReports) -> None:
    """Corrects times since the start of a page that are in seconds but were read as milliseconds."""
    series = [times for o in reports.objects.values() for times, _ in (*o.numbers.values(), *o.texts.values())]
    longest = max(series, key=len, default=[])
    if len(longest) > 1 and longest[-1] < _LEAST_SINCE_1970 and np.median(np.diff(longest)) < _SHORTEST_STEP_S:
        for times in series:
            times[:] = [1e3 * time_s for time_s in times]


def _reports(
    value: Any, time_s: float | None, name: str, depth: int
) -> Iterator[tuple[str, float | None, dict[str, Any]]]:
    """Yields connection, time and object for each object of the reports in a value."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Mapping):
                item = {"id": item[0], **item[1]}
            yield from _reports(item, time_s, name, depth + 1)
    elif isinstance(value, Mapping):
        if (found := _statistics(value)) is not None:
            yield _name(value, name), time_s, {"id": _id(value), **found}
            return
        times = (_time_s(key, value[key]) for key in _TIMES if key in value)
        time_s = next((found for found in times if found is not None), time_s)
        name = _name(value, name)
        for key, item in value.items():
            if isinstance(item, Mapping) and (found := _statistics(item)) is not None:
                yield name, time_s, {"id": short(key), **found}
            elif isinstance(item, list | Mapping):
                yield from _reports(item, time_s, name if key in _REPORTS else short(key), depth + 1)


def _statistics(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The members of an object of a report; None for objects that contain a report, such as log events with a `type`.

    Flutter and the native SDKs have the members inside `values` or `members`.
    """
    kind_of_object = value.get("type")
    if not isinstance(kind_of_object, str) or not isinstance(value.get("id", ""), str):
        return None
    inside = next((value[key] for key in ("values", "members") if isinstance(value.get(key), Mapping)), None)
    if inside is not None and kind_of_object in NUMBERS and "type" not in inside:
        return {"timestamp": value.get("timestamp_us", value.get("timestampUs")), **value, **inside}
    return None if any(isinstance(value.get(key), list | Mapping) for key in _REPORTS) else value


def _name(value: Mapping[str, Any], name: str) -> str:
    return next((short(str(value[key])) for key in _CONNECTIONS if isinstance(value.get(key), str | int)), name)


def _id(value: Mapping[str, Any]) -> str:
    return f"{value['type']}-{value.get('ssrc') or value.get('kind') or ''}"[:100]


def _time_s(key: str, value: Any) -> float | None:
    """Converts a time to s: unit by key, else by magnitude; also ISO 8601. Small numbers are ms since page start."""
    if isinstance(value, str):
        return iso_seconds(value)
    found = number(value, lowest=0)
    if found is None:
        return None
    units = {"time_us": 1e6, "time_s": 1.0, "time_ms": 1e3, "timeMs": 1e3, "timestamp_ms": 1e3}
    if key in units:
        return found / units[key]
    for least, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (_LEAST_SINCE_1970, 1.0)):
        if found >= least:
            return found / unit
    return found / 1e3
