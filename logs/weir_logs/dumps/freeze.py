"""A freeze of a dump's video."""

from __future__ import annotations

from dataclasses import dataclass

from weir_eval.webrtc_stats import StatsObject


@dataclass(frozen=True)
class DumpFreeze:
    """A freeze of an incoming stream, or a stop of an outgoing one.

    Attributes:
        stream: the stream; of several outgoing layers, the largest.
        start_s: start, s since 1970.
        error_s: uncertainty of the start, due to the interval between reports.
        duration_s: total duration of the `count` freezes in one report interval.
        count: number of freezes.
        is_open: True if it lasts to the end of the stream's reports.
        is_drop: True if outgoing video continued, far below its usual target.
    """

    stream: StatsObject
    start_s: float
    duration_s: float
    error_s: float
    count: int = 1
    is_open: bool = False
    is_drop: bool = False

    @property
    def end_s(self) -> float:
        """The end, s since 1970."""
        return self.start_s + self.duration_s

    @property
    def is_outgoing(self) -> bool:
        """True for a stream that this browser sends."""
        return self.stream.type == "outbound-rtp"
