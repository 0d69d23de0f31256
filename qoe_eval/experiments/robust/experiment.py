"""`weir experiment robust`, without its command line: from families of scenarios to records by family.

families x controllers x seeds --> the runner of `weir replay` --> results.jsonl, series/ --> table, goals, page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from weir.errors import InputError
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.registry import PRESETS
from weir.traces.generate.families.families import FAMILIES
from weir.traces.schema.scenario import Scenario

CONTROLLERS = ("weir", "gcc", "gcc-remb", "nada", "rule")


def chosen_scenarios(families: Sequence[str], only: Sequence[str]) -> dict[str, list[Scenario]]:
    """Scenarios by family, in the order of the families.

    Args:
        families: their names; empty for all.
        only: patterns such as `*-4M-video`; empty for all. A scenario stays when one of them matches its name.

    Raises:
        InputError: there is no family of that name, or no scenario is left.
    """
    for name in families:
        if name not in FAMILIES:
            raise InputError(f"--family {name}: there is none; one of {', '.join(FAMILIES)}")
    found = {
        name: [
            scenario
            for scenario in family().scenarios()
            if not only or any(fnmatchcase(scenario.name, pattern) for pattern in only)
        ]
        for name, family in FAMILIES.items()
        if not families or name in families
    }
    found = {name: scenarios for name, scenarios in found.items() if scenarios}
    if not found:
        raise InputError(
            f"--only {' '.join(only)}: no scenario is called so; they have names like route-plus60-4M-video"
        )
    return found


def robust_plans(
    scenarios: Mapping[str, Sequence[Scenario]], seeds: Sequence[int], model: Path, simulator: Path
) -> list[ReplayPlan]:
    """One plan for each family, in their order."""
    return [ReplayPlan(some, CONTROLLERS, PRESETS["balanced"], seeds, model, simulator) for some in scenarios.values()]
