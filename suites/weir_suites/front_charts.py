"""Charts of rate over delay: a line through the weights of one model, the other controllers as points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from weir_eval.report.page_blocks import Figure, Grid, Section, Text, note
from weir_suites.front import Point, points_by_scenario
from weir_suites.results import Results

# Objectives by set: names of sets, as `dominating` takes them.
Sets = Mapping[str, Sequence[str]]


def front_section(
    results: Results, *, places: Mapping[str, Sets], controllers: Sequence[str], others: Sequence[str]
) -> Section | None:
    """A chart for each place, or None where no objective has runs.

    Args:
        results: the runs.
        places: sets by objective, by the name of the place.
        controllers: that follow objectives, a line of each.
        others: whose runs are in the sets of the first objective, a point of each.
    """
    charts = [
        [Text(name, "caption"), Figure(f"weights-{number}", chart)]
        for number, (name, sets) in enumerate(places.items())
        if (chart := _chart(results, sets, controllers, others))
    ]
    if not charts:
        return None
    about = note(
        "One model under several weights <throughput, latency, loss>, joined by a line in the order of their rates; "
        "crosses are controllers without weights. Means over the scenarios that all of them have completed. Up and to "
        "the right is better."
    )
    return Section("weights", "Weights of one model", [about, Grid("pair-of-charts", charts)])


def _chart(results: Results, sets: Sets, controllers: Sequence[str], others: Sequence[str]) -> dict[str, Any]:
    lines = {
        controller: {objective: points_by_scenario(results, names, controller) for objective, names in sets.items()}
        for controller in controllers
    }
    first = next(iter(sets.values()))
    alone = {other: points_by_scenario(results, first, other) for other in others}
    found = [*(by_scenario for line in lines.values() for by_scenario in line.values()), *alone.values()]
    scenarios = set.intersection(*map(set, found))
    if not scenarios:
        return {}
    return {
        "lines": [
            {
                "controller": controller,
                "points": sorted(
                    ({"weights": name} | _mean(by_scenario, scenarios) for name, by_scenario in line.items()),
                    key=lambda point: point["kbps"],
                ),
            }
            for controller, line in lines.items()
        ],
        "others": [{"controller": other} | _mean(by_scenario, scenarios) for other, by_scenario in alone.items()],
    }


def _mean(by_scenario: Mapping[str, Point], scenarios: set[str]) -> dict[str, Any]:
    points = [by_scenario[scenario] for scenario in scenarios]
    return {"kbps": round(fmean(rate for rate, _ in points) / 1e3, 1), "ms": round(fmean(ms for _, ms in points), 1)}
