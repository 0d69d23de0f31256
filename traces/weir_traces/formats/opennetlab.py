"""OpenNetLab gym traces.

``uplink.trace_pattern[]`` of ``duration`` (ms), ``capacity`` (kbps), ``loss`` (0..1), ``rtt`` (ms); an omitted value
keeps its previous value (a duration is required). The pattern's length is the period. Loss and delay (half of the round
trip each way) change with the entries. ``downlink`` has the same form and describes the return path, which has the
uplink's delay unless it is given; OpenNetLab's player does not read it, and applies the uplink's capacity, loss and
delay to the return path too. That player does not use ``jitter`` either: the reader ignores it, with a warning if it is
not 0, and ignores ``time``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_cli.files.output import format_json
from weir_traces.formats import ImportedTrace
from weir_traces.formats.validation import UNNAMED_USUAL_BPS, Finding, Samples, check
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.values_over_time import DelayOverTime, RatioOverTime

LONGEST_RTT_MS = 20e3
# As a duration in ms, 31 years; as a capacity in kbps, 1 Pbps.
LARGEST_NUMBER = 1e12

_Changing = TypeVar("_Changing", DelayOverTime, RatioOverTime)


def read_opennetlab(data: Any, source: str) -> ImportedTrace:
    """An OpenNetLab trace from parsed JSON.

    Raises:
        InputError: the structure or a type is invalid; the message names the entry.
    """
    if not isinstance(data, dict):
        raise InputError(f"{source}: must be a JSON object with uplink.trace_pattern")
    reverse = None
    downlink = data.get("downlink")
    if isinstance(downlink, dict) and downlink.get("trace_pattern"):
        reverse = _read_pattern(data, "downlink", source)
    return _read_pattern(data, "uplink", source, reverse)


def _read_pattern(data: dict[str, Any], side: str, source: str, reverse: ImportedTrace | None = None) -> ImportedTrace:
    section = data.get(side)
    pattern = section.get("trace_pattern") if isinstance(section, dict) else None
    if not isinstance(pattern, list) or not pattern:
        raise InputError(f"{source}: {side}.trace_pattern: must be an array with at least one entry")
    findings: list[Finding] = []
    positions, durations, rates, losses, rtts = [], [], [], [], []
    capacity: float | None = None
    loss: float | None = None
    rtt: float | None = None
    for index, entry in enumerate(pattern):
        at = f"entry {index} ({side}.trace_pattern[{index}])"
        if not isinstance(entry, dict):
            raise InputError(f"{source}: {at}: must be a JSON object with duration (ms) and capacity (kbps)")
        duration = entry_number(entry, "duration", source, at)
        capacity = entry_number(entry, "capacity", source, at, capacity)
        loss = entry_number(entry, "loss", source, at, loss)
        rtt = entry_number(entry, "rtt", source, at, rtt)
        if duration is None or capacity is None:
            missing = "duration" if duration is None else "capacity"
            raise InputError(f'{source}: {at}: "{missing}" is missing; add it')
        if entry.get("jitter"):
            findings.append(Finding("ignored", "warning", source, at, "jitter has no defined meaning; ignored"))
        if duration <= 0:
            fault = f"duration is {duration:g} ms"
            findings.append(Finding("bad_duration", "error", source, at, fault, "the entry is dropped"))
            continue
        positions.append(at)
        durations.append(duration / 1e3)
        rates.append(capacity * 1e3)
        losses.append(np.nan if loss is None else loss)
        rtts.append(np.nan if rtt is None else rtt)
    if not durations:
        raise InputError(f"{source}: {side}.trace_pattern: no entry lasts longer than 0 ms; give durations in ms")
    seconds = np.array(durations)
    if np.median(seconds) < 1e-3:
        findings.append(
            Finding(
                "unit_error", "error", source, positions[0],
                f"entries last {np.median(seconds) * 1e3:g} ms: durations are hardly in ms",
                "every duration taken as seconds",
            )
        )  # fmt: skip
        seconds = seconds * 1e3
    samples = Samples(source, positions, seconds, np.array(rates), UNNAMED_USUAL_BPS, rate_unit_bps=1e3)
    found, repaired = check(samples)
    trace = CapacityTrace.from_durations(seconds, repaired.rates_bps)
    ratios = _within(np.array(losses), positions, source, "loss", 1.0, findings)
    delays_ms = _within(np.array(rtts), positions, source, "rtt", LONGEST_RTT_MS, findings) / 2
    return ImportedTrace(
        source,
        "opennetlab",
        trace,
        findings + found + ([] if reverse is None else reverse.findings),
        # Nothing is lost before the first entry with a loss; the first delay holds from the beginning.
        loss_ratio=None if np.all(np.isnan(ratios)) else _over_time(RatioOverTime, trace, np.nan_to_num(ratios)),
        one_way_delay_ms=_over_time(DelayOverTime, trace, _begun(delays_ms)),
        reverse=reverse,
        understood="ms and kbps",
    )


def write_opennetlab(
    trace: CapacityTrace,
    *,
    loss_ratio: float | RatioOverTime = 0.0,
    one_way_delay_ms: float | DelayOverTime | None = None,
) -> str:
    """Text of an OpenNetLab trace of a periodic capacity, with loss (0..1) and, as half a round trip, delay (ms)."""
    assert trace.period_s is not None, "cut the trace to a duration first"
    changing = [value for value in (loss_ratio, one_way_delay_ms) if isinstance(value, DelayOverTime | RatioOverTime)]
    times_s = np.unique(np.concatenate([trace.times_s, *(_changes(value, trace.period_s) for value in changing)]))
    # Differences of rounded edges do not accumulate rounding errors; no player resolves a microsecond.
    durations_ms = np.diff(np.round(np.append(times_s, trace.period_s) * 1e3, 3))
    columns = {"duration": np.round(durations_ms, 3), "capacity": np.round(trace.rate_at(times_s) / 1e3, 6)}
    columns["loss"] = _at(loss_ratio, times_s)
    if one_way_delay_ms is not None:
        columns["rtt"] = 2 * _at(one_way_delay_ms, times_s)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    pattern = [dict(zip(columns, row, strict=True)) for row in rows if row[0] > 0]
    return format_json({"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}}) + "\n"


def entry_number(entry: dict[str, Any], key: str, source: str, at: str, default: float | None = None) -> float | None:
    """A number of an entry, or ``default`` if omitted. Raises InputError if it is not a number, or too large."""
    if key not in entry:
        return default
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
        raise InputError(f"{source}: {at}: {key} is {value!r:.40}; it must be a number of at most {LARGEST_NUMBER:g}")
    return float(value)


def _within(
    values: NDArray[np.float64], positions: list[str], source: str, key: str, highest: float, findings: list[Finding]
) -> NDArray[np.float64]:
    """Clips losses or round-trip times (NaN: not given yet) to their bounds; adds a finding for each clipped value."""
    most = np.max(values[~np.isnan(values)], initial=0.0)
    percent = key == "loss" and 1 < most <= 100
    for index in np.flatnonzero((values < 0) | (values > highest)):
        repair = "all losses taken as percent" if percent and values[index] > 1 else f"cut to 0..{highest:g}"
        text = f"{key} is {values[index]:g}, outside 0..{highest:g}"
        findings.append(Finding(f"bad_{key}", "error", source, positions[index], text, repair))
    return np.clip(values / 100 if percent else values, 0, highest)


def _begun(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[~np.isnan(values)]
    return np.where(np.isnan(values), known[0], values) if known.size else known


def _over_time(kind: type[_Changing], trace: CapacityTrace, values: NDArray[np.float64]) -> float | _Changing | None:
    """One value per entry of a trace: a number if all are equal, None if there are none."""
    if values.size == 0:
        return None
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    if starts.size == 1:
        return float(values[0])
    times_s, chosen = trace.times_s[starts].tolist(), values[starts].tolist()
    return kind.model_validate({"times_s": times_s, kind.values_name: chosen, "period_s": trace.period_s})


def _changes(values: DelayOverTime | RatioOverTime, end_s: float) -> NDArray[np.float64]:
    period_s = end_s if values.period_s is None else values.period_s
    starts_s = np.arange(0.0, end_s, period_s)
    times_s = (starts_s[:, None] + np.array(values.times_s)[None, :]).ravel()
    return times_s[times_s < end_s]


def _at(value: float | DelayOverTime | RatioOverTime, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(times_s.size, value) if isinstance(value, int | float) else value.at(times_s)
