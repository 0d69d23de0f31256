"""The families by name."""

from __future__ import annotations

from collections.abc import Callable

from weir_traces.generate.families.call import clock, content, mute, screens, start, tcp
from weir_traces.generate.families.everything import everything
from weir_traces.generate.families.family import Family
from weir_traces.generate.families.path import fault, jitter, loss, policer, reverse, route, slots
from weir_traces.schema.media import MediaKind
from weir_traces.schema.scenario import Scenario

FAMILIES: dict[str, Callable[[], Family]] = {
    "route": route,
    "clock": clock,
    "loss": loss,
    "jitter": jitter,
    "tcp": tcp,
    "policer": policer,
    "slots": slots,
    "reverse": reverse,
    "start": start,
    "mute": mute,
    "content": content,
    "screens": screens,
    "fault": fault,
    "everything": everything,
}

_SMALL_CASES = {
    "route": ("plus20", "plus100"),
    "clock": ("slow500", "fast500"),
    "loss": ("random2", "random5"),
    "jitter": ("gaussian10", "spikes3s"),
    "tcp": ("cubic-stays", "bbr-leaves"),
    "policer": ("burst15kB", "burst100ms"),
    "slots": ("20of100ms", "frames20ms"),
    "reverse": ("plus500", "loss10"),
    "start": ("300k", "100k"),
    "mute": ("5s", "20s"),
    "content": ("tenth", "tenth-stalls"),
    "screens": ("1fps-silent", "5fps-dtx"),
    "fault": ("feedback100half", "outage"),
    "everything": ("1", "2"),
}
_SMALL_RATE_BPS = 4e6


def families_with(media: MediaKind) -> dict[str, Family]:
    """The families that support this kind of media."""
    return {name: family for name, build in FAMILIES.items() if media in (family := build()).media}


def small_grid(media: MediaKind) -> dict[str, list[Scenario]]:
    """Two scenarios on 4 Mbps of each family that supports this kind of media."""
    return {
        name: [
            family.scenario(case, _SMALL_RATE_BPS, media) for case in family.cases if case.name in _SMALL_CASES[name]
        ]
        for name, family in families_with(media).items()
    }
