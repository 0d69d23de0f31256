"""`weir experiment guard`, without its command line: the guard whole, and less one rule, behind good and broken models.

sets of scenarios x (no rule off, each rule off) x models x seeds --> the runner of `weir replay` --> effects
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from weir.qoe_eval.measures.statistics import distinct_runs
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.own_controllers import OwnController, read_own_controller
from weir.registry import GUARD_RULES, PRESETS
from weir.traces.schema.scenario import Scenario

HEALTHY: Final = "weir"
SWITCHED: Final = tuple(name for name, can_be_off in GUARD_RULES.items() if can_be_off)
WHOLE: Final = ""
"""In place of the rule that is off: none is."""

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class RuleEffect:
    """Of a rule behind a model: the share of decisions, 0 to 1, that it changed, and what the runs gain by it: the mean
    over runs with it less those without. Utilisation is a share, 0 to 1.
    """

    share: float
    challenge: float
    p95_one_way_delay_ms: float
    utilisation: float
    runs: int


@dataclass(frozen=True)
class GuardResults:
    """`records` by set of scenarios and by the rule that is off, WHOLE among these."""

    models: Sequence[str]
    records: Mapping[str, Mapping[str, Records]]

    def effect(self, in_set: str, rule: str, model: str) -> RuleEffect | None:
        """What a rule does; nothing without a pair of runs."""
        with_rule = _by_run(self.records[in_set][WHOLE], model)
        without = _by_run(self.records[in_set][rule], model)
        pairs = [(with_rule[run], without[run]) for run in with_rule.keys() & without.keys()]
        if not pairs:
            return None
        decisions = sum(_decisions(one["flows"][0]["estimator"]) for one, _ in pairs)
        changed = sum(one["flows"][0]["guard"][rule] for one, _ in pairs)
        gains = [_difference(one, other) for one, other in pairs]
        challenge, delay_ms, utilisation = (mean(values) for values in zip(*gains, strict=True))
        return RuleEffect(changed / max(decisions, 1), challenge, delay_ms, utilisation, len(pairs))

    def to_dict(self) -> dict[str, Any]:
        """Set -> model -> rule -> the effect's fields, or nothing."""
        return {
            in_set: {
                model: {
                    rule: asdict(effect) if (effect := self.effect(in_set, rule, model)) else None for rule in SWITCHED
                }
                for model in self.models
            }
            for in_set in self.records
        }


def own_models(files: Mapping[str, Path]) -> dict[str, OwnController]:
    """Models, each directly behind the guard, by the name of its file.

    Raises:
        InputError: a file is missing, or cannot be named so.
    """
    return {own.name: own for own in (read_own_controller(str(file)) for file in files.values())}


def guard_plans(
    sets: Mapping[str, Sequence[Scenario]],
    broken: Mapping[str, OwnController],
    seeds: Sequence[int],
    healthy: Path,
    simulator: Path,
) -> list[ReplayPlan]:
    """For each set, in their order: the whole guard, then each rule of SWITCHED off."""
    models = (HEALTHY, *broken)
    return [
        ReplayPlan(scenarios, models, PRESETS["balanced"], seeds, healthy, simulator, "none", broken, off)
        for scenarios in sets.values()
        for off in ((), *((rule,) for rule in SWITCHED))
    ]


def guard_results(
    sets: Mapping[str, Sequence[Scenario]], broken: Mapping[str, OwnController], by_plan: Sequence[Records]
) -> GuardResults:
    """The records of `guard_plans`, told apart again."""
    of_plans = iter(by_plan)
    records = {in_set: {off: next(of_plans) for off in (WHOLE, *SWITCHED)} for in_set in sets}
    return GuardResults((HEALTHY, *broken), records)


def _by_run(records: Records, model: str) -> dict[tuple[str, int], Mapping[str, Any]]:
    runs = (record for record in distinct_runs(records) if record["controller"] == model)
    return {(run["scenario"], run["seed"]): run for run in runs if _values(run)[1] is not None}


def _decisions(estimator: Mapping[str, int]) -> int:
    return estimator["decisions"] + estimator["fallback_decisions"]


def _values(record: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    measures, flow = record["metrics"]["run"], record["flows"][0]
    delay_ms = (flow.get("one_way_delay_ms") or {}).get("p95")
    return measures["challenge"], delay_ms, measures["utilisation"]


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple((a or 0.0) - (b or 0.0) for a, b in zip(_values(one), _values(other), strict=True))
