"""Sections by scenario: the means on each, coloured from bad to good; the worst runs; and families of scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.qoe_eval.measures.summary import REFERENCE, Means, ordered_controllers
from weir.qoe_eval.measures.table import MEASURES, Measure
from weir.qoe_eval.records import FamilyRow, PairedComparison, RunRecord, Summary, WorstScenario
from weir.qoe_eval.report.page_template import Section, View
from weir.registry import knows_path

HEATED = (
    "utility", "challenge", "viewer_quality", "frozen_share", "frame_delay_ms_p95", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio", "convergence_time_s", "recoco",
)  # fmt: skip
_BAD, _MIDDLE, _GOOD = (214, 84, 62), (232, 186, 84), (48, 158, 116)

WORST_ROWS = 10
WORST = (
    "utility", "challenge", "challenge_delay", "challenge_rate", "challenge_loss", "p95_queueing_delay_ms",
    "viewer_quality",
)  # fmt: skip
# The page shows one decimal; smaller differences count as a tie.
_TIE = 0.05


@dataclass(frozen=True)
class HeatCell:
    """A value as text; its colour as red, green, blue (nothing where there is no value); whether it is the best."""

    text: str
    rgb: tuple[int, int, int] | None = None
    best: bool = False


def per_scenario(summary: Summary) -> Section:
    """Means over seeds, one measure at a time."""
    controllers = list(summary.controllers)
    measures = [MEASURES[name] for name in HEATED if any(name in c for c in summary.controllers.values())]
    parts = [
        {"metric": measure, "rows": rows}
        for measure in measures
        if (rows := heat_rows(measure, summary.scenarios, controllers))
    ]
    return Section("scenarios", "Scenarios", "replay/scenarios", {"controllers": controllers, "parts": parts})


def heat_rows(measure: Measure, means: Means, controllers: Sequence[str]) -> list[tuple[str, list[HeatCell]]]:
    """A measure of every scenario, a cell for each controller; empty when no controller has it on any."""
    values = {
        name: [by_controller.get(controller, {}).get(measure.name) for controller in controllers]
        for name, by_controller in means.items()
    }
    known = [value for row in values.values() for value in row if value is not None]
    if not known:
        return []
    low, high = (float(end) for end in np.percentile(known, [4, 96]))
    domain = (low, high) if measure.better == "higher" else (high, low)
    return [(name, _cells(measure, row, controllers, domain)) for name, row in values.items()]


def _cells(
    measure: Measure, values: Sequence[float | None], controllers: Sequence[str], domain: tuple[float, float]
) -> list[HeatCell]:
    rivals = [
        value for value, name in zip(values, controllers, strict=True) if value is not None and not knows_path(name)
    ]
    best = measure.best(rivals) if rivals else None
    return [
        HeatCell("–")
        if value is None
        else HeatCell(measure.display(value), _colour(value, domain), value == best and not knows_path(name))
        for value, name in zip(values, controllers, strict=True)
    ]


def _colour(value: float, domain: tuple[float, float]) -> tuple[int, int, int]:
    """From bad to good over the domain (worst value, best value)."""
    worst, best = domain
    position = min(1.0, max(0.0, (value - worst) / (best - worst))) if best != worst else 1.0
    start, end, share = (_BAD, _MIDDLE, 2 * position) if position < 0.5 else (_MIDDLE, _GOOD, 2 * position - 1)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return red, green, blue


def worst_runs(records: Sequence[RunRecord]) -> Section | None:
    """The runs of the reference (else of the first controller) with the lowest utility, one per scenario."""
    names = [record.controller for record in records]
    of = REFERENCE if REFERENCE in names else (names[0] if names else "")
    scored = [(record, utility) for record in records if (utility := record.measures.get("utility")) is not None]
    if not scored:
        return None
    lowest: dict[str, tuple[RunRecord, float]] = {}
    for one in sorted((one for one in scored if one[0].controller == of), key=lambda one: one[1]):
        lowest.setdefault(one[0].scenario, one)
    view = {
        "controller": of,
        "metrics": [MEASURES[name] for name in WORST],
        "rows": [_worst_row(*one, scored) for one in list(lowest.values())[:WORST_ROWS]],
    }
    return Section("worst", "Worst scenarios", "replay/worst_runs", view)


def _worst_row(record: RunRecord, utility: float, scored: Sequence[tuple[RunRecord, float]]) -> View:
    return {
        "scenario": record.scenario,
        "seed": record.seed,
        "measures": [MEASURES[name].display(record.measures.get(name)) for name in WORST],
        "best_other": _best_other(record, utility, scored),
    }


def _best_other(record: RunRecord, utility: float, scored: Sequence[tuple[RunRecord, float]]) -> View | None:
    """The controller with the highest utility in that run, without the oracle, and the difference to the record's."""
    others = [
        (score, other.controller)
        for other, score in scored
        if (other.scenario, other.seed) == (record.scenario, record.seed)
        and other.controller != record.controller
        and not knows_path(other.controller)
    ]
    if not others:
        return None
    score, best = max(others, key=lambda one: one[0])
    behind = score - utility
    is_behind = behind >= _TIE
    text = f"behind by {behind:.1f}" if is_behind else f"ahead by {max(0.0, -behind):.1f}"
    return {"controller": best, "score": f"{score:.1f}", "is_behind": is_behind, "text": text}


def families(rows: Sequence[FamilyRow], *, has_own_sections: bool) -> Section | None:
    """One row a family; None without families. `has_own_sections`: the page has a section `family-NAME` for each."""
    if not rows:
        return None
    view = {
        "metric": MEASURES["challenge"],
        "controllers": ordered_controllers(name for row in rows for name in row.scores),
        "has_own_sections": has_own_sections,
        "scenarios": sum(row.scenarios for row in rows),
        "rows": [
            {
                "name": row.name,
                "description": row.description,
                "scenarios": row.scenarios,
                "scores": row.scores,
                "differences": [_difference(row.against_gcc), _difference(row.against_rule)],
                "worst": [
                    _worst(row.name, row.worst_score, "{:+.1f}"),
                    _worst(row.name, row.worst_utilisation, "{:.2f}"),
                ],
            }
            for row in rows
        ],
    }
    return Section("families", "Families", "families", view)


def _difference(found: PairedComparison | None) -> View | None:
    if found is None:
        return None
    return {"mean": found.mean, "ci95": found.ci95, "judged": "good" if found.mean >= 0 else "bad"}


def _worst(family: str, worst: WorstScenario | None, shown: str) -> View | None:
    """The value, and the scenario's name without that of the family."""
    if worst is None:
        return None
    return {
        "value": shown.format(worst.value).replace("-", "−"),
        "scenario": worst.scenario.removeprefix(f"{family}-"),
    }
