"""Sessions of the bandwidth estimation challenge at MMSys 2024: ``true_capacity`` has one value in bit/s per 60 ms.

Sessions of its testbed have observations and predictions but no capacity, and cannot be converted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.json_numbers import LARGEST_NUMBER
from weir_traces.formats.validation import Finding, Samples, check
from weir_traces.schema.capacity import CapacityTrace

STEP_S = 0.06
KEYS = ("true_capacity", "bandwidth_predictions")


def is_mmsys(data: Any) -> bool:
    """True for a session."""
    return isinstance(data, dict) and any(key in data for key in KEYS)


def read_mmsys(data: dict[str, Any], source: str) -> ImportedTrace:
    """The capacity of a session from parsed JSON; null marks an unknown capacity.

    Raises:
        InputError: it has no capacity, or an entry is not a number.
    """
    values = data.get("true_capacity")
    if not isinstance(values, list) or not values:
        raise InputError(
            f"{source}: a session of MMSys 2024 without true_capacity: its observations and predictions do not show "
            "what the link could carry; give a session of the emulated data set"
        )
    rates = np.full(len(values), np.nan)
    for index, value in enumerate(values):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
            raise InputError(f"{source}: true_capacity[{index}] is {value!r:.40}; it must be a number of bit/s")
        rates[index] = value
    known = np.flatnonzero(~np.isnan(rates))
    if not known.size:
        raise InputError(f"{source}: true_capacity has no number")
    findings = []
    if known.size < rates.size:
        first = int(np.flatnonzero(np.isnan(rates))[0])
        text = f"{rates.size - known.size} entries have no capacity; that before them holds"
        findings.append(Finding("missing", "warning", source, f"true_capacity[{first}]", text))
    rates = rates[known[np.maximum(np.searchsorted(known, np.arange(rates.size), side="right") - 1, 0)]]
    edges = np.round(np.arange(rates.size + 1) * STEP_S, 9)
    positions = [f"true_capacity[{index}]" for index in range(rates.size)]
    found, repaired = check(Samples(source, positions, np.diff(edges), rates, rate_unit_bps=1.0))
    trace = CapacityTrace(edges[:-1], repaired.rates_bps, float(edges[-1]))
    return ImportedTrace(
        source, "mmsys2024", trace, findings + found, understood="true_capacity in bit/s of each 60 ms"
    )
