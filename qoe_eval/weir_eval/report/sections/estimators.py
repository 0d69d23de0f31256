"""Sections about the estimators of a replay: interventions of the guard, and the members of pools."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from weir_eval.records.run_record import RunRecord
from weir_eval.report.page_blocks import Section, note
from weir_eval.report.page_table import Cell, Row, Table, controller_cell
from weir_sim.controllers import GUARD_RULES


def guard(records: Sequence[RunRecord]) -> Section | None:
    """How often each guard rule changed its controller's estimate, and how often the fallback decided."""
    rows = [row for name, some in _by_controller(records).items() if (row := _guard_row(name, some))]
    heads = ["Controller", "Decisions", *GUARD_RULES, "All rules", "Policy faults", "Decided by the fallback"]
    about = note("Interventions per 100 decisions, by rule. Controllers that decide at the sender have no guard.")
    return Section("guard", "Guard", [about, Table(heads, rows)], "Guard interventions") if rows else None


def pools(records: Sequence[RunRecord]) -> Section | None:
    """The share of decisions of each pool for which each member was the active controller; None without pools."""
    rows = [row for name, some in _by_controller(records).items() for row in _pool_rows(name, some)]
    heads = ["Pool", "Changes", "Member", "Active, %", "Decisions", "Faults"]
    about = note("Share of decisions as the active controller, and how often the policy changed it.")
    return Section("pools", "Pools", [about, Table(heads, rows)]) if rows else None


def _by_controller(records: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    found: dict[str, list[RunRecord]] = {}
    for record in records:
        found.setdefault(record.controller, []).append(record)
    return found


def _guard_row(name: str, records: Sequence[RunRecord]) -> Row | None:
    """None for a controller that has no guard."""
    interventions: Counter[str] = Counter()
    decisions = fallbacks = faults = 0
    for flow in (flow for record in records for flow in record.flows):
        if flow.estimator and flow.controller == name:
            decisions += flow.estimator.decisions
            fallbacks += flow.estimator.fallback_decisions
            faults += flow.estimator.faults
            interventions.update(flow.guard or {})
    if not decisions:
        return None
    *by_rule, all_rules = (
        f"{100 * count / decisions:.2f}"
        for count in (*(interventions[rule] for rule in GUARD_RULES), interventions.total())
    )
    counts = (f"{faults:,}", f"{fallbacks:,}")
    return Row([controller_cell(name), f"{decisions:,}", *by_rule, all_rules, *counts])


def _pool_rows(name: str, records: Sequence[RunRecord]) -> list[Row]:
    decided, faults = Counter[str](), Counter[str]()
    active: defaultdict[str, float] = defaultdict(float)
    elapsed = changes = 0
    for flow in (flow for record in records for flow in record.flows):
        if flow.controller != name or not flow.pool or not flow.estimator:
            continue
        elapsed += flow.estimator.decisions
        changes += flow.pool.pilot_changes
        for member in flow.pool.members:
            active[member.name] += member.pilot_share * flow.estimator.decisions
            decided[member.name] += member.decisions
            faults[member.name] += member.faults
    return [
        Row(
            [
                *((controller_cell(name), f"{changes:,}") if index == 0 else ("", "")),
                Cell(member, kind="text"),
                f"{100 * active[member] / max(1, elapsed):.2f}",
                f"{decided[member]:,}",
                f"{faults[member]:,}",
            ]
        )
        for index, member in enumerate(decided)
    ]
