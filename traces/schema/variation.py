"""Variation of a scenario by a seed, so that its runs are different hours of one path and not copies of one run.

| what | distribution |
|---|---|
| starting point | uniform over the longest period that a capacity, a delay or a loss ratio of either direction has: |
| | the run begins that much later in all of them. What has no period (steps of a test case) keeps its times |
| one-way delay, of each link | the file's, plus or minus at most 10 % (of its mean) and 5 ms, uniform |
| first packet, of each RTP flow | up to one frame interval (1/30 s of filler) after the file's start, uniform |
| sender's clock, of each RTP flow | 20 ppm at most, as crystals have, unless the file gives `sender_clock_ppm`; and |
| | where it stands at time 0: 0 to 64 s, one turn of abs-send-time, unless it gives `sender_clock_offset_s` |

It depends on the seed and the scenario's name alone: all controllers, objectives and encoders see the same path, and so
do a call and its replay. NAME-without-TROUBLE varies as NAME does. Seed 0 is the scenario as written. What else is
chance in a run (losses, jitter, sizes of frames, TCP transfers), the simulator draws from seed and name, too, 0 as any
other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from weir.traces.schema.links import BernoulliLoss, Capacity, Link
from weir.traces.schema.scenario import RtpFlow, Scenario, VideoMedia
from weir.traces.schema.values_over_time import DelayOverTime, RatioOverTime

LARGEST_DELAY_SHARE = 0.1
LARGEST_DELAY_MS = 5.0
LARGEST_CLOCK_PPM = 20.0
CLOCK_TURN_S = 64.0
FILLER_FRAME_S = 1 / 30
WITHOUT = "-without-"
"""In the name of a version of a scenario, before the trouble that it lacks. The simulator has it, too."""


def vary(scenario: Scenario, seed: int) -> tuple[Scenario, dict[str, Any]]:
    """The scenario as the runs of a seed have it, and what was drawn.

    Args:
        scenario: as written.
        seed: 0 (as written) or greater.

    Returns:
        The scenario under the same name, and, empty for seed 0: `trace_start_s` (null without a period),
        `one_way_delay_ms` (forward, reverse; means where they change) and `flows`: by id `start_s`,
        `sender_clock_ppm` and `sender_clock_offset_s`.
    """
    if seed == 0:
        return scenario, {}
    name = zlib.crc32(scenario.name.partition(WITHOUT)[0].encode("utf-8", "backslashreplace"))
    # A stream for the path and one for each flow: what one has to draw moves nothing elsewhere.
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
    """`vary` of each scenario by the seed, or by `path_seed` where there is one."""
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
    delay, loss, capacity = link.one_way_delay_ms, link.loss, link.capacity
    if isinstance(delay, DelayOverTime):
        delay = delay.starting_at(start_s).longer_by(difference_ms)
    else:
        delay = round(delay + difference_ms, 3)
    if isinstance(loss, BernoulliLoss) and isinstance(loss.ratio, RatioOverTime):
        loss = loss.model_copy(update={"ratio": loss.ratio.starting_at(start_s)})
    if capacity is not None and capacity.period_s is not None:
        capacity = Capacity.from_trace(capacity.trace().starting_at(start_s))
    return link.model_copy(update={"capacity": capacity, "one_way_delay_ms": delay, "loss": loss})


def _varied_flow(flow: RtpFlow, rng: np.random.Generator) -> RtpFlow:
    frame_s = 1 / flow.media.frames_per_second if isinstance(flow.media, VideoMedia) else FILLER_FRAME_S
    start_s = round(flow.start_s + frame_s * rng.random(), 6)
    ppm = round(rng.uniform(-LARGEST_CLOCK_PPM, LARGEST_CLOCK_PPM), 2)
    offset_s = round(rng.uniform(0, CLOCK_TURN_S), 6)
    return flow.model_copy(
        update={
            # A flow that lasts no longer than a frame stays where it is.
            "start_s": start_s if flow.stop_s is None or start_s < flow.stop_s else flow.start_s,
            "sender_clock_ppm": ppm if flow.sender_clock_ppm is None else flow.sender_clock_ppm,
            "sender_clock_offset_s": offset_s if flow.sender_clock_offset_s is None else flow.sender_clock_offset_s,
        }
    )
