"""Reads scenario files as traces: the capacity of the forward link."""

from __future__ import annotations

from typing import Any

from weir.traces.formats import ImportedTrace
from weir.traces.formats.validation import Finding
from weir.traces.schema.scenario import Scenario


def is_scenario(data: Any) -> bool:
    """True for an object with a scenario's schema or parts."""
    return isinstance(data, dict) and ("schema" in data or bool({"forward", "flows"} & data.keys()))


def read_scenario(data: Any, source: str) -> ImportedTrace:
    """A scenario from parsed JSON. Raises InputError if it is invalid."""
    scenario = Scenario.from_dict(data, source)
    capacity = scenario.forward.capacity
    trace = None if capacity is None else capacity.trace()
    findings = []
    if trace is not None and not trace.integrate(0.0, scenario.duration_s) > 0:
        fault = f"the link has no capacity in all of the {scenario.duration_s:g} s"
        findings.append(Finding("all_zero", "error", source, "forward.capacity", fault))
    return ImportedTrace(source, "scenario", trace, findings, scenario=scenario, understood="s and bit/s")
