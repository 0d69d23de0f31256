"""The families by name."""

from __future__ import annotations

from collections.abc import Callable

from weir.traces.generate.families.call import clock, content, mute, start
from weir.traces.generate.families.competitors import tcp
from weir.traces.generate.families.everything import everything
from weir.traces.generate.families.family import Family
from weir.traces.generate.families.noise import jitter, loss
from weir.traces.generate.families.path import reverse, route, slots

FAMILIES: dict[str, Callable[[], Family]] = {
    "route": route,
    "clock": clock,
    "loss": loss,
    "jitter": jitter,
    "tcp": tcp,
    "slots": slots,
    "reverse": reverse,
    "start": start,
    "mute": mute,
    "content": content,
    "everything": everything,
}
