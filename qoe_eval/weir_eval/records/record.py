"""Fields common to runs and calls. Keys of other versions are kept, so that newer records survive a rewrite."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.part import Count, Measures, Number, Objective, Part
from weir_traces.schema import Values

SCHEMA: Literal["weir.result/1"] = "weir.result/1"
EpisodeKind = Literal["freeze", "queue"]


class PathRecord(Part):
    """The forward path of a run. `mean_capacity_bps` and `queue_bytes` are None if unlimited."""

    one_way_delay_ms: Number
    mean_capacity_bps: Number | None = None
    queue_bytes: Number | None = None


class Episode(Part):
    """A freeze, or a queue above 100 ms, of a flow ("" in a call).

    Attributes:
        cause: the cause with the largest share.
        shares: shares of the duration by cause (`weir_eval.measures.causes`); their sum is 1.
    """

    kind: EpisodeKind
    flow: str = ""
    start_s: Number
    duration_s: Number
    cause: str
    shares: dict[str, Number]


class Metrics(Part):
    """The measures of a run, and of its flows under test by ID."""

    run: dict[str, Number | None]
    flows: dict[str, dict[str, Number | None]] = {}


class Record(Part):
    """Fields common to runs and calls.

    Attributes:
        key: digest of everything that determines the run; empty for a run that is not part of a plan.
        objective: None if it has no effect.
        variation: the values drawn by the seed.
        versions: versions of programs and libraries by name.
        episodes: freezes and long queues with their causes; empty without series or logs.
    """

    schema_: Literal["weir.result/1"] = Field(default=SCHEMA, alias="schema")
    scenario: str
    controller: str
    objective: Objective | None = None
    seed: Count
    versions: dict[str, str] = {}
    duration_s: Number
    path: PathRecord
    flows: Values[FlowRecord]
    key: str = ""
    variation: dict[str, JsonValue] = {}
    metrics: Metrics
    episodes: Values[Episode] = []

    @property
    def measures(self) -> Measures:
        """The measures of the run or call as a whole."""
        return self.metrics.run

    def to_json(self) -> dict[str, JsonValue]:
        """The record as in a file; fields that were never set are absent."""
        return {"schema": SCHEMA} | self.model_dump(by_alias=True, exclude_unset=True)
