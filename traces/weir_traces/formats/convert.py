"""Converts any trace file to a scenario, and any format to any other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace, TraceFormat
from weir_traces.formats.csv_trace import write_csv
from weir_traces.formats.mahimahi import write_mahimahi
from weir_traces.formats.opennetlab import write_opennetlab
from weir_traces.formats.plain_trace import DEFAULT_DURATION_S, loss_of, scenario_from_capacity
from weir_traces.schema.capacity import MAX_RATE_BPS, CapacityTrace
from weir_traces.schema.links import BernoulliLoss, Capacity, Link
from weir_traces.schema.scenario import Queue, Scenario

_QUEUE_UNITS = {
    "": "milliseconds", "ms": "milliseconds", "s": "milliseconds", "b": "bytes", "kb": "bytes", "mb": "bytes",
    "pkt": "packets", "pkts": "packets", "packets": "packets",
}  # fmt: skip
_SCALES = {"s": 1000, "b": 1, "kb": 1000, "mb": 1_000_000}
_RATE_UNITS = {"": 1.0, "bps": 1.0, "k": 1e3, "kbps": 1e3, "m": 1e6, "mbps": 1e6, "g": 1e9, "gbps": 1e9}
_LARGEST_QUEUE = 1e9
_EXTENSIONS: dict[str, TraceFormat] = {
    ".csv": "csv", ".json": "scenario",
    ".mahi": "mahimahi", ".trace": "mahimahi", ".up": "mahimahi", ".down": "mahimahi",
}  # fmt: skip


def parse_queue(text: str) -> Queue:
    """A queue limit: ``300``, ``300ms``, ``2s`` (drain time at the mean capacity), ``120kB``, ``15000B``, ``50pkt``.

    kB and MB are 1000 and 1,000,000 bytes; case does not matter.

    Raises:
        InputError: it has none of these forms, or is not greater than 0.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", text.strip())
    unit = match[2].lower() if match else "?"
    if not match or unit not in _QUEUE_UNITS:
        raise InputError(f"--queue {text[:40]!r}: write milliseconds (300), bytes (120kB, 15000B) or packets (50pkt)")
    number = float(match[1]) * _SCALES.get(unit, 1)
    field = _QUEUE_UNITS[unit]
    if number > _LARGEST_QUEUE:
        raise InputError(f"--queue {text[:40]!r}: is beyond any queue; give at most {_LARGEST_QUEUE:g} {field}")
    if field != "milliseconds" and not number.is_integer():
        raise InputError(f"--queue {text!r}: must be a whole number of {field}")
    if not number > 0:
        raise InputError(f"--queue {text!r}: must be greater than 0; the smallest queue that works is 1pkt")
    return Queue(milliseconds=number) if field == "milliseconds" else Queue.model_validate({field: int(number)})


def parse_rate(text: str) -> float:
    """A rate in bit/s: ``2500000``, ``300k``, ``2.5M``, ``2.5Mbps``, ``1G``; case does not matter.

    Raises:
        InputError: it has none of these forms, or is not greater than 0.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:[eE]\d+)?)\s*([a-zA-Z]*)", text.strip())
    if not match or match[2].lower() not in _RATE_UNITS:
        raise InputError(f"rate {text[:40]!r}: write bit/s with an optional k, M or G (2500000, 300k, 2.5M)")
    rate = float(match[1]) * _RATE_UNITS[match[2].lower()]
    if not 0 < rate <= MAX_RATE_BPS:
        raise InputError(f"rate {text[:40]!r}: must be greater than 0, and at most {MAX_RATE_BPS / 1e9:g} Gbps")
    return rate


def to_scenario(
    imported: ImportedTrace,
    *,
    name: str | None = None,
    one_way_delay_ms: float | None = None,
    queue: Queue | None = None,
    loss_ratio: float | None = None,
    duration_s: float | None = None,
    reverse: ImportedTrace | None = None,
) -> Scenario:
    """A scenario of an imported file; options that are not None override the file's values.

    Args:
        imported: the result of an importer.
        name: None: the stem of the file name, or for a scenario its own name.
        one_way_delay_ms: forward and reverse, ms. None: the file's, else 25 ms.
        queue: forward. None: the file's, else 300 ms of the mean capacity.
        loss_ratio: forward, independent, 0..1. None: the file's, else none.
        duration_s: seconds. None: the length of the file, else 60 s.
        reverse: a trace with the capacity, loss and delay of the reverse link. None: the file's, else unlimited.

    Raises:
        InputError: an option is out of range.
    """
    reverse = imported.reverse if reverse is None else reverse
    if imported.scenario is None:
        assert imported.capacity is not None
        return scenario_from_capacity(
            imported.capacity,
            name or Path(imported.source.removesuffix(".gz")).stem,
            one_way_delay_ms=imported.one_way_delay_ms if one_way_delay_ms is None else one_way_delay_ms,
            queue=queue,
            loss_ratio=imported.loss_ratio if loss_ratio is None else loss_ratio,
            duration_s=duration_s,
            reverse=None if reverse is None else _reverse_link(reverse, one_way_delay_ms),
            provenance={
                "source": f"{Path(imported.source).name} ({imported.format})" + _reverse_source(imported, reverse),
                "licence": "not stated; ask whoever published the trace",
            },
        )
    data = imported.scenario.to_dict()
    if name is not None:
        data["name"] = name
    if reverse is not None:
        data["reverse"] |= _reverse_link(reverse, one_way_delay_ms)
    if one_way_delay_ms is not None:
        data["forward"]["one_way_delay_ms"] = data["reverse"]["one_way_delay_ms"] = one_way_delay_ms
    if queue is not None:
        data["forward"]["queue"] = queue.model_dump(exclude_none=True)
    if loss_ratio is not None:
        data["forward"]["loss"] = loss_of(loss_ratio)
    if duration_s is not None:
        data["duration_s"] = duration_s
    return Scenario.from_dict(data, imported.source)


def _reverse_link(reverse: ImportedTrace, one_way_delay_ms: float | None) -> dict[str, Any]:
    if reverse.capacity is None:
        raise InputError(f"{reverse.source}: its capacity is unlimited; the reverse link takes a trace that has one")
    link: dict[str, Any] = {"capacity": Capacity.from_trace(reverse.capacity).model_dump()}
    if reverse.loss_ratio is not None:
        link["loss"] = loss_of(reverse.loss_ratio)
    delay_ms = reverse.one_way_delay_ms if one_way_delay_ms is None else one_way_delay_ms
    if delay_ms is not None:
        link["one_way_delay_ms"] = delay_ms
    return link


def _reverse_source(imported: ImportedTrace, reverse: ImportedTrace | None) -> str:
    if reverse is None:
        return ""
    return "; reverse: " + ("its downlink" if reverse is imported.reverse else Path(reverse.source).name)


def format_of(path: str | Path) -> TraceFormat:
    """The format of a file name extension: .csv, .json (scenario), .mahi, .trace, .up, .down (Mahimahi).

    Raises:
        InputError: the extension is none of these.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _EXTENSIONS:
        raise InputError(
            f"{path}: the ending does not give the format; use .csv, .up, .down or .json (convert has --to)"
        )
    return _EXTENSIONS[suffix]


def render(scenario: Scenario, target: TraceFormat, duration_s: float | None = None) -> tuple[str, list[str]]:
    """Text of a scenario in a format, and the parts that the format cannot express.

    CSV keeps the capacity unchanged; OpenNetLab adds delay and independent loss; Mahimahi has the capacity only, in
    deliveries of 1500 bytes. A capacity without a period is cut to the scenario's duration, one with a period to
    `duration_s`, if given.

    Raises:
        InputError: the forward capacity is unlimited, which no trace format can express, or shorter than `duration_s`.
    """
    if target == "scenario":
        return scenario.to_json(), []
    if scenario.forward.capacity is None:
        raise InputError(f"{scenario.name}: the forward capacity is unlimited; a {target} file needs one")
    trace = scenario.forward.capacity.trace()
    if trace.period_s is None:
        trace = _cut(trace, scenario.duration_s or DEFAULT_DURATION_S)
    elif duration_s is not None:
        if duration_s > trace.period_s:
            raise InputError(f"--duration '{duration_s:g}': the trace is {trace.period_s:g} s long; give at most that")
        trace = _cut(trace, duration_s)
    lost = _not_expressed(scenario, target)
    if target == "csv":
        return write_csv(trace), lost
    if target == "mahimahi":
        return write_mahimahi(trace), lost
    loss = scenario.forward.loss
    ratio = loss.ratio if isinstance(loss, BernoulliLoss) else 0.0
    return write_opennetlab(trace, loss_ratio=ratio, one_way_delay_ms=scenario.forward.one_way_delay_ms), lost


def _cut(trace: CapacityTrace, duration_s: float) -> CapacityTrace:
    keep = trace.times_s < duration_s
    return CapacityTrace(trace.times_s[keep], trace.rates_bps[keep], duration_s)


def _not_expressed(scenario: Scenario, target: TraceFormat) -> list[str]:
    plain = Link(capacity=scenario.forward.capacity)
    forward = scenario.forward
    lost = []
    if target != "opennetlab" and forward.one_way_delay_ms != plain.one_way_delay_ms:
        lost.append(f"one-way delay ({forward.mean_one_way_delay_ms(scenario.duration_s):g} ms)")
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
