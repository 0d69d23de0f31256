"""`weir experiment robust`, without its command line: from families of scenarios to records by family.

families x controllers x seeds --> the runner of `weir replay` --> results.jsonl, series/ --> table, goals, page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from weir.errors import InputError
from weir.qoe_eval.experiments.robust.calls import call_scenarios
from weir.qoe_eval.experiments.robust.results import RobustResults
from weir.qoe_eval.experiments.robust.sharing import SHARING, SHARING_CONTROLLERS, sharing_scenarios
from weir.qoe_eval.measures.families import family_row
from weir.qoe_eval.records import FamilyRow
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.replay import ReplayOutcome
from weir.qoe_eval.runs.store import RunStore
from weir.registry import PRESETS
from weir.traces.generate.families.families import FAMILIES
from weir.traces.schema.scenario import Scenario

CONTROLLERS = ("weir", "gcc", "gcc-remb", "nada", "rule")
CHOICES = (*FAMILIES, SHARING)


def chosen_scenarios(families: Sequence[str], only: Sequence[str]) -> dict[str, list[Scenario]]:
    """Scenarios by family, in the order of the families.

    Args:
        families: of CHOICES; empty for all.
        only: patterns such as `*-4M-video`; empty for all. A scenario stays when one of them matches its name.

    Raises:
        InputError: there is no family of that name, or no scenario is left.
    """
    for name in families:
        if name not in CHOICES:
            raise InputError(f"--family {name}: there is none; one of {', '.join(CHOICES)}")
    whole = {name: family().scenarios() for name, family in FAMILIES.items()} | {SHARING: sharing_scenarios()}
    found = _chosen(whole, families, only)
    if not found:
        raise InputError(
            f"--only {' '.join(only)}: no scenario is called so; their names are like {whole['route'][0].name}"
        )
    return found


def chosen_calls(families: Sequence[str], only: Sequence[str]) -> list[Scenario]:
    """Scenarios of real calls, chosen alike.

    Raises:
        InputError: none is left.
    """
    whole = call_scenarios()
    found = [one for scenarios in _chosen(whole, families, only).values() for one in scenarios]
    if not found:
        names = ", ".join(one.name for scenarios in whole.values() for one in scenarios)
        raise InputError(f"--calls: no scenario of a call is chosen; there are {names}")
    return found


def _chosen(
    whole: Mapping[str, Sequence[Scenario]], families: Sequence[str], only: Sequence[str]
) -> dict[str, list[Scenario]]:
    found = {
        name: [one for one in scenarios if not only or any(fnmatchcase(one.name, pattern) for pattern in only)]
        for name, scenarios in whole.items()
        if not families or name in families
    }
    return {name: scenarios for name, scenarios in found.items() if scenarios}


def robust_plans(
    scenarios: Mapping[str, Sequence[Scenario]], seeds: Sequence[int], model: Path, simulator: Path
) -> list[ReplayPlan]:
    """One plan for each family, in their order."""
    return [
        ReplayPlan(
            some,
            SHARING_CONTROLLERS if name == SHARING else CONTROLLERS,
            PRESETS["balanced"],
            seeds,
            model,
            simulator,
        )
        for name, some in scenarios.items()
    ]


def robust_results(scenarios: Mapping[str, Sequence[Scenario]], outcome: ReplayOutcome, out: Path) -> RobustResults:
    """The records of `robust_plans`, told apart again."""
    return RobustResults(scenarios, dict(zip(scenarios, outcome.by_plan, strict=True)), RunStore(out).with_series)


def family_rows(results: RobustResults) -> list[FamilyRow]:
    """The table's row of each family."""
    return [
        family_row(name, FAMILIES[name]().description, records)
        for name, records in results.records.items()
        if name != SHARING
    ]
