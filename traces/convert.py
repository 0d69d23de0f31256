"""Any trace file to a scenario, and any format to any other."""

from __future__ import annotations

import re
from pathlib import Path

from weir.traces.capacity import CapacityTrace
from weir.traces.csv_trace import write_csv
from weir.traces.errors import InputError
from weir.traces.imported_trace import ImportedTrace, TraceFormat
from weir.traces.links import BernoulliLoss, Link
from weir.traces.mahimahi import write_mahimahi
from weir.traces.opennetlab import write_opennetlab
from weir.traces.plain_trace import DEFAULT_DURATION_S, scenario_from_capacity
from weir.traces.scenario import Queue, Scenario

_QUEUE_UNITS = {
    "": "milliseconds", "ms": "milliseconds", "s": "milliseconds", "b": "bytes", "kb": "bytes", "mb": "bytes",
    "pkt": "packets", "pkts": "packets", "packets": "packets",
}  # fmt: skip
_SCALES = {"s": 1000, "b": 1, "kb": 1000, "mb": 1_000_000}
_RATE_UNITS = {"": 1.0, "bps": 1.0, "k": 1e3, "kbps": 1e3, "m": 1e6, "mbps": 1e6, "g": 1e9, "gbps": 1e9}
_EXTENSIONS: dict[str, TraceFormat] = {
    ".csv": "csv", ".json": "scenario",
    ".mahi": "mahimahi", ".trace": "mahimahi", ".up": "mahimahi", ".down": "mahimahi",
}  # fmt: skip


def parse_queue(text: str) -> Queue:
    """A queue limit: ``300``, ``300ms``, ``2s`` (drain time at the mean capacity), ``120kB``, ``15000B``, ``50pkt``.

    kB and MB are 1000 and 1,000,000 bytes; case does not matter.

    Raises:
        InputError: it is none of these, or not greater than 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = match[2].lower() if match else "?"
    if not match or unit not in _QUEUE_UNITS:
        raise InputError(f"queue {text!r}: write milliseconds (300), bytes (120kB, 15000B) or packets (50pkt)")
    number = float(match[1]) * _SCALES.get(unit, 1)
    field = _QUEUE_UNITS[unit]
    if field != "milliseconds" and not number.is_integer():
        raise InputError(f"queue {text!r}: must be a whole number of {field}")
    if not number > 0:
        raise InputError(f"queue {text!r}: must be greater than 0; the smallest queue that works is 1pkt")
    return Queue(milliseconds=number) if field == "milliseconds" else Queue.model_validate({field: int(number)})


def parse_rate(text: str) -> float:
    """A rate in bit/s: ``2500000``, ``300k``, ``2.5M``, ``2.5Mbps``, ``1G``; case does not matter.

    Raises:
        InputError: it is none of these, or not greater than 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:[eE]\d+)?)\s*([a-zA-Z]*)\s*", text)
    if not match or match[2].lower() not in _RATE_UNITS:
        raise InputError(f"rate {text!r}: write bit/s with an optional k, M or G (2500000, 300k, 2.5M)")
    rate = float(match[1]) * _RATE_UNITS[match[2].lower()]
    if not rate > 0:
        raise InputError(f"rate {text!r}: must be greater than 0")
    return rate


def to_scenario(
    imported: ImportedTrace,
    *,
    name: str | None = None,
    one_way_delay_ms: float | None = None,
    queue: Queue | None = None,
    loss_ratio: float | None = None,
    duration_s: float | None = None,
) -> Scenario:
    """A scenario of an imported file; options that are not None override what the file says.

    Args:
        imported: what an importer read.
        name: None: the file's stem (the scenario's own name for a scenario).
        one_way_delay_ms: forward and reverse, ms. None: the file's, else 25 ms.
        queue: forward. None: the file's, else 300 ms of the mean capacity.
        loss_ratio: forward, independent, 0..1. None: the file's, else none.
        duration_s: seconds. None: the file's own length, else 60 s.

    Raises:
        InputError: an option is out of range.
    """
    if imported.scenario is None:
        assert imported.capacity is not None
        return scenario_from_capacity(
            imported.capacity,
            name or Path(imported.source).stem,
            one_way_delay_ms=imported.one_way_delay_ms if one_way_delay_ms is None else one_way_delay_ms,
            queue=queue,
            loss_ratio=imported.loss_ratio if loss_ratio is None else loss_ratio,
            duration_s=duration_s,
            provenance={
                "source": f"{Path(imported.source).name} ({imported.format})",
                "licence": "not stated; ask whoever published the trace",
            },
        )
    data = imported.scenario.to_dict()
    if name is not None:
        data["name"] = name
    if one_way_delay_ms is not None:
        data["forward"]["one_way_delay_ms"] = data["reverse"]["one_way_delay_ms"] = one_way_delay_ms
    if queue is not None:
        data["forward"]["queue"] = queue.model_dump(exclude_none=True)
    if loss_ratio is not None:
        data["forward"]["loss"] = {"kind": "bernoulli", "ratio": loss_ratio} if loss_ratio else {"kind": "none"}
    if duration_s is not None:
        data["duration_s"] = duration_s
    return Scenario.from_dict(data, imported.source)


def format_of(path: str | Path) -> TraceFormat:
    """The format that a file name's ending stands for: .csv, .json (scenario), .mahi, .trace, .up, .down (Mahimahi).

    Raises:
        InputError: another ending.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _EXTENSIONS:
        raise InputError(f"{path}: the ending does not tell the format; add --to csv, mahimahi, opennetlab or scenario")
    return _EXTENSIONS[suffix]


def render(scenario: Scenario, target: TraceFormat) -> tuple[str, list[str]]:
    """Text of a scenario in a format, and what that format cannot express of it.

    CSV keeps the capacity as it is; OpenNetLab adds delay and independent loss; Mahimahi has the capacity only, in
    deliveries of 1500 bytes. A capacity without a period is cut to the scenario's duration.

    Raises:
        InputError: the forward capacity is unlimited, which no trace format can express.
    """
    if target == "scenario":
        return scenario.to_json(), []
    if scenario.forward.capacity is None:
        raise InputError(f"{scenario.name}: the forward capacity is unlimited; a {target} file needs one")
    trace = scenario.forward.capacity.trace()
    if trace.period_s is None:
        trace = _cut(trace, scenario.duration_s or DEFAULT_DURATION_S)
    lost = _not_expressed(scenario, target)
    if target == "csv":
        return write_csv(trace), lost
    if target == "mahimahi":
        return write_mahimahi(trace), lost
    loss = scenario.forward.loss
    delay_ms = scenario.forward.one_way_delay_ms
    ratio = loss.ratio if isinstance(loss, BernoulliLoss) else 0.0
    return write_opennetlab(trace, loss_ratio=ratio, rtt_ms=2 * delay_ms), lost


def _cut(trace: CapacityTrace, duration_s: float) -> CapacityTrace:
    keep = trace.times_s < duration_s
    return CapacityTrace(trace.times_s[keep], trace.rates_bps[keep], duration_s)


def _not_expressed(scenario: Scenario, target: TraceFormat) -> list[str]:
    plain = Link(capacity=scenario.forward.capacity)
    forward = scenario.forward
    lost = []
    if target != "opennetlab" and forward.one_way_delay_ms != plain.one_way_delay_ms:
        lost.append(f"one-way delay ({forward.one_way_delay_ms:g} ms)")
    expressible = ("none", "bernoulli") if target == "opennetlab" else ("none",)
    if forward.loss.kind not in expressible:
        lost.append(f"loss ({forward.loss.kind})")
    if forward.queue != plain.queue:
        lost.append("queue limit")
    if forward.queue_discipline != plain.queue_discipline:
        lost.append(f"queue discipline ({forward.queue_discipline})")
    if forward.jitter.kind != "none":
        lost.append("jitter")
    if scenario.reverse != Link(capacity=None, one_way_delay_ms=forward.one_way_delay_ms):
        lost.append("reverse link")
    default_flow = scenario_from_capacity(CapacityTrace.constant(1e6), "default").flows
    if scenario.flows != default_flow:
        lost.append("flows")
    return lost
