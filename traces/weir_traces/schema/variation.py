"""Variation of a scenario by a seed, so that its runs are different hours of one path and not copies of one run.

| what | distribution |
|---|---|
| starting point | uniform over the longest period of a capacity, a delay or a loss ratio of either direction: |
| | the run begins that much later in all of them. Values without a period (steps of a test case) keep their times |
| one-way delay of each link | the file's, plus or minus at most 10 % (of its mean) and 5 ms, uniform |
| first packet of each RTP flow | up to one frame interval (1/30 s for filler) after the file's start, uniform |
| sender's clock of each RTP flow | at most 20 ppm, typical of crystals, unless the file has `sender_clock_ppm`; |
| | at time 0: 0 to 64 s, one wrap of abs-send-time, unless the file has `sender_clock_offset_s` |

The variation depends only on the seed and the scenario's name: all controllers, objectives and encoders see the same
path, and so do a call and its replay. NAME-without-TROUBLE varies like NAME. Seed 0 leaves the scenario as written. The
simulator draws all other random values of a run (losses, jitter, frame sizes, TCP transfers) from seed and name, also
for seed 0.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from weir_traces.schema.links import Link
from weir_traces.schema.scenario import RtpFlow, Scenario, VideoMedia
from weir_traces.schema.time_window import link_starting_at
from weir_traces.schema.values_over_time import DelayOverTime

LARGEST_DELAY_SHARE = 0.1
LARGEST_DELAY_MS = 5.0
LARGEST_CLOCK_PPM = 20.0
CLOCK_TURN_S = 64.0
FILLER_FRAME_S = 1 / 30
WITHOUT = "-without-"
"""In a scenario's name, precedes the impairment that is removed. The simulator has the same constant."""


def vary(scenario: Scenario, seed: int) -> tuple[Scenario, dict[str, Any]]:
    """The scenario varied by a seed, and the values drawn.

    Args:
        scenario: as written.
        seed: 0 (no variation) or greater.

    Returns:
        The scenario with the same name, and the values, empty for seed 0: `trace_start_s` (null without a period),
        `one_way_delay_ms` (forward, reverse; means if they change) and `flows`: by id `start_s`,
        `sender_clock_ppm` and `sender_clock_offset_s`.
    """
    if seed == 0:
        return scenario, {}
    name = zlib.crc32(scenario.name.partition(WITHOUT)[0].encode("utf-8", "backslashreplace"))
    # The path and each flow have their own random stream, so that the draws of one do not affect the others.
    path = np.random.default_rng([seed, name])
    trace_start_s = _trace_start_s(scenario, path.random())
    links = {
        side: _varied_link(link, trace_start_s or 0.0, path.uniform(-1, 1), scenario.duration_s)
        for side, link in (("forward", scenario.forward), ("reverse", scenario.reverse))
    }
    flows = [
        _varied_flow(flow, np.random.default_rng([seed, name, index])) if isinstance(flow, RtpFlow) else flow
        for index, flow in enumerate(scenario.flows)
    ]
    drawn = {
        "trace_start_s": trace_start_s,
        "one_way_delay_ms": [round(link.mean_one_way_delay_ms(scenario.duration_s), 3) for link in links.values()],
        "flows": {
            flow.id: {
                "start_s": flow.start_s,
                "sender_clock_ppm": flow.sender_clock_ppm,
                "sender_clock_offset_s": flow.sender_clock_offset_s,
            }
            for flow in flows
            if isinstance(flow, RtpFlow)
        },
    }
    return scenario.model_copy(update={**links, "flows": flows}), drawn


def varied(
    scenarios: Iterable[Scenario], seed: int, path_seed: int | None = None
) -> Iterator[tuple[Scenario, dict[str, Any]]]:
    """Varies each scenario by `path_seed`, or by `seed` if that is None."""
    return (vary(scenario, seed if path_seed is None else path_seed) for scenario in scenarios)


def _trace_start_s(scenario: Scenario, share: float) -> float | None:
    periods = [
        period_s
        for link in (scenario.forward, scenario.reverse)
        for part in (link.capacity, link.one_way_delay_ms, getattr(link.loss, "ratio", None))
        if (period_s := getattr(part, "period_s", None))
    ]
    return round(share * max(periods), 6) if periods else None


def _varied_link(link: Link, start_s: float, share: float, duration_s: float) -> Link:
    mean_ms = link.mean_one_way_delay_ms(duration_s)
    difference_ms = share * min(LARGEST_DELAY_SHARE * mean_ms, LARGEST_DELAY_MS)
    link = link_starting_at(link, start_s)
    delay = link.one_way_delay_ms
    delay = delay.longer_by(difference_ms) if isinstance(delay, DelayOverTime) else round(delay + difference_ms, 3)
    return link.model_copy(update={"one_way_delay_ms": delay})


def _varied_flow(flow: RtpFlow, rng: np.random.Generator) -> RtpFlow:
    frame_s = 1 / flow.media.frames_per_second if isinstance(flow.media, VideoMedia) else FILLER_FRAME_S
    start_s = round(flow.start_s + frame_s * rng.random(), 6)
    ppm = round(rng.uniform(-LARGEST_CLOCK_PPM, LARGEST_CLOCK_PPM), 2)
    offset_s = round(rng.uniform(0, CLOCK_TURN_S), 6)
    return flow.model_copy(
        update={
            # A flow that is too short to start later keeps its start.
            "start_s": start_s if flow.stop_s is None or start_s < flow.stop_s else flow.start_s,
            "sender_clock_ppm": ppm if flow.sender_clock_ppm is None else flow.sender_clock_ppm,
            "sender_clock_offset_s": offset_s if flow.sender_clock_offset_s is None else flow.sender_clock_offset_s,
        }
    )
