"""The section of families of scenarios: every controller's score on each, and how the reference does against others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weir.qoe_eval.measures.families import FamilyRow, WorstScenario
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.statistics import PairedComparison
from weir.qoe_eval.report.page_template import Section


def families(rows: Sequence[FamilyRow], controllers: Sequence[str], *, has_own_sections: bool) -> Section | None:
    """One row a family; nothing without families.

    Args:
        rows: of the families.
        controllers: in the order of the columns.
        has_own_sections: whether the page has a section for each, with the id `family-NAME`.
    """
    if not rows:
        return None
    view = {
        "metric": METRICS["challenge"],
        "controllers": [name for name in controllers if any(name in row.scores for row in rows)],
        "has_own_sections": has_own_sections,
        "rows": [_row(row) for row in rows],
    }
    return Section("families", "Families", "families.html", view)


def _row(row: FamilyRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "description": row.description,
        "scenarios": row.scenarios,
        "scores": row.scores,
        "better_gcc": row.better_gcc,
        "differences": [_difference(row.against_gcc), _difference(row.against_rule)],
        "worst": [_worst(row, row.worst_score, "{:+.1f}"), _worst(row, row.worst_utilisation, "{:.2f}")],
    }


def _difference(found: PairedComparison | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"mean": found.mean, "ci95": found.ci95, "judged": "good" if found.mean >= 0 else "bad"}


def _worst(row: FamilyRow, worst: WorstScenario | None, shown: str) -> dict[str, str] | None:
    """Its value, and the scenario's name without that of the family."""
    if worst is None:
        return None
    name = worst.scenario.removeprefix(f"{row.name}-")
    return {"value": shown.format(worst.value).replace("-", "−"), "scenario": name}
