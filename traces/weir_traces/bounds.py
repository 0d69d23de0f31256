"""Names and bounds that command options share with the formats. Must stay fast to import."""

from __future__ import annotations

from typing import Final, Literal

MAX_DURATION_S: Final = 86_400.0
"""One day: simulated within minutes, with series that fit in memory."""
MAX_FLOWS: Final = 1000
"""Far above the number of flows in any real replay; each flow costs memory and time."""
DEFAULT_WINDOW_MS: Final = 200
"""Time over which the deliveries of a Mahimahi file are averaged."""

MediaKind = Literal["video", "filler"]
MEDIA: Final[tuple[MediaKind, ...]] = ("video", "filler")
"""All kinds, in the order of reports."""
TRACE_SETS: Final = ("opennetlab", "mahimahi")
"""Sets of traces that are not bundled: names of folders."""
