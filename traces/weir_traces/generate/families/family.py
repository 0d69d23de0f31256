"""A family: one kind of impairment in several strengths, each at several rates and with both kinds of media.

Defaults: steady links of 1, 4 and 10 Mbps, 25 ms each way, a queue of 300 ms, 60 s, and one call of video, which needs
at most five sixths of the link (2.5 Mbps of 3), or of filler, which uses all of it. Scenarios are named
``FAMILY-CASE-RATE-MEDIA``: ``route-plus60-4M-video``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weir_traces.schema.media import MEDIA, MediaKind, media_of
from weir_traces.schema.scenario import Scenario

Fields = dict[str, Any]

RATES_BPS = (1e6, 4e6, 10e6)
ONE_WAY_DELAY_MS = 25.0
DURATION_S = 60.0
VIDEO_SHARE_OF_LINK = 5 / 6


@dataclass(frozen=True)
class Case:
    """One strength of a family's impairment: the fields of the plain scenario that it changes.

    Attributes:
        name: part of the scenario's name.
        forward: fields of the forward link, at a rate in bit/s.
        reverse: fields of the reverse link.
        flow: fields of the call's RTP flow.
        video: fields of its media, if that is video.
        others: further flows.
        media: the kinds of media to use, of those that the family supports.
    """

    name: str
    forward: Callable[[float], Fields] = lambda rate_bps: {}
    reverse: Fields = field(default_factory=dict)
    flow: Fields = field(default_factory=dict)
    video: Fields = field(default_factory=dict)
    others: Sequence[Fields] = ()
    media: Sequence[MediaKind] = MEDIA


@dataclass(frozen=True)
class Family:
    """All cases of one kind of impairment, its rates (bit/s) and its kinds of media."""

    name: str
    description: str
    cases: Sequence[Case]
    rates_bps: Sequence[float] = RATES_BPS
    media: Sequence[MediaKind] = MEDIA
    duration_s: float = DURATION_S

    def scenarios(self, media: MediaKind) -> list[Scenario]:
        """The grid with one kind of media; empty if the family does not support it."""
        return [
            self.scenario(case, rate_bps, media)
            for case in self.cases
            for rate_bps in self.rates_bps
            if media in self.media and media in case.media
        ]

    def scenario(self, case: Case, rate_bps: float, media: MediaKind) -> Scenario:
        """One scenario of the grid."""
        content: Fields = {}
        if media == "video":
            content = {"max_rate_bps": round(VIDEO_SHARE_OF_LINK * rate_bps, -3), **case.video}
        return Scenario.make(
            name=f"{self.name}-{case.name}-{rate_bps / 1e6:g}M-{media}",
            description=self.description,
            provenance={"source": f"weir_traces.generate.families: {self.name}", "licence": "BSD-3-Clause"},
            duration_s=self.duration_s,
            forward={"capacity": steady(rate_bps), "one_way_delay_ms": ONE_WAY_DELAY_MS, **case.forward(rate_bps)},
            reverse=case.reverse,
            flows=[{"kind": "rtp", "media": media_of(media, **content), **case.flow}, *case.others],
        )


def steady(rate_bps: float) -> Fields:
    """A constant capacity."""
    return {"times_s": [0.0], "rates_bps": [rate_bps]}


def forward_with(**fields: Any) -> Callable[[float], Fields]:
    """A forward link with the same fields at every rate."""
    return lambda rate_bps: fields
