"""Names and bounds that options of commands share with the formats; nothing here takes time to import."""

from __future__ import annotations

from typing import Final, Literal

MAX_DURATION_S: Final = 86_400.0
"""A day: what can be simulated in minutes, and its series kept in memory."""
MAX_FLOWS: Final = 1000
"""Many more than a link in a replay carries; each takes memory and time."""
DEFAULT_WINDOW_MS: Final = 200
"""Time over which the deliveries of a Mahimahi file are averaged."""

MediaKind = Literal["video", "filler"]
MEDIA: Final[tuple[MediaKind, ...]] = ("video", "filler")
"""In the order of reports."""
