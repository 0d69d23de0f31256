"""The reference against another controller, over the runs or scenarios that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.statistics import PairedComparison, compare_paired, distinct_runs
from weir.qoe_eval.measures.summary import REFERENCE, run_values

Records = Sequence[Mapping[str, Any]]
Means = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Scenario -> controller -> metric -> mean over seeds, as `weir.qoe_eval.measures.summary.scenario_means` gives it."""


def against(records: Records, other: str, metric: str = "challenge") -> PairedComparison | None:
    """weir - other, paired by scenario and seed; runs that repeat others count once."""
    records = distinct_runs(records)
    return compare_paired(METRICS[metric], run_values(records, REFERENCE, metric), run_values(records, other, metric))


def scenario_differences(means: Means, other: str, metric: str = "challenge") -> dict[str, float]:
    """weir - other by scenario, of means over seeds; scenarios that either lacks are left out."""
    return {
        name: by[REFERENCE][metric] - by[other][metric]
        for name, by in means.items()
        if metric in by.get(REFERENCE, {}) and metric in by.get(other, {})
    }
