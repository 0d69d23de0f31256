"""The record of one flow of a run, and of its estimator."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import AliasChoices, Field, SkipValidation

from weir_eval.records.part import Count, Number, Part
from weir_eval.records.series import FlowColumns


class EstimatorRecord(Part):
    """Decisions of a flow's estimator."""

    decisions: Count = 0
    fallback_decisions: Count = 0
    faults: Count = 0


class PoolMemberRecord(Part):
    """A member of a pool. `pilot_share` is the share of decisions for which it was the active controller, 0 to 1."""

    name: str
    pilot_share: Number = 0.0
    decisions: Count = 0
    faults: Count = 0


class PoolRecord(Part):
    """The pool of a flow."""

    members: list[PoolMemberRecord]
    pilot_changes: Count = 0
    first_pilot_held_s: Number | None = None


class FlowRecord(Part):
    """One flow of a run.

    Attributes:
        stop_s: end of the flow; None: the end of the run.
        achievable_bytes: bytes that the path could have delivered of media that waits for at most 100 ms.
        one_way_delay_ms: mean, p5, p50, p95, p99 and max; None if nothing arrived.
        queueing_delay_ms: the same for the queueing delay, on a path whose base delay changes.
        guard: number of interventions by rule.
        rendered: measures of the media that the receiver of a virtual call rendered and played, if available.
        series: time series, only in a record with series.
    """

    id: str
    kind: str
    controller: str | None = None
    direction: str = "forward"
    start_s: Number = 0.0
    stop_s: Number | None = None
    pauses_s: list[list[Number]] = []
    video_pauses_s: list[list[Number]] = []
    base_one_way_delay_ms: Number = 0.0
    packets_sent: Count = 0
    bytes_sent: Count = 0
    packets_received: Count = 0
    bytes_received: Count = 0
    packets_lost: Count = 0
    achievable_bytes: Number | None = Field(
        default=None, validation_alias=AliasChoices("achievable_bytes", "carriable_bytes")
    )
    one_way_delay_ms: dict[str, Number] | None = None
    queueing_delay_ms: dict[str, Number] | None = None
    seconds_above_400_ms: Number | None = None
    estimator: EstimatorRecord | None = None
    guard: dict[str, Count] | None = None
    pool: PoolRecord | None = None
    rendered: dict[str, Number] | None = None
    series: SkipValidation[FlowColumns | None] = None

    @property
    def delay_ms(self) -> Mapping[str, float]:
        """Statistics of the one-way delay; empty if nothing arrived."""
        return self.one_way_delay_ms or {}
