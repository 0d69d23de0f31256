"""The section of paired differences, of replays and of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.report.display import interval_mark
from weir.qoe_eval.report.page_template import Section
from weir.qoe_eval.report.paired_text import seeds_text, too_few_text

COMPARED = (
    "utility", "challenge", "viewer_quality", "frozen_share", "frame_delay_ms_p95", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms", "recoco",
)  # fmt: skip


def paired(
    summary: Mapping[str, Any], table: Mapping[str, Metric] = METRICS, compared: Sequence[str] = COMPARED
) -> Section | None:
    """The reference against every other controller, one of the `compared` metrics of a table at a time."""
    rows = summary["paired"]
    if not rows:
        return None
    by_metric = {name: [row for row in rows if row["metric"] == name] for name in compared}
    view = {"reference": REFERENCE, "parts": [_part(table[name], some) for name, some in by_metric.items() if some]}
    return Section("paired", "Paired comparison", "paired.html", view)


def _part(metric: Metric, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    ends = [abs(end) for row in rows for end in (*row["ci95"], row["mean"]) if end is not None]
    reach = max([*ends, 1e-9]) * 1.05
    return {"metric": metric, "reach": reach, "rows": [_row(metric, row, reach) for row in rows]}


def _row(metric: Metric, row: Mapping[str, Any], reach: float) -> dict[str, Any]:
    verdict, judged, colour = _verdict(metric, row)
    return {
        "controller": row["b"],
        "mean": row["mean"],
        "ci95": row["ci95"],
        "mark": interval_mark(row["mean"], row["ci95"], (-reach, reach), colour, zero=True),
        "verdict": verdict,
        "judged": judged,
        "wins": row["wins"],
        "independent": row["independent"],
        "seeds": seeds_text(row["independent"], row["n"]),
    }


def _verdict(metric: Metric, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Words, good, bad or even, and the colour of the mark."""
    low, high = row["ci95"]
    if low is None:
        return too_few_text(row["independent"]), "even", "var(--zero)"
    if low <= 0 <= high:
        return "not told apart", "even", "var(--zero)"
    if metric.difference_favours_first(row["mean"]):
        return "better", "good", "var(--good)"
    return "worse", "bad", "var(--bad)"
