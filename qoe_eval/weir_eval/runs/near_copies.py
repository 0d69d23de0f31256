"""Scenarios of one capture under several names: copies with other numbers, and parts that overlap."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Scenario

NEAR_COPY_RATIO = 0.01
_RUN = 5
_FEWEST_RUNS = 8
_SHARED = 0.1
# Rates of files have few digits; a change by the factor e^0.05.
_STEP = 0.05

# The rates' changes in a row, rounded.
_Runs = frozenset[tuple[float, ...]]


def path_of(scenario: Scenario) -> dict[str, JsonValue]:
    """The content of a scenario without its name, description and provenance."""
    document = scenario.to_dict()
    return {key: document[key] for key in sorted(document.keys() - {"name", "description", "provenance"})}


def near_copies(scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Scenarios that are not independent of an earlier one, and its name.

    1. Their paths are equal except for numbers, each of which differs by at most NEAR_COPY_RATIO.
    2. They differ only in numbers and in the capacity, and a part of the shorter capacity trace is in the other, at any
       place and scale: a tenth of its runs of `_RUN` relative changes of the rate, rounded to `_STEP`. Traces with
       fewer than `_FEWEST_RUNS` different runs, as steps and square waves, are only compared by the first rule.
    """
    originals: dict[str, list[tuple[str, NDArray[np.float64]]]] = {}
    captures: dict[str, list[tuple[str, _Runs]]] = {}
    found: dict[str, str] = {}
    for scenario in scenarios:
        numbers: list[float] = []
        path = path_of(scenario)
        form = json.dumps(_form(path, numbers))
        values = np.array(numbers)
        alike = originals.setdefault(form, [])
        others_of_kind = captures.setdefault(json.dumps(_form(_without_capacity(path), [])), [])
        runs = _runs(scenario.forward.capacity.trace()) if scenario.forward.capacity else frozenset()
        near = (name for name, others in alike if np.allclose(values, others, rtol=NEAR_COPY_RATIO, atol=0))
        parts = (name for name, others in others_of_kind if _overlap(runs, others))
        original = next(near, None) or next(parts, None)
        if original is not None:
            found[scenario.name] = found.get(original, original)
        alike.append((scenario.name, values))
        others_of_kind.append((scenario.name, runs))
    return found


def _without_capacity(path: dict[str, JsonValue]) -> dict[str, JsonValue]:
    forward = path["forward"]
    assert isinstance(forward, dict)
    link = {key: value for key, value in forward.items() if key != "capacity"}
    return {**path, "forward": link}


def _runs(trace: CapacityTrace) -> _Runs:
    rates = np.log(np.maximum(trace.rates_bps, 1.0))
    changes = np.round(np.diff(rates) / _STEP)
    changes = changes[changes != 0]
    if len(changes) < _RUN:
        return frozenset()
    return frozenset(map(tuple, np.lib.stride_tricks.sliding_window_view(changes, _RUN).tolist()))


def _overlap(runs: _Runs, others: _Runs) -> bool:
    fewer = min(len(runs), len(others))
    return fewer >= _FEWEST_RUNS and len(runs & others) >= _SHARED * fewer


def _form(value: JsonValue, numbers: list[float]) -> JsonValue:
    """A value without its numbers, which are appended to `numbers`."""
    if isinstance(value, dict):
        return {key: _form(value[key], numbers) for key in sorted(value)}
    if isinstance(value, list):
        return [_form(item, numbers) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        numbers.append(float(value))
        return 0
    return value
