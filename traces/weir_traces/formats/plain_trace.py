"""A scenario around a plain capacity trace, with the project's defaults."""

from __future__ import annotations

from typing import Any

from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.media import media_of
from weir_traces.schema.scenario import Capacity, Queue, Scenario
from weir_traces.schema.values_over_time import DelayOverTime, RatioOverTime

DEFAULT_ONE_WAY_DELAY_MS = 25.0
DEFAULT_QUEUE = Queue(milliseconds=300.0)
DEFAULT_DURATION_S = 60.0
SHORTEST_RUN_S = 10.0
"""Shorter traces repeat in a longer run: the start of a call alone takes seconds."""


def run_length_s(trace: CapacityTrace) -> float:
    """Length of a run in seconds: the trace's period, or 60 s if it has none or is shorter than SHORTEST_RUN_S."""
    if trace.period_s is None or trace.period_s < SHORTEST_RUN_S:
        return DEFAULT_DURATION_S
    return trace.period_s


def scenario_from_capacity(
    trace: CapacityTrace,
    name: str,
    *,
    one_way_delay_ms: float | DelayOverTime | None = None,
    queue: Queue | None = None,
    loss_ratio: float | RatioOverTime | None = None,
    reverse: dict[str, Any] | None = None,
    duration_s: float | None = None,
    provenance: dict[str, str] | None = None,
) -> Scenario:
    """A scenario with one RTP flow over the trace: the video of a call, at least 30 kbps and 300 kbps at the start.

    Args:
        trace: the forward capacity.
        name: the scenario's name.
        one_way_delay_ms: None: 25 ms.
        queue: None: 300 ms of the mean capacity.
        loss_ratio: independent loss of packets, 0..1; None: no loss.
        reverse: fields of the reverse link; omitted fields have their defaults. None: unlimited, with the same delay.
        duration_s: None: `run_length_s`. A run that is longer than the trace's period repeats the trace.
        provenance: source and license of the trace.

    Raises:
        InputError: a value is out of its range.
    """
    return Scenario.make(
        name=name,
        provenance=provenance or {},
        duration_s=run_length_s(trace) if duration_s is None else duration_s,
        forward={
            "capacity": Capacity.from_trace(trace),
            "one_way_delay_ms": DEFAULT_ONE_WAY_DELAY_MS if one_way_delay_ms is None else one_way_delay_ms,
            "queue": DEFAULT_QUEUE if queue is None else queue,
            "loss": loss_of(loss_ratio),
        },
        reverse=reverse or {},
        flows=[{"kind": "rtp", "media": media_of("video")}],
    )


def loss_of(ratio: float | RatioOverTime | None) -> dict[str, Any]:
    """Independent packet loss in the form of a scenario's JSON; no loss for 0 and None."""
    if not ratio:
        return {"kind": "none"}
    return {"kind": "bernoulli", "ratio": ratio.model_dump() if isinstance(ratio, RatioOverTime) else ratio}
