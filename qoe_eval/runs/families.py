"""Families of scenarios of ordinary network life beside a replay: two of each, apart from what the replay is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weir.qoe_eval.measures.families import family_row
from weir.qoe_eval.records import FamilyRow, RunRecord
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.registry import knows_path
from weir.traces.generate.families.families import FAMILIES, small_grid

FOLDER = "families"
SEED = 1


def family_plan(plan: ReplayPlan) -> ReplayPlan:
    """The small grid of every family under the controllers of a plan that are rivals: one seed, no series."""
    scenarios = [scenario for some in small_grid().values() for scenario in some]
    rivals = [name for name in plan.controllers if not knows_path(name)]
    return replace(plan, scenarios=scenarios, controllers=rivals, seeds=(SEED,), series="none")


def summarise_families(records: Sequence[RunRecord]) -> list[FamilyRow]:
    """The row of each family. The order of `records`, in which runs complete, changes nothing."""
    by_family: dict[str, list[RunRecord]] = {name: [] for name in FAMILIES}
    for record in sorted(records, key=lambda one: one.scenario):
        family = record.scenario.partition("-")[0]
        if family in by_family:
            by_family[family].append(record)
    return [family_row(name, FAMILIES[name]().description, some) for name, some in by_family.items() if some]
