"""`weir experiment policy`, without its command line: from a model to its table of goals.

sets of scenarios x controllers x seeds --> the runner of `weir replay` --> results.jsonl, series/ --> rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.qoe_eval.experiments.policy.dynamics import dynamics_rows, sharing_rows
from weir.qoe_eval.experiments.policy.figures import figure_rows
from weir.qoe_eval.experiments.policy.results import PolicyResults
from weir.qoe_eval.experiments.policy.rows import comparison_rows, steering_row
from weir.qoe_eval.experiments.policy.sets import COMPARED_SETS, MORE_RANDOM, ScenarioSet
from weir.qoe_eval.experiments.policy.worst_delay import DELAY_CONTROLLERS, worst_delay_row
from weir.qoe_eval.report.goal_table import Row
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.replay import ReplayOutcome
from weir.qoe_eval.runs.store import RunStore
from weir.registry import PRESETS

CONTROLLERS = ("weir", "gcc", "rule", "oracle")
_OTHER_PRESETS = tuple(name for name in PRESETS if name != "balanced")
# Their rows read time series.
_SERIES_SETS = ("start", "halved", "rfc8867")


def policy_plans(
    sets: Mapping[str, ScenarioSet], seeds: Sequence[int], model: Path, simulator: Path
) -> list[ReplayPlan]:
    """One plan for each set, in their order, then one for each preset but balanced."""
    plans = [
        ReplayPlan(
            one.scenarios,
            DELAY_CONTROLLERS if name == MORE_RANDOM else CONTROLLERS,
            PRESETS["balanced"],
            seeds[:1] if name == MORE_RANDOM else seeds,
            model,
            simulator,
            "kept" if name in _SERIES_SETS else "none" if name == MORE_RANDOM else "measured",
        )
        for name, one in sets.items()
    ]
    compared = [scenario for name in COMPARED_SETS for scenario in sets[name].scenarios]
    return plans + [
        ReplayPlan(compared, ("weir",), PRESETS[name], seeds, model, simulator, "none") for name in _OTHER_PRESETS
    ]


def policy_results(sets: Mapping[str, ScenarioSet], outcome: ReplayOutcome, out: Path) -> PolicyResults:
    """The records of `policy_plans`, told apart again."""
    records = dict(zip(sets, outcome.by_plan, strict=False))
    presets = dict(zip(_OTHER_PRESETS, outcome.by_plan[len(sets) :], strict=True))
    balanced = [r for name in COMPARED_SETS for r in records[name] if r.controller == "weir"]
    return PolicyResults(sets, records, presets | {"balanced": balanced}, RunStore(out).with_series)


def policy_rows(results: PolicyResults, figures: Mapping[str, Mapping[str, Any]], model_sha256: str) -> list[Row]:
    """Every goal, in order. `figures`: what `weir.qoe_eval.experiments.policy.figures.read_figures` has read."""
    return [
        *comparison_rows(results),
        worst_delay_row(results),
        *dynamics_rows(results),
        steering_row(results),
        *sharing_rows(results),
        *figure_rows(figures, model_sha256),
    ]
