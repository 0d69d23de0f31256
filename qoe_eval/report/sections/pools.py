"""The section of pools of controllers: who had the seat."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.report.page_template import Section


def pools(records: Sequence[Mapping[str, Any]]) -> Section | None:
    """The share of decisions for which each member of each pool had the pilot's seat; nothing without pools."""
    names = dict.fromkeys(record["controller"] for record in records)
    rows = [row for name in names for row in _rows(name, [r for r in records if r["controller"] == name])]
    return Section("pools", "Pools", "replay/pools.html", {"rows": rows}) if rows else None


def _rows(name: str, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    decided, faults = Counter[str](), Counter[str]()
    seat: defaultdict[str, float] = defaultdict(float)
    flown = changes = 0
    for record in records:
        for flow in record["flows"]:
            if flow["controller"] != name or not flow.get("pool"):
                continue
            decisions = flow["estimator"]["decisions"]
            flown += decisions
            changes += flow["pool"]["pilot_changes"]
            for member in flow["pool"]["members"]:
                seat[member["name"]] += member["pilot_share"] * decisions
                decided[member["name"]] += member["decisions"]
                faults[member["name"]] += member["faults"]
    return [
        {
            "controller": name,
            "is_first": index == 0,
            "members": len(decided),
            "pilot_changes": f"{changes:,}",
            "member": member,
            "pilot_share": f"{100 * seat[member] / max(1, flown):.2f}",
            "decisions": f"{decided[member]:,}",
            "faults": f"{faults[member]:,}",
        }
        for index, member in enumerate(decided)
    ]
