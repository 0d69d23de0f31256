"""Synthetic capacity, seeded: the generators by their names.

Each takes a numpy ``Generator``, a duration in seconds (> 0) and a rate in bit/s (> 0), and gives a trace whose period
is the duration; the same generator state gives the same trace. Rates are whole bit/s. What ``rate_bps`` means, and the
further parameters with their usual ranges, stand at each.
"""

from __future__ import annotations

from collections.abc import Callable

from weir.traces.generate.radio import cellular, handover, outage, wifi
from weir.traces.generate.shapes import constant, ramp, sawtooth, step
from weir.traces.generate.wifi_mobility import wifi_mobility
from weir.traces.schema.capacity import CapacityTrace

GENERATORS: dict[str, Callable[..., CapacityTrace]] = {
    "constant": constant,
    "step": step,
    "ramp": ramp,
    "sawtooth": sawtooth,
    "cellular": cellular,
    "wifi": wifi,
    "wifi_mobility": wifi_mobility,
    "outage": outage,
    "handover": handover,
}
"""Every kind by its name; all take (rng, duration_s, rate_bps) and keyword parameters with defaults."""
