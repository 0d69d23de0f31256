"""`robust.json`: the families, the goals, and every scenario's measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.experiments.robust.calls import RobustCalls
from weir.qoe_eval.experiments.robust.results import RobustResults
from weir.qoe_eval.measures.summary import scenario_means
from weir.qoe_eval.records import FamilyRow
from weir.qoe_eval.report.goal_table import Row, rows_document

_KEPT = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "viewer_quality", "jain_index", "tcp_share")


def robust_document(
    results: RobustResults,
    table: Sequence[FamilyRow],
    rows: Sequence[Row],
    run: Mapping[str, Any],
    calls: RobustCalls | None,
) -> dict[str, Any]:
    """Schema, run, families (rows of the table), rows (goals), by family and scenario the means over seeds of each
    controller's measures, and of real calls by their size, where there are any, all measures of each.
    """
    return rows_document("weir.robust/1", rows, run) | {
        "families": [row.model_dump() for row in table],
        "scenarios": {
            family: {
                scenario: {name: {m: values[m] for m in _KEPT if m in values} for name, values in by_controller.items()}
                for scenario, by_controller in scenario_means(records).items()
            }
            for family, records in results.records.items()
        },
        "calls": {size: [_call(record) for record in records] for size, records in calls.records.items()}
        if calls
        else {},
    }


def _call(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: record[name] for name in ("scenario", "controller", "seed")},
        "disturbed": record["call"]["disturbed"],
        "metrics": record["metrics"]["run"],
    }
