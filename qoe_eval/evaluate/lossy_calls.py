"""Calls over paths that lose packets."""

from __future__ import annotations

import re
from typing import Final

from weir.traces.catalogue import load_bundled
from weir.traces.generate.families.family import Case, Family, forward_with
from weir.traces.generate.families.path import bernoulli, gilbert_elliott
from weir.traces.schema.media import with_media
from weir.traces.schema.scenario import Scenario

_CALLED_LOSS_PERCENT: Final = (2, 5, 7, 8, 12, 20)
_NOT_IN_NAMES: Final = re.compile(r"[ ,%]")
_CALL_BPS: Final = 4e6
_CALL_S: Final = 45.0


def lossy_calls() -> dict[str, Scenario]:
    """Calls of 45 s by the names of their sets, video: 4 Mbps, 25 ms, with random loss, loss in bursts of 5 packets, a
    policer of half the rate, or a queue of two packets; and a cellular path with random loss.
    """
    links = {f"random loss, {percent} %": {"loss": bernoulli(percent / 100)} for percent in _CALLED_LOSS_PERCENT}
    links |= {
        "bursts": {"loss": gilbert_elliott(0.05)},
        "policer": {"loss": {"kind": "policer", "rate_bps": _CALL_BPS / 2, "burst_bytes": 25_000}},
        "short queue": {"queue": {"packets": 2}},
    }
    family = Family("loss", "The path loses packets", [], duration_s=_CALL_S)
    calls = {
        name: family.scenario(Case(_NOT_IN_NAMES.sub("", name), forward_with(**link)), _CALL_BPS, "video")
        for name, link in links.items()
    }
    cellular = load_bundled("cellular-3m").to_dict() | {"duration_s": _CALL_S}
    cellular["forward"]["loss"] = bernoulli(0.08)
    calls["cellular"] = with_media(Scenario.from_dict(cellular, "loss-cellular-3m"), "video")
    return calls
