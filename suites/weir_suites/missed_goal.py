"""The pair of controllers behind a missed goal of a suite, for the charts of a set of scenarios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from weir_eval.measures.run_values import mean_over_seeds
from weir_eval.report.goal_table import GoalRow
from weir_suites.comparison import Comparison
from weir_suites.metric import gain
from weir_suites.results import Results
from weir_suites.suite import Goal


class MissedPair(NamedTuple):
    """The controller that missed a goal (`what`), the other that is furthest ahead of it on a scenario, and the gains
    over it in the goal's measure, by scenario.
    """

    own: str
    other: str
    what: str
    gains: dict[str, float]


def missed_pair(goals: Sequence[Goal], rows: Sequence[GoalRow], results: Results, name: str) -> MissedPair | None:
    """The pair of the first missed goal that compares controllers on the set `name`; None without such a goal. `rows`:
    those of the goals.
    """
    ran = {record.controller for record in results.replays_of(name)}
    for goal, row in zip(goals, rows, strict=True):
        measure = goal.measure
        if row.reached is not False or not isinstance(measure, Comparison) or name not in measure.set_names:
            continue
        gains = {
            other: _gains(measure, results, name, other)
            for other in measure.others
            if {measure.controller, other} <= ran
        }
        lowest = {other: min(by_scenario.values()) for other, by_scenario in gains.items() if by_scenario}
        if lowest:
            other = min(lowest, key=lambda one: lowest[one])
            return MissedPair(measure.controller, other, row.what, gains[other])
    return None


def _gains(measure: Comparison, results: Results, name: str, other: str) -> dict[str, float]:
    own, others = (
        mean_over_seeds(results.run_values(name, controller, measure.metric, measure.where))
        for controller in (measure.controller, other)
    )
    found = {scenario: gain(measure.metric, own[scenario], others[scenario]) for scenario in own.keys() & others.keys()}
    return {scenario: value for scenario, value in sorted(found.items()) if math.isfinite(value)}
