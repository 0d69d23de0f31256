"""Sabre networks: an array of ``duration_ms``, ``bandwidth_kbps`` and ``latency_ms`` (round trip, half each way)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.opennetlab import read_opennetlab

_KEYS = {"duration_ms": "duration", "bandwidth_kbps": "capacity", "latency_ms": "rtt"}


def is_sabre(data: Any) -> bool:
    """True for an array whose first entry has a duration and a bandwidth."""
    return (
        isinstance(data, list)
        and bool(data)
        and isinstance(data[0], dict)
        and set(_KEYS) - {"latency_ms"} <= set(data[0])
    )


def read_sabre(data: list[Any], source: str) -> ImportedTrace:
    """The trace of a network from parsed JSON.

    Raises:
        InputError: an entry is invalid.
    """
    for index, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise InputError(f"{source}: entry {index}: must be a JSON object with duration_ms and bandwidth_kbps")
    pattern = [{name: entry[key] for key, name in _KEYS.items() if key in entry} for entry in data]
    trace = read_opennetlab({"uplink": {"trace_pattern": pattern}}, source)
    findings = [replace(finding, position=finding.position.partition(" (")[0]) for finding in trace.findings]
    return replace(trace, format="sabre", findings=findings, understood="ms and kbps, half of the latency each way")
