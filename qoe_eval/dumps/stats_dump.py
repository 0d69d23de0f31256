"""What a dump of getStats() reports holds, whichever its format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from weir.errors import InputError
from weir.qoe_eval.call.logs.webrtc_stats import StatsReports

MOST_CONNECTIONS = 50
LONGEST_TEXT = 300


@dataclass
class DumpedConnection:
    """One peer connection: how the dump names it, the page that made it, its statistics (times in s since 1970)."""

    id: str
    url: str = ""
    reports: StatsReports = field(default_factory=StatsReports)


@dataclass
class StatsDump:
    """A dump; `format` is its name for people, `user_agent` may be empty. Connections without statistics are left out;
    `connections_left_out` are those beyond MOST_CONNECTIONS.
    """

    format: str
    user_agent: str
    connections: list[DumpedConnection]
    connections_left_out: int = 0


def parse_json(text: str, source: str) -> Any:
    """JSON values; NaN and infinities become null.

    Raises:
        InputError: it is none, or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply; this is no dump") from None
    except ValueError as error:
        raise InputError(f"{source}: not valid JSON ({error}); was the dump saved completely?") from None


def short(value: Any) -> str:
    """A text of a dump, cut to what a page shows; empty for anything else."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""
