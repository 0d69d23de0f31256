"""The goal for a policy's worst delays: over random scenarios, its p95 one-way delay against gcc's on the same one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

import numpy as np

from weir.qoe_eval.experiments.policy.results import PolicyResults
from weir.qoe_eval.experiments.policy.sets import MORE_RANDOM, RANDOM
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

DELAY_CONTROLLERS = ("weir", "gcc")
_QUANTILE = 0.99
# gcc has a short queue where it hardly uses the link; from here on it uses as much as weir does.
_ALIKE = 0.8


def worst_delay_row(results: PolicyResults) -> Row:
    """The 99th percentile, over the random scenarios with the first seed, of the ratio of both p95 one-way delays."""
    goal = Goal("at most", 1.25, "times")
    count = sum(len(one.scenarios) for name, one in results.sets.items() if name in (RANDOM, MORE_RANDOM))
    what = f"{count} random scenarios: p95 delay against gcc's, 99th percentile"
    runs: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    records = [record for name in (RANDOM, MORE_RANDOM) for record in results.records.get(name, [])]
    first_seed = min((record["seed"] for record in records), default=1)
    for record in records:
        delay_ms = (record["flows"][0].get("one_way_delay_ms") or {}).get("p95")
        if record["seed"] == first_seed and delay_ms:
            runs[record["scenario"]][record["controller"]] = delay_ms, record["metrics"]["run"]["utilisation"] or 0.0
    pairs = {scenario: by for scenario, by in runs.items() if all(name in by for name in DELAY_CONTROLLERS)}
    if not pairs:
        return not_measured("random_worst_delay", what, goal, results.absent([RANDOM]))
    ratios = {scenario: by["weir"][0] / by["gcc"][0] for scenario, by in pairs.items()}
    alike = {scenario: ratios[scenario] for scenario, by in pairs.items() if by["gcc"][1] >= _ALIKE * by["weir"][1]}
    worst = max(ratios, key=ratios.__getitem__)
    higher = sum(ratio > goal.limit for ratio in ratios.values())
    detail = (
        f"median {median(ratios.values()):.2f}; {higher} above {goal.limit}; worst {worst} {ratios[worst]:.2f}; "
        f"where gcc uses at least {_ALIKE:g} of what weir uses, {len(alike)} scenarios"
    )
    if alike:
        above = sum(ratio > goal.limit for ratio in alike.values())
        detail += f": {_percentile(alike):.2f}, {above} above {goal.limit}"
    return measured("random_worst_delay", what, goal, _percentile(ratios), detail)


def _percentile(ratios: Mapping[str, float]) -> float:
    return float(np.quantile(list(ratios.values()), _QUANTILE))
