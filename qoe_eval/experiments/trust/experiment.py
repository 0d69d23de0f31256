"""`weir experiment trust`, without its command line: models in the pilot's seat of a pool, by sets of scenarios.

sets x (weir, gcc, nada, rule, a pool for each model, peers) --+
presets x (weir, the pool by objective) -----------------------+-> the runner of `weir replay` --> records --> rows
RFC 8867 x (weir, pools) --------------------------------------+
a part of the sets x (pools that lack something) --------------+
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from weir.qoe_eval.experiments.policy.sets import ScenarioSet
from weir.qoe_eval.experiments.trust.variants import VARIANTS
from weir.qoe_eval.measures.families import GCC, SCORE
from weir.qoe_eval.measures.steering import ORDER as STEERED
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.options import POLICY_FILE, read_pool
from weir.qoe_eval.runs.own_controllers import OwnController, read_own_controller
from weir.registry import PRESETS
from weir.traces.generate.families.families import FAMILIES, small_grid
from weir.traces.schema.scenario import Scenario

HEALTHY: Final = "healthy"
ALONE: Final = ("weir", "nada", "rule")
BY_OBJECTIVE: Final = "pilot=weir copilots=nada,rule policy=by_objective"
# Of the pools that always fuse, the one whose score is nearest to the model's.
MEDIAN: Final = f"pilot=weir {VARIANTS['always median']}"
MAX_WITH_RULE: Final = "pilot=weir copilots=rule fusion=max"
TRACES: Final = "opennetlab"
# Of the ablations.
_RANDOM_SCENARIOS: Final = 24

Records = Sequence[Mapping[str, Any]]
Groups = Mapping[str, Mapping[str, ReplayPlan]]


@dataclass(frozen=True)
class TrustResults:
    """Records by set of scenarios; `lines` names the pool of each model, HEALTHY among them."""

    lines: Mapping[str, str]
    records: Mapping[str, Records]

    def score(self, in_set: str, controller: str) -> float | None:
        """Mean challenge score over a set's runs of a controller (of ALONE, or a line); nothing where none are."""
        runs = self.runs(in_set, controller)
        return mean(run["metrics"]["run"][SCORE] for run in runs) if runs else None

    def seat_lost(self, in_set: str, controller: str) -> float | None:
        """Of a pool's line: the share of decisions, 0 to 1, that its first member did not make; the mean over runs."""
        runs = self.runs(in_set, controller)
        return mean(1 - run["flows"][0]["pool"]["members"][0]["pilot_share"] for run in runs) if runs else None

    def against_better(self, controller: str) -> dict[str, float]:
        """By set: the mean score of a pool's line, less that of NADA alone or of the rule alone, the better of the two,
        as a share of that.
        """
        found = {}
        for in_set in self.records:
            score = self.score(in_set, controller)
            others = [other for alone in ("nada", "rule") if (other := self.score(in_set, alone)) is not None]
            if score is not None and others:
                found[in_set] = score / max(others) - 1
        return found

    def unseen(self) -> TrustResults:
        """Without the scenarios that trust was fitted on."""
        fitted = fitted_scenarios()
        kept = {name: [r for r in some if r["scenario"] not in fitted] for name, some in self.records.items()}
        return TrustResults(self.lines, {name: some for name, some in kept.items() if some})

    def runs(self, in_set: str, controller: str) -> Records:
        """A set's records of a controller."""
        return [record for record in self.records[in_set] if record["controller"] == controller]


def trust_sets(policy_sets: Mapping[str, ScenarioSet], *, full: bool) -> dict[str, list[Scenario]]:
    """Held-out random scenarios, as `random`, the families of `weir experiment robust`, the small grid or all, and
    TRACES where they are there: `policy_sets` is what `weir experiment policy` has.
    """
    families = {name: family().scenarios() for name, family in FAMILIES.items()} if full else small_grid()
    sets = {"random": policy_sets["random"].scenarios, **families, TRACES: policy_sets[TRACES].scenarios}
    return {name: scenarios for name, scenarios in sets.items() if scenarios}


def fitted_scenarios() -> set[str]:
    """Scenarios of the families on which the thresholds of trust were chosen: the small grid, and every other two of
    each family, in their order.
    """
    grid = {one.name for some in small_grid().values() for one in some}
    every_other = {
        one.name for family in FAMILIES.values() for i, one in enumerate(family().scenarios()) if i // 2 % 2 == 0
    }
    return grid | every_other


def pool_lines(models: Mapping[str, Path], others: str = VARIANTS["by trust"]) -> dict[str, str]:
    """The pool of each model by its name: the healthy one is `weir`, the others are files.

    Raises:
        InputError: a file has a name that a pool's line cannot have, such as one with spaces.
    """
    files = {name: read_pool(f"pilot={POLICY_FILE}{file} {others}") for name, file in models.items()}
    return {HEALTHY: read_pool(f"pilot=weir {others}"), **files}


def peers_of(model: Path | None) -> dict[str, OwnController]:
    """A model from elsewhere as a controller, behind the guard and without it, by name; nothing without one.

    Raises:
        InputError: the file cannot be one.
    """
    own = [read_own_controller(f"{model}{bare}") for bare in ("", ":bare")] if model else []
    return {one.name: one for one in own}


def trust_plans(
    sets: Mapping[str, Sequence[Scenario]],
    sharing: Sequence[Scenario],
    models: Mapping[str, Path],
    peers: Mapping[str, OwnController],
    seeds: Sequence[int],
    healthy: Path,
    simulator: Path,
) -> dict[str, dict[str, ReplayPlan]]:
    """Plans by group and name: `sets` by set, `objectives` by preset, `sharing`, and `ablations` by set. Broken models
    do not fly on TRACES.
    """
    lines = pool_lines(models)

    def plan(scenarios: Sequence[Scenario], controllers: Sequence[str], preset: str = "balanced") -> ReplayPlan:
        return ReplayPlan(scenarios, controllers, PRESETS[preset], seeds, healthy, simulator, "none", own=peers)

    on_traces = (*ALONE, GCC, *peers, MEDIAN, lines[HEALTHY])
    everybody = (*on_traces, *lines.values())
    steered = [*sets["random"], *sets.get(TRACES, [])]
    part = {"random": sets["random"][:_RANDOM_SCENARIOS], **small_grid()}
    lacking = [line for others in VARIANTS.values() for line in pool_lines(models, others).values()]
    shared = ("weir", lines[HEALTHY], MAX_WITH_RULE)
    return {
        "sets": {name: plan(some, on_traces if name == TRACES else everybody) for name, some in sets.items()},
        "objectives": {preset: plan(steered, ("weir", BY_OBJECTIVE), preset) for preset in STEERED},
        "sharing": {"rfc8867": ReplayPlan(sharing, shared, PRESETS["balanced"], seeds, healthy, simulator, "kept")},
        "ablations": {name: plan(some, (*ALONE, *lacking)) for name, some in part.items()},
    }


def in_groups(plans: Groups, by_plan: Sequence[Records]) -> dict[str, dict[str, Records]]:
    """The records of `trust_plans`, told apart again; `by_plan` has those of each plan, in their order."""
    rest = iter(by_plan)
    return {group: {name: next(rest) for name in some} for group, some in plans.items()}
