"""OpenNetLab gym traces.

``uplink.trace_pattern[]`` of ``duration`` (ms), ``capacity`` (kbps), ``loss`` (0..1), ``rtt`` (ms); what an entry
leaves out stays as it was (a duration may not be left out). ``downlink``, ``jitter`` and ``time`` are not used by
OpenNetLab's own player either; they are ignored, with a warning where they would mean something. The pattern's length
is the period.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weir.traces.capacity import CapacityTrace
from weir.traces.errors import InputError
from weir.traces.imported_trace import ImportedTrace
from weir.traces.json_text import format_json
from weir.traces.validation import OPENNETLAB_LIMIT_BPS, Finding, Samples, check


def read_opennetlab(data: Any, source: str) -> ImportedTrace:
    """An OpenNetLab trace from parsed JSON.

    Raises:
        InputError: structure or types are wrong; the message names the entry.
    """
    uplink = data.get("uplink") if isinstance(data, dict) else None
    pattern = uplink.get("trace_pattern") if isinstance(uplink, dict) else None
    if not isinstance(pattern, list) or not pattern:
        raise InputError(f"{source}: uplink.trace_pattern: must be an array with at least one entry")
    findings: list[Finding] = []
    positions, durations, rates, losses, rtts = [], [], [], [], []
    capacity: float | None = None
    loss: float | None = None
    rtt: float | None = None
    for index, entry in enumerate(pattern):
        at = f"entry {index} (uplink.trace_pattern[{index}])"
        if not isinstance(entry, dict):
            raise InputError(f"{source}: {at}: must be a JSON object with duration (ms) and capacity (kbps)")
        duration = _entry_number(entry, "duration", source, at)
        capacity = _entry_number(entry, "capacity", source, at, capacity)
        loss = _entry_number(entry, "loss", source, at, loss)
        rtt = _entry_number(entry, "rtt", source, at, rtt)
        if duration is None or capacity is None:
            missing = "duration" if duration is None else "capacity"
            raise InputError(f'{source}: {at}: "{missing}" is missing; add it')
        if entry.get("jitter"):
            findings.append(Finding("ignored", "warning", source, at, "jitter has no defined meaning; ignored"))
        if duration <= 0:
            what = f"duration is {duration:g} ms"
            findings.append(Finding("bad_duration", "error", source, at, what, "the entry is dropped"))
            continue
        positions.append(at)
        durations.append(duration / 1e3)
        rates.append(capacity * 1e3)
        losses.append(loss)
        rtts.append(rtt)
    if not durations:
        raise InputError(f"{source}: uplink.trace_pattern: no entry lasts longer than 0 ms; give durations in ms")
    downlink = data.get("downlink")
    if isinstance(downlink, dict) and downlink.get("trace_pattern"):
        text = "only uplink is used; downlink.trace_pattern is ignored"
        findings.append(Finding("ignored", "warning", source, "downlink", text))
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
    samples = Samples(source, positions, seconds, np.array(rates), OPENNETLAB_LIMIT_BPS, rate_unit_bps=1e3)
    found, repaired = check(samples)
    loss_ratio = _steady(losses, seconds, positions, source, "loss", 1.0, findings)
    mean_rtt = _steady(rtts, seconds, positions, source, "rtt", 20e3, findings)
    return ImportedTrace(
        source, "opennetlab", CapacityTrace.from_durations(seconds, repaired.rates_bps), findings + found, loss_ratio,
        None if mean_rtt is None else mean_rtt / 2,
    )  # fmt: skip


def write_opennetlab(trace: CapacityTrace, *, loss_ratio: float = 0.0, rtt_ms: float | None = None) -> str:
    """Text of an OpenNetLab trace of a periodic capacity, with one loss ratio (0..1) and round-trip time (ms)."""
    assert trace.period_s is not None, "cut the trace to a duration first"
    # From rounded edges, so that rounding never adds up; a microsecond is far below what a player resolves.
    edges_ms = np.round(np.append(trace.times_s, trace.period_s) * 1e3, 3)
    pattern: list[dict[str, float]] = [
        {"duration": round(duration, 3), "capacity": round(rate / 1e3, 6), "loss": loss_ratio}
        for duration, rate in zip(np.diff(edges_ms).tolist(), trace.rates_bps.tolist(), strict=True)
    ]
    if rtt_ms is not None:
        pattern = [entry | {"rtt": rtt_ms} for entry in pattern]
    return format_json({"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}}) + "\n"


def _entry_number(entry: dict[str, Any], key: str, source: str, at: str, default: float | None = None) -> float | None:
    if key not in entry:
        return default
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise InputError(f"{source}: {at}: {key} is {value!r}; it must be a finite number")
    return float(value)


def _steady(
    values: list[float | None],
    durations_s: np.ndarray,
    positions: list[str],
    source: str,
    key: str,
    highest: float,
    findings: list[Finding],
) -> float | None:
    """The time-weighted mean of loss or round-trip time, with findings where values are odd or change."""
    known = np.array([value if value is not None else np.nan for value in values])
    if np.all(np.isnan(known)):
        return None
    percent = key == "loss" and np.nanmax(known) > 1 and np.nanmax(known) <= 100
    for index in np.flatnonzero((known < 0) | (known > highest)):
        repair = "all losses taken as percent" if percent and known[index] > 1 else f"cut to 0..{highest:g}"
        text = f"{key} is {known[index]:g}, outside 0..{highest:g}"
        findings.append(Finding(f"bad_{key}", "error", source, positions[index], text, repair))
    known = np.clip(known / 100 if percent else known, 0, highest)
    if np.nanmin(known) != np.nanmax(known) or np.any(np.isnan(known)):
        text = (
            f"{key} changes within the trace ({np.nanmin(known):g} to {np.nanmax(known):g}); its mean over time is used"
        )
        findings.append(Finding("averaged", "warning", source, positions[0], text))
    present = ~np.isnan(known)
    return float(np.average(known[present], weights=durations_s[present]))
