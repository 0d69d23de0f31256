"""`weir experiment trust`, without its command line: models in the pilot's seat of a pool, by sets of scenarios.

sets x (weir, nada, rule, a pool for each model) x seeds --> the runner of `weir replay` --> records by set --> rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from weir.qoe_eval.experiments.policy.sets import FIRST_RANDOM_SEED
from weir.qoe_eval.measures.families import SCORE
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.options import POLICY_FILE, read_pool
from weir.registry import PRESETS
from weir.traces.generate.families.families import FAMILIES, small_grid
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.scenario import Scenario

HEALTHY: Final = "healthy"
ALONE: Final = ("weir", "nada", "rule")
_POOL: Final = "copilots=nada,rule policy=by_trust"

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class TrustResults:
    """Records by set of scenarios; `lines` names the pool of each model, HEALTHY among them."""

    lines: Mapping[str, str]
    records: Mapping[str, Records]

    def score(self, in_set: str, controller: str) -> float | None:
        """Mean challenge score over a set's runs of a controller (of ALONE, or a line); nothing where none are."""
        runs = self._runs(in_set, controller)
        return mean(run["metrics"]["run"][SCORE] for run in runs) if runs else None

    def seat_lost(self, in_set: str, controller: str) -> float | None:
        """Of a pool's line: the share of decisions, 0 to 1, that its first member did not make; the mean over runs."""
        runs = self._runs(in_set, controller)
        return mean(1 - run["flows"][0]["pool"]["members"][0]["pilot_share"] for run in runs) if runs else None

    def _runs(self, in_set: str, controller: str) -> Records:
        return [record for record in self.records[in_set] if record["controller"] == controller]


def trust_sets(random_scenarios: int, *, full: bool) -> dict[str, list[Scenario]]:
    """Held-out random scenarios, as `random`, and the families of `weir experiment robust`: the small grid or all."""
    families = {name: family().scenarios() for name, family in FAMILIES.items()} if full else small_grid()
    seeds = range(FIRST_RANDOM_SEED, FIRST_RANDOM_SEED + random_scenarios)
    return {"random": [random_scenario(seed, split="held_out") for seed in seeds], **families}


def pool_lines(models: Mapping[str, Path]) -> dict[str, str]:
    """The pool of each model by its name: the healthy one is `weir`, the others are files.

    Raises:
        InputError: a file has a name that a pool's line cannot have, such as one with spaces.
    """
    files = {name: read_pool(f"pilot={POLICY_FILE}{file} {_POOL}") for name, file in models.items()}
    return {HEALTHY: f"pilot=weir {_POOL}", **files}


def trust_plans(
    sets: Mapping[str, Sequence[Scenario]],
    lines: Mapping[str, str],
    seeds: Sequence[int],
    healthy: Path,
    simulator: Path,
) -> list[ReplayPlan]:
    """One plan for each set, in their order."""
    controllers = (*ALONE, *lines.values())
    return [
        ReplayPlan(scenarios, controllers, PRESETS["balanced"], seeds, healthy, simulator, "none")
        for scenarios in sets.values()
    ]
