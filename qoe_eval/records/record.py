"""Fields that a run and a call share. Keys of other versions are kept, so that newer records survive a rewrite."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from weir.qoe_eval.records.flow_record import FlowRecord
from weir.qoe_eval.records.part import Count, Measures, Number, Objective, Part
from weir.traces.schema import Values

SCHEMA: Literal["weir.result/1"] = "weir.result/1"
EpisodeKind = Literal["freeze", "queue"]


class PathRecord(Part):
    """The forward path of a run. `mean_capacity_bps` and `queue_bytes` are None where they are unlimited."""

    one_way_delay_ms: Number
    mean_capacity_bps: Number | None = None
    queue_bytes: Number | None = None


class Episode(Part):
    """A freeze, or a queue above 100 ms, of a flow ("" in a call).

    Attributes:
        cause: the one with the largest share.
        shares: by cause (`weir.qoe_eval.measures.causes`), of the duration; they sum to 1.
    """

    kind: EpisodeKind
    flow: str = ""
    start_s: Number
    duration_s: Number
    cause: str
    shares: dict[str, Number]


class Metrics(Part):
    """The measures of a run, and of each of its flows under test by its id."""

    run: dict[str, Number | None]
    flows: dict[str, dict[str, Number | None]] = {}


class Record(Part):
    """Fields of a run and of a call.

    Attributes:
        key: stands for everything that determines the run; empty for a run that is not part of a plan.
        objective: None where it means nothing.
        variation: the values that the seed has drawn.
        versions: of programs and libraries, by name.
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
