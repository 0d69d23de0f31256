"""A family in one row: every controller's score, and how the model compares with the better GCC and with the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.qoe_eval.measures.comparison import against, scenario_differences
from weir.qoe_eval.measures.statistics import PairedComparison
from weir.qoe_eval.measures.summary import REFERENCE, scenario_means

SCORE = "challenge"
GCC = "gcc"
RULE = "rule"
# A receiver that has only REMB to answer with is to be compared with the GCC that has only that.
GCCS = (GCC, "gcc-remb")

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class WorstScenario:
    """A scenario by name, and there weir less gcc, or weir by gcc."""

    scenario: str
    value: float


@dataclass(frozen=True)
class FamilyRow:
    """One family. What no pair of runs was there for is None.

    Attributes:
        name: of the family.
        description: what happens in it.
        scenarios: how many completed with any controller.
        scores: mean challenge score over scenarios, by controller.
        better_gcc: of the two GCC that with the higher score.
        against_gcc: weir less that one, challenge score.
        against_rule: weir less the rule.
        worst_score: the scenario with the lowest score against gcc.
        worst_utilisation: that with the lowest utilisation as a ratio of gcc's.
    """

    name: str
    description: str
    scenarios: int
    scores: Mapping[str, float]
    better_gcc: str | None
    against_gcc: PairedComparison | None
    against_rule: PairedComparison | None
    worst_score: WorstScenario | None
    worst_utilisation: WorstScenario | None


def family_row(name: str, description: str, records: Records) -> FamilyRow:
    """The row of a family from its records."""
    means = scenario_means(records)
    scores: dict[str, float] = {}
    for controller in dict.fromkeys(controller for by in means.values() for controller in by):
        values = [by[controller][SCORE] for by in means.values() if SCORE in by.get(controller, {})]
        if values:
            scores[controller] = sum(values) / len(values)
    better = max((name for name in GCCS if name in scores), key=lambda name: scores[name], default=None)
    differences = scenario_differences(means, GCC, SCORE)
    ratios = {
        scenario: by[REFERENCE]["utilisation"] / by[GCC]["utilisation"]
        for scenario, by in means.items()
        if "utilisation" in by.get(REFERENCE, {}) and by.get(GCC, {}).get("utilisation", 0.0) > 0
    }
    return FamilyRow(
        name=name,
        description=description,
        scenarios=len(means),
        scores=scores,
        better_gcc=better,
        against_gcc=against(records, better, SCORE) if better else None,
        against_rule=against(records, RULE, SCORE),
        worst_score=_lowest(differences),
        worst_utilisation=_lowest(ratios),
    )


def worst_scenarios(records: Records, count: int) -> list[str]:
    """The scenarios with the lowest challenge score against gcc, worst first."""
    differences = scenario_differences(scenario_means(records), GCC, SCORE)
    return sorted(differences, key=lambda name: differences[name])[:count]


def _lowest(values: Mapping[str, float]) -> WorstScenario | None:
    if not values:
        return None
    name = min(values, key=lambda scenario: values[scenario])
    return WorstScenario(name, values[name])
