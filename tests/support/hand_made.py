"""Records made by hand: with the fields that a test is about; the others have harmless values."""

import numpy as np

from weir_eval.measures.flow_series import FlowSeries
from weir_eval.measures.table import MEASURES
from weir_eval.records.call_record import CallRecord
from weir_eval.records.run_record import RunRecord


def record(scenario, controller, seed=1, *, disturbed=None, key="", flow=None, flows=(), series=None, **measures):
    """A record of a replay with these measures and fields of its flow, or of a call: 60 s on 4 Mbps."""
    found = {
        "schema": "weir.result/1", "scenario": scenario, "controller": controller, "seed": seed, "key": key,
        "duration_s": 60.0, "path": {"one_way_delay_ms": 25.0, "mean_capacity_bps": 4e6}, "series": series,
        "flows": [{"id": "media", "kind": "rtp"} | flow] if flow else list(flows),
        "metrics": {"run": dict.fromkeys(MEASURES.of("replay")) | measures},
    }  # fmt: skip
    if disturbed is None:
        return RunRecord.model_validate(found)
    return CallRecord.model_validate(found | {"call": {"disturbed": list(disturbed)}})


def series(receive=(), delay=(), capacity=None, start_s=0.0):
    """A flow's series of 100 ms."""
    samples = max(len(receive), len(delay))
    zeros = np.zeros(samples)
    return FlowSeries(
        interval_s=0.1,
        start_s=start_s,
        stop_s=samples / 10,
        capacity_bps=None if capacity is None else np.array(capacity, dtype=float),
        target_bps=zeros,
        send_rate_bps=zeros,
        receive_rate_bps=np.array(receive, dtype=float) if len(receive) else zeros,
        one_way_delay_mean_ms=np.array(delay, dtype=float) if len(delay) else zeros,
        packets_lost=zeros,
    )


def measured_flow(**changes):
    """A flow of 10 s, with all that its measures need but the series."""
    return {
        "id": "media", "kind": "rtp", "controller": "gcc", "direction": "forward", "start_s": 0.0, "stop_s": 10.0,
        "base_one_way_delay_ms": 25.0, "packets_sent": 1000, "packets_received": 980, "packets_lost": 20,
        "bytes_sent": 1_250_000, "bytes_received": 1_125_000, "achievable_bytes": 1_250_000,
        "one_way_delay_ms": {"mean": 40.0, "p5": 30.0, "p50": 40.0, "p95": 100.0, "p99": 120.0, "max": 150.0},
        "seconds_above_400_ms": 0.5, "series": None,
    } | changes  # fmt: skip


_COMMON = {"scenario": "by hand", "controller": "gcc", "seed": 1, "duration_s": 10.0, "flows": []}
_COMMON |= {"path": {"one_way_delay_ms": 25.0, "mean_capacity_bps": 1e6, "queue_bytes": 37500}}


def run_record(fields=(), **more):
    """A record of a replay; `measures` stands for those of the run."""
    return _record(RunRecord, dict(fields) | more)


def call_record(fields=(), **more):
    """A record of a call."""
    return _record(CallRecord, {"call": {}} | dict(fields) | more)


def _record(kind, fields):
    fields = _COMMON | fields
    if "measures" in fields:
        fields["metrics"] = {"run": fields.pop("measures")}
    return kind.model_validate(fields | {"flows": [{"id": "media", "kind": "rtp"} | flow for flow in fields["flows"]]})
