"""The report of a replay: one HTML file that opens without a network, made from a results folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.paired_text import paired_sentences
from weir.qoe_eval.report.sections import objectives
from weir.qoe_eval.report.sections.failures import failures
from weir.qoe_eval.report.sections.families import families
from weir.qoe_eval.report.sections.guard import guard
from weir.qoe_eval.report.sections.headline import headline
from weir.qoe_eval.report.sections.paired import paired
from weir.qoe_eval.report.sections.pools import pools
from weir.qoe_eval.report.sections.scatter import DELAY_THROUGHPUT, scatter
from weir.qoe_eval.report.sections.scenarios import per_scenario
from weir.qoe_eval.report.sections.viewer import viewer
from weir.qoe_eval.report.sections.what_was_run import what_was_run
from weir.qoe_eval.report.sections.worst_runs import worst_runs
from weir.qoe_eval.report.series import chart_series
from weir.qoe_eval.runs.options import own_names
from weir.qoe_eval.runs.store import RunStore
from weir.registry import WEIGHTS

# Lines of these are drawn at first; a click on the legend shows the others.
_SHOWN_AT_FIRST = ("weir", "gcc", "rule")
# The sentences below the title compare with these.
_COMPARED_FIRST = ("gcc", "rule")
# Of the scatter charts: the delay that runs across, and what is drawn over it.
_LINK = ("p95_queueing_delay_ms", "utilisation")
_VIEWER = ("frame_delay_ms_p95", "viewer_quality")


def render_report(store: RunStore, records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> str:
    """The page as text. `records` are lines of `results.jsonl`, whose series `store` reads; `summary` is theirs.

    Raises:
        InputError: a file of series is damaged.
    """
    controllers = list(summary["controllers"])
    descriptions = summary["run"].get("scenarios", {})
    series = chart_series(store, records, {name: one.get("description", "") for name, one in descriptions.items()})
    shown = [name for name in (*own_names(controllers), *_SHOWN_AT_FIRST) if name in controllers] or controllers[:3]
    data = {
        "axes": {name: {"title": METRICS[name].title, "unit": METRICS[name].unit} for name in (*_LINK, *_VIEWER)},
        "scatter": scatter(summary, *_LINK),
        "viewer": scatter(summary, *_VIEWER),
        "objectives": objectives.chart(summary),
        "series": series,
        "hidden": [name for name in controllers if name not in shown],
    }
    sections = [
        failures(summary["run"].get("failures", []), "run"),
        headline(summary),
        viewer(summary),
        paired(summary),
        DELAY_THROUGHPUT,
        objectives.objectives(summary),
        families(summary.get("families", []), has_own_sections=False),
        per_scenario(summary),
        worst_runs(records),
        _time_series(series),
        guard(records),
        pools(records),
        what_was_run(records, summary),
    ]
    title = "Weir: rate control on simulated paths"
    return render_page("replay/page.html", title, _lead(summary), sections, data, "report.js", controllers)


def _lead(summary: Mapping[str, Any]) -> dict[str, Any]:
    weights = summary["run"].get("objective")
    sentences = paired_sentences(summary)
    return {
        "runs": summary["run"].get("runs", 0),
        "controllers": len(summary["controllers"]),
        "scenarios": len(summary["scenarios"]),
        "objective": ", ".join(f"{w:g} {name}" for w, name in zip(weights, WEIGHTS, strict=True)) if weights else "",
        "paired": [sentences[other] for other in _COMPARED_FIRST if other in sentences],
        "has_intervals": any(row["ci95"][0] is not None for row in summary["paired"]),
    }


def _time_series(series: Sequence[Mapping[str, Any]]) -> Section | None:
    if not series:
        return None
    return Section("time-series", "Time series", "replay/time_series.html", {"names": [one["name"] for one in series]})
