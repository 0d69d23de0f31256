"""The section of the scenarios on which the reference does worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.report.page_template import Section
from weir.registry import knows_path

Record = Mapping[str, Any]

WORST_ROWS = 10
WORST = (
    "utility", "challenge", "challenge_delay", "challenge_rate", "challenge_loss", "p95_queueing_delay_ms",
    "viewer_quality",
)  # fmt: skip
# Differences below are no difference on the page, which shows one decimal.
_TIE = 0.05


def worst_runs(records: Sequence[Record]) -> Section | None:
    """The runs of the reference (else of the first controller) with the lowest utility, one per scenario."""
    names = [record["controller"] for record in records]
    of = REFERENCE if REFERENCE in names else (names[0] if names else "")
    scored = [r for r in records if r["metrics"]["run"].get("utility") is not None]
    if not scored:
        return None
    lowest: dict[str, Record] = {}
    for record in sorted((r for r in scored if r["controller"] == of), key=lambda r: r["metrics"]["run"]["utility"]):
        lowest.setdefault(record["scenario"], record)
    view = {
        "controller": of,
        "metrics": [METRICS[name] for name in WORST],
        "rows": [_row(record, scored) for record in list(lowest.values())[:WORST_ROWS]],
    }
    return Section("worst", "Worst scenarios", "replay/worst_runs.html", view)


def _row(record: Record, scored: Sequence[Record]) -> dict[str, Any]:
    measures = record["metrics"]["run"]
    return {
        "scenario": record["scenario"],
        "seed": record["seed"],
        "measures": [METRICS[name].display(measures.get(name)) for name in WORST],
        "best_other": _best_other(record, scored),
    }


def _best_other(record: Record, scored: Sequence[Record]) -> dict[str, Any] | None:
    """Who had the highest utility there, the oracle apart, and how far the record's controller is behind."""
    others = [
        r
        for r in scored
        if r["scenario"] == record["scenario"]
        and r["seed"] == record["seed"]
        and r["controller"] != record["controller"]
        and not knows_path(r["controller"])
    ]
    if not others:
        return None
    leading = WORST[0]
    best = max(others, key=lambda r: r["metrics"]["run"][leading])
    score = best["metrics"]["run"][leading]
    behind = score - record["metrics"]["run"][leading]
    is_behind = behind >= _TIE
    text = f"behind by {behind:.1f}" if is_behind else f"ahead by {max(0.0, -behind):.1f}"
    return {"controller": best["controller"], "score": f"{score:.1f}", "is_behind": is_behind, "text": text}
