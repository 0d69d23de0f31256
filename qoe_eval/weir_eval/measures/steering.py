"""Measures how presets steer a model: weight on throughput raises the throughput, weight on latency lowers delay.

On a scenario the presets move in the right direction if, in the order throughput, balanced, latency, neither
utilization nor p95 queueing delay rises from one preset to the next. If presets have no effect (for example in a call
that does not fill its path) they tie, and a tie within the tolerances counts as right. The share of scenarios that move
is reported, too, to reveal a model that ignores its objective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_eval.measures.summary import scenario_means
from weir_eval.records.objectives import Steering
from weir_eval.records.record import Record
from weir_sim.controllers import PRESETS

# The order of the presets; others are listed after them.
ORDER = ("throughput", "balanced", "latency")
LISTED = (*ORDER, *(name for name in PRESETS if name not in ORDER))
STEPS = (("throughput", "balanced"), ("balanced", "latency"))
PAIRS = (*STEPS, ("throughput", "latency"))
# The largest step in the wrong direction that is still a tie: utilization as a ratio, delay in ms.
TOLERANCES = {"utilisation": 0.002, "p95_queueing_delay_ms": 1.0}


def steering_of(records: Mapping[str, Sequence[Record]], controller: str) -> Steering:
    """`steering` of a controller's runs, given by preset."""
    by_scenario: dict[str, dict[str, dict[str, float]]] = {}
    for preset, runs in records.items():
        means = scenario_means([record for record in runs if record.controller == controller])
        for scenario, by_controller in means.items():
            by_scenario.setdefault(scenario, {})[preset] = by_controller[controller]
    return steering(by_scenario)


def steering(values: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Steering:
    """Steering from scenario -> preset -> metric -> mean over seeds. Skips scenarios that lack a value."""
    read = {
        name: {preset: _measured(by_preset.get(preset, {})) for preset in ORDER} for name, by_preset in values.items()
    }
    known = {name: by for name, by in read.items() if all(len(found) == len(TOLERANCES) for found in by.values())}
    if not known:
        return Steering(scenarios=0, right=None, moved=None, by_step={}, wrong=[])
    right_steps = {
        (metric, a, b): [by[a][metric] - by[b][metric] >= -tolerance for by in known.values()]
        for metric, tolerance in TOLERANCES.items()
        for a, b in PAIRS
    }
    needed = [verdicts for (_, a, b), verdicts in right_steps.items() if (a, b) in STEPS]
    right = [all(verdicts) for verdicts in zip(*needed, strict=True)]
    moved = [
        ok and any(by[ORDER[0]][metric] - by[ORDER[-1]][metric] > tolerance for metric, tolerance in TOLERANCES.items())
        for ok, by in zip(right, known.values(), strict=True)
    ]
    return Steering(
        scenarios=len(known),
        right=sum(right) / len(known),
        moved=sum(moved) / len(known),
        by_step={
            metric: {f"{a}-{b}": sum(right_steps[metric, a, b]) / len(known) for a, b in PAIRS} for metric in TOLERANCES
        },
        wrong=[name for name, ok in zip(known, right, strict=True) if not ok],
    )


def _measured(values: Mapping[str, float | None]) -> dict[str, float]:
    return {metric: value for metric in TOLERANCES if (value := values.get(metric)) is not None}
