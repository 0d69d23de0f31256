"""The section of families of scenarios: every controller's score on each, and how the reference does against others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import ordered_controllers
from weir.qoe_eval.report.page_template import Section


def families(rows: Sequence[Mapping[str, Any]], *, has_own_sections: bool) -> Section | None:
    """One row a family; nothing without families.

    Args:
        rows: a `weir.qoe_eval.measures.families.FamilyRow` of each, as JSON.
        has_own_sections: whether the page has a section for each, with the id `family-NAME`.
    """
    if not rows:
        return None
    view = {
        "metric": METRICS["challenge"],
        "controllers": ordered_controllers(name for row in rows for name in row["scores"]),
        "has_own_sections": has_own_sections,
        "scenarios": sum(row["scenarios"] for row in rows),
        "rows": [_row(row) for row in rows],
    }
    return Section("families", "Impairments", "families.html", view)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("name", "description", "scenarios", "scores")} | {
        "differences": [_difference(row["against_gcc"]), _difference(row["against_rule"])],
        "worst": [_worst(row, "worst_score", "{:+.1f}"), _worst(row, "worst_utilisation", "{:.2f}")],
    }


def _difference(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"mean": found["mean"], "ci95": found["ci95"], "judged": "good" if found["mean"] >= 0 else "bad"}


def _worst(row: Mapping[str, Any], of: str, shown: str) -> dict[str, str] | None:
    """Its value, and the scenario's name without that of the family."""
    worst = row[of]
    if worst is None:
        return None
    name = worst["scenario"].removeprefix(f"{row['name']}-")
    return {"value": shown.format(worst["value"]).replace("-", "−"), "scenario": name}
