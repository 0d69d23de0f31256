"""The record of one run of a replay, with or without its series."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue, SkipValidation

from weir_eval.records.part import Number, Part, PartType
from weir_eval.records.record import Metrics, Record
from weir_eval.records.series import PathColumns, Series
from weir_sim.executables import Stack


class MediaRecord(Part):
    """The media of a flow in the scenario: video or filler, with all further fields."""

    kind: str
    max_rate_bps: Number


class RunRecord(Record):
    """One run of a replay.

    Attributes:
        media: media of the flows under test by ID; empty: the flows under test are those of the run's controller.
        decision_delay_ms: time that each decision of the model took.
        stack: the endpoints of RTP flows: the simulator's own, or libwebrtc's.
        virtual_call: the media of a virtual call.
        series: time series, only in a record with series.
    """

    media: dict[str, MediaRecord] = {}
    model_sha256: str | None = None
    decision_delay_ms: Number = 0.0
    stack: Stack = "model"
    virtual_call: dict[str, JsonValue] | None = None
    metrics: Metrics = Metrics(run={})
    series: SkipValidation[PathColumns | None] = None

    def without_series(self) -> tuple[RunRecord, Series]:
        """The record without its series, and the series."""
        series: Series = {"path": self.series, "flows": {flow.id: flow.series for flow in self.flows}}
        return _without(self, "series").model_copy(
            update={"flows": [_without(f, "series") for f in self.flows]}
        ), series

    def with_series(self, series: Series) -> RunRecord:
        """The inverse of `without_series`."""
        flows = [flow.model_copy(update={"series": series["flows"].get(flow.id)}) for flow in self.flows]
        return self.model_copy(update={"flows": flows, "series": series["path"]})


def _without(part: PartType, name: str) -> PartType:
    kept = {key: value for key, value in part.__dict__.items() if key != name and key in part.model_fields_set}
    return cast(PartType, type(part).model_construct(**kept, **(part.model_extra or {})))
