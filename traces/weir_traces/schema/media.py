"""The media of flows under test: the video of a call, or filler, which can use the whole link."""

from __future__ import annotations

from typing import Any

from weir_traces.bounds import MEDIA as MEDIA
from weir_traces.bounds import MediaKind as MediaKind
from weir_traces.schema.scenario import Scenario

# VP8 of an unmodified Chromium: with these values, replays are closest to the receive rates and delays of 198 calls at
# 640x360 and 1280x720.
_CHROMIUM_ENCODER = {"rise_time_constant_s": 0.6, "fall_time_constant_s": 0.25}


def media_of(kind: MediaKind, **fields: Any) -> dict[str, Any]:
    """Media in the form of a scenario's JSON: video of at most 2.5 Mbps from a slow encoder with audio, or filler of at
    most 50 Mbps; `fields` override the defaults.
    """
    return {"kind": kind, **(_CHROMIUM_ENCODER if kind == "video" else {}), **fields}


def with_media(scenario: Scenario, kind: MediaKind, max_rate_bps: float | None = None) -> Scenario:
    """The scenario with media of this kind in its flows under test. A flow that already has this kind keeps its media.

    Args:
        scenario: the original.
        kind: the kind of media.
        max_rate_bps: the limit of its rate, bit/s. None: the flow's own, else that of `media_of`.

    Raises:
        InputError: the limit is out of range.
    """
    document = scenario.to_dict()
    for flow in document["flows"]:
        if flow["kind"] == "rtp" and flow["controller"] == "under_test":
            own = flow["media"] if flow["media"]["kind"] == kind else media_of(kind)
            flow["media"] = own if max_rate_bps is None else own | {"max_rate_bps": max_rate_bps}
    return Scenario.from_dict(document, scenario.name)
