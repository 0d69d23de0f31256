"""A dump of getStats() reports, and the limits of what is read from one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from weir_cli.errors import InputError
from weir_eval.webrtc_stats import StatsReports

MOST_CONNECTIONS = 50
MOST_SAMPLES = 4_000_000
"""Limit of the values of all reports: an hour of thirty streams, read in seconds."""
LONGEST_TEXT = 300
# Limit of arrays, objects and texts, each of which takes far more memory than its two characters.
_MOST_PARTS = 2_000_000


@dataclass
class DumpedConnection:
    """One peer connection: its ID, its page, and its statistics (times in s since 1970)."""

    id: str
    url: str = ""
    reports: StatsReports = field(default_factory=StatsReports)


@dataclass
class StatsDump:
    """A dump; `format` is its display name, `user_agent` may be empty. Excludes connections without statistics;
    `omitted_connections` counts those beyond MOST_CONNECTIONS.
    """

    format: str
    user_agent: str
    connections: list[DumpedConnection]
    omitted_connections: int = 0


def parse_json(text: str, source: str) -> Any:
    """JSON values; NaN and infinities become null.

    Raises:
        InputError: it is invalid, nested too deeply, or has too many parts.
    """
    if text.count("{") + text.count("[") + text.count('"') // 2 > _MOST_PARTS or text.count(",") > 2 * MOST_SAMPLES:
        raise InputError(f"{source}: has more parts than a dump of hours; save one of a shorter call")
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply; this is not a dump") from None
    except ValueError as error:
        raise InputError(f"{source}: not valid JSON ({error}); was the dump saved completely?") from None


class DumpBuilder:
    """Collects the connections of a dump within its bounds, so that no dump takes minutes to read.

    Args:
        format: display name of the format.
        source: the file, for messages.
    """

    def __init__(self, format: str, source: str) -> None:
        self.user_agent = ""
        self._format, self._source = format, source
        self._connections: dict[str, DumpedConnection] = {}
        self._omitted: set[str] = set()
        self._samples_left = MOST_SAMPLES

    def connection(self, key: str, identifier: str, url: str = "") -> DumpedConnection | None:
        """The connection with this key, created if needed; None beyond MOST_CONNECTIONS."""
        if key not in self._connections:
            if len(self._connections) >= MOST_CONNECTIONS:
                self._omitted.add(key)
                return None
            self._connections[key] = DumpedConnection(identifier, url)
        return self._connections[key]

    def take(self, samples: int) -> None:
        """Counts values.

        Raises:
            InputError: the total exceeds MOST_SAMPLES.
        """
        self._samples_left -= samples
        if self._samples_left < 0:
            raise InputError(f"{self._source}: over {MOST_SAMPLES:,} values; save a dump of a shorter call")

    def dump(self) -> StatsDump:
        """The dump of everything collected."""
        return StatsDump(self._format, self.user_agent, list(self._connections.values()), len(self._omitted))


def iso_seconds(text: Any) -> float | None:
    """Parses a time in ISO 8601 to seconds since 1970; None for anything else."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def short(value: Any) -> str:
    """A text of a dump, cut to the length that a page shows; empty for anything else."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""
