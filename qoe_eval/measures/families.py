"""A family in one row: every controller's score, and how the model compares with the better GCC and with the rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weir.qoe_eval.measures.summary import Means, against, scenario_differences, scenario_means
from weir.qoe_eval.records import FamilyRow, Record, WorstScenario
from weir.registry import POLICY
from weir.traces.generate.families.families import FAMILIES

SCORE = "challenge"
GCC = "gcc"
RULE = "rule"
# A receiver that has only REMB to answer with is to be compared with the GCC that has only that.
GCCS = (GCC, "gcc-remb")


def family_row(name: str, description: str, records: Sequence[Record], own: str = POLICY) -> FamilyRow:
    """The row of a family from its records; its differences are those of `own`."""
    means = scenario_means(records)
    scores = common_means(means, dict.fromkeys(controller for by in means.values() for controller in by))
    better = max((name for name in GCCS if name in scores), key=lambda name: scores[name], default=None)
    differences = scenario_differences(means, own, GCC, SCORE)
    return FamilyRow(
        name=name,
        description=description,
        scenarios=len(means),
        scores=scores,
        better_gcc=better,
        against_gcc=against(records, own, better, SCORE) if better else None,
        against_rule=against(records, own, RULE, SCORE),
        worst_score=_lowest(differences),
        worst_utilisation=_lowest(utilisation_ratios(means, own)),
    )


def common_means(means: Means, controllers: Iterable[str], metric: str = SCORE) -> dict[str, float]:
    """Means over the scenarios on which all of the controllers that have a metric have it; over all of each, where no
    scenario is common.
    """
    values = {
        name: {scenario: by[name][metric] for scenario, by in means.items() if metric in by.get(name, {})}
        for name in controllers
    }
    known = {name: of for name, of in values.items() if of}
    common = set.intersection(*(set(of) for of in known.values())) if known else set()
    shared = {name: [of[one] for one in of if one in common or not common] for name, of in known.items()}
    return {name: sum(some) / len(some) for name, some in shared.items()}


def utilisation_ratios(means: Means, own: str = POLICY) -> dict[str, float]:
    """A controller's utilisation by gcc's, by scenario; those that either lacks, or of which gcc uses none, are left
    out.
    """
    return {
        scenario: by[own]["utilisation"] / by[GCC]["utilisation"]
        for scenario, by in means.items()
        if "utilisation" in by.get(own, {}) and by.get(GCC, {}).get("utilisation", 0.0) > 0
    }


def _lowest(values: Mapping[str, float]) -> WorstScenario | None:
    if not values:
        return None
    name = min(values, key=lambda scenario: values[scenario])
    return WorstScenario(scenario=name, value=values[name])


def summarise_families(records: Sequence[Record], own: str) -> list[FamilyRow]:
    """The row of each family, with the differences of `own`. The order of `records`, in which runs complete, changes
    nothing.
    """
    by_family: dict[str, list[Record]] = {name: [] for name in FAMILIES}
    for record in sorted(records, key=lambda one: one.scenario):
        family = record.scenario.partition("-")[0]
        if family in by_family:
            by_family[family].append(record)
    return [family_row(name, FAMILIES[name]().description, some, own) for name, some in by_family.items() if some]
