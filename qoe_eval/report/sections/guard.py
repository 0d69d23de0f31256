"""The section of guard interventions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.report.page_template import Section
from weir.registry import GUARD_RULES


def guard(records: Sequence[Mapping[str, Any]]) -> Section | None:
    """How often each guard rule overruled its controller, and how often the fallback decided."""
    names = dict.fromkeys(record["controller"] for record in records)
    rows = [row for name in names if (row := _row(name, [r for r in records if r["controller"] == name]))]
    return Section("guard", "Guard", "replay/guard.html", {"rules": tuple(GUARD_RULES), "rows": rows}) if rows else None


def _row(name: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Nothing for a controller that has no guard."""
    interventions: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    for record in records:
        for flow in record["flows"]:
            if flow.get("estimator") and flow["controller"] == name:
                for key in ("decisions", "fallback_decisions", "policy_faults"):
                    decided[key] += flow["estimator"].get(key, 0)
                interventions.update(flow.get("guard") or {})
    decisions = decided["decisions"]
    if not decisions:
        return None

    def share(count: int) -> str:
        return f"{100 * count / decisions:.2f}"

    return {
        "controller": name,
        "is_reference": name == REFERENCE,
        "decisions": f"{decisions:,}",
        "by_rule": [share(interventions[rule]) for rule in GUARD_RULES],
        "all_rules": share(interventions.total()),
        "policy_faults": f"{decided['policy_faults']:,}",
        "fallback_decisions": f"{decided['fallback_decisions']:,}",
    }
