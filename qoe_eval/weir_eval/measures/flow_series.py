"""The time series of one flow of a result record as arrays, with the capacity of the path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.run_record import RunRecord

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FlowSeries:
    """Samples of `interval_s` each, from time 0; every array has shape [samples]. A delay is NaN if nothing arrived.

    `capacity_bps` is None if the path's capacity is unlimited.
    """

    interval_s: float
    start_s: float
    stop_s: float
    capacity_bps: Array | None
    target_bps: Array
    send_rate_bps: Array
    receive_rate_bps: Array
    one_way_delay_mean_ms: Array
    packets_lost: Array

    @property
    def active(self) -> slice:
        """The samples that lie mostly within the flow's active time."""
        first = int(np.ceil(self.start_s / self.interval_s - 0.5))
        last = int(np.floor(self.stop_s / self.interval_s + 0.5))
        return slice(first, min(last, len(self.receive_rate_bps)))


def read_flow_series(record: RunRecord, flow: FlowRecord) -> FlowSeries | None:
    """The series of `flow`, one of `record.flows`; None if the run was made without series.

    The capacity is that of the forward link, and thus None for a flow in the reverse direction.

    Raises:
        InputError: the arrays have different lengths.
    """
    path, own = record.series, flow.series
    if not path or not own:
        return None
    samples = len(own["receive_rate_bps"])
    capacity = path.get("capacity_bps") if flow.direction == "forward" else None
    names = ("target_bps", "send_rate_bps", "receive_rate_bps", "one_way_delay_mean_ms", "packets_lost")
    # Missing columns, such as the target of a TCP flow, are unknown.
    known: Mapping[str, object] = own
    columns = {name: np.array(known.get(name) or [None] * samples, dtype=np.float64) for name in names}
    lengths = {name: len(column) for name, column in columns.items()}
    if capacity:
        lengths["capacity_bps"] = len(capacity)
    if len(set(lengths.values())) != 1:
        raise InputError(f"result of {record.scenario}, flow {flow.id}: series of different lengths: {lengths}")
    return FlowSeries(
        interval_s=float(path["interval_s"]),
        start_s=flow.start_s,
        stop_s=record.duration_s if flow.stop_s is None else flow.stop_s,
        capacity_bps=np.array(capacity, dtype=np.float64) if capacity else None,
        **columns,
    )
