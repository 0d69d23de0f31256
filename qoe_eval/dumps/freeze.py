"""A freeze of a dump's video."""

from __future__ import annotations

from dataclasses import dataclass

from weir.qoe_eval.call.webrtc_stats import StatsObject


@dataclass(frozen=True)
class DumpFreeze:
    """A freeze of an incoming stream, or a stop of an outgoing one.

    Attributes:
        stream: the stream; of several outgoing layers the largest.
        start_s: since 1970.
        error_s: of the start, from the interval between reports.
        duration_s: of all `count` freezes that one interval of the reports has.
        count: number of freezes.
        is_open: it lasts to the end of the stream's reports.
        is_drop: outgoing video went on, far below its usual target.
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
        """Its end, since 1970."""
        return self.start_s + self.duration_s

    @property
    def is_outgoing(self) -> bool:
        """True for a stream that this browser sends."""
        return self.stream.type == "outbound-rtp"
