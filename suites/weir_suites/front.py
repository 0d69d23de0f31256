"""The front of one model: what its rate and delay are under each objective, against those of other controllers.

The best objective for a scenario is chosen afterwards. A share shows that weights exist that are better there, not that
an application would know them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from weir_eval.measures.run_values import mean_over_seeds
from weir_eval.records.run_record import RunRecord
from weir_eval.report.goal_table import Bound
from weir_suites.results import Results
from weir_suites.suite import Outcome

DELAY = "p95_queueing_delay_ms"

Point = tuple[float, float]
"""Mean received rate in bit/s and mean p95 queueing delay in ms, over the seeds of a scenario."""


def received_bps(record: RunRecord) -> float:
    """Mean received rate of the flow under test."""
    return 8 * record.flows[0].bytes_received / record.duration_s


def dominating(
    results: Results, bound: Bound, *, sets: Mapping[str, Sequence[str]], controller: str, other: str
) -> Outcome:
    """The share of scenarios on which some objective has a higher rate and a lower delay than another controller.

    Args:
        results: the runs.
        bound: of the goal.
        sets: names of sets by objective; the other controller's runs are in those of the first.
        controller: that follows the objectives.
        other: that it is compared with.
    """
    first = next(iter(sets.values()))
    fronts = {objective: points_by_scenario(results, names, controller) for objective, names in sets.items()}
    others = points_by_scenario(results, first, other)
    scenarios = sorted(set.intersection(set(others), *map(set, fronts.values())))
    if not scenarios:
        names = [name for of_objective in sets.values() for name in of_objective]
        return Outcome(reason=results.why_absent(names, controller) or results.why_absent(first, other))
    better = {
        objective: {scenario for scenario in scenarios if _dominates(points[scenario], others[scenario])}
        for objective, points in fronts.items()
    }
    shown = [f"{objective} {100 * len(found) / len(scenarios):.0f} %" for objective, found in better.items()]
    figures = dict(_means({**fronts, other: others}, scenarios))
    detail = f"{len(scenarios)} scenarios; by one objective for all: {', '.join(shown)}; {_described(figures)}"
    return Outcome(len(set.union(*better.values())) / len(scenarios), detail, figures)


def points_by_scenario(results: Results, names: Sequence[str], controller: str) -> dict[str, Point]:
    """The points of a controller in these sets, by scenario."""
    found: dict[str, Point] = {}
    for name in names:
        rates = mean_over_seeds(results.run_values(name, controller, received_bps))
        delays = mean_over_seeds(results.run_values(name, controller, DELAY))
        found |= {scenario: (rates[scenario], delays[scenario]) for scenario in rates.keys() & delays.keys()}
    return found


def _dominates(own: Point, other: Point) -> bool:
    return own[0] > other[0] and own[1] < other[1]


def _means(points: Mapping[str, Mapping[str, Point]], scenarios: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Mean rate in kbps and delay in ms by objective, and of the other controller."""
    for name, by_scenario in points.items():
        yield f"{name} kbps", fmean(by_scenario[scenario][0] for scenario in scenarios) / 1e3
        yield f"{name} ms", fmean(by_scenario[scenario][1] for scenario in scenarios)


def _described(figures: Mapping[str, float]) -> str:
    names = [key.removesuffix(" kbps") for key in figures if key.endswith(" kbps")]
    return "; ".join(f"{name} {figures[f'{name} kbps']:,.0f} kbps, {figures[f'{name} ms']:.0f} ms" for name in names)
