"""Records with the fields that a test is about; the others have harmless values."""

from weir.qoe_eval.records import CallRecord, RunRecord

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
