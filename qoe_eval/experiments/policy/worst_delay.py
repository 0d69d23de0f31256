"""The goal for a policy's worst delays: over random scenarios, its p95 one-way delay against gcc's on the same one."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, median

import numpy as np

from weir.qoe_eval.experiments.policy.results import PolicyResults
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

_SET = "random"
_QUANTILE = 0.99


def worst_delay_row(results: PolicyResults) -> Row:
    """The 99th percentile, over scenarios, of the ratio of both p95 one-way delays, each averaged over its runs."""
    goal = Goal("at most", 1.25, "times")
    what = f"{len(results.sets[_SET].scenarios)} random scenarios: p95 delay against gcc's, 99th percentile"
    delays_ms: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in results.records.get(_SET, []):
        delay_ms = (record["flows"][0].get("one_way_delay_ms") or {}).get("p95")
        if delay_ms:
            delays_ms[record["scenario"]][record["controller"]].append(delay_ms)
    ratios = {
        scenario: mean(by["weir"]) / mean(by["gcc"]) for scenario, by in delays_ms.items() if by["weir"] and by["gcc"]
    }
    if not ratios:
        return not_measured("random_worst_delay", what, goal, results.absent([_SET]))
    worst = max(ratios, key=ratios.__getitem__)
    higher = sum(ratio > goal.limit for ratio in ratios.values())
    detail = f"median {median(ratios.values()):.2f}; {higher} above {goal.limit}; worst {worst} {ratios[worst]:.2f}"
    return measured("random_worst_delay", what, goal, float(np.quantile(list(ratios.values()), _QUANTILE)), detail)
