"""The report of a replay: one HTML file that opens without a network, made from a results folder."""

from __future__ import annotations

from collections.abc import Sequence

from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import RunRecord, Summary
from weir.qoe_eval.report.page_template import Section, View, render_page
from weir.qoe_eval.report.sections import objectives
from weir.qoe_eval.report.sections.controllers import DELAY_THROUGHPUT, headline, paired, scatter, viewer
from weir.qoe_eval.report.sections.estimators import guard, pools
from weir.qoe_eval.report.sections.runs import failures, what_was_run
from weir.qoe_eval.report.sections.scenarios import families, per_scenario, worst_runs
from weir.qoe_eval.report.series import chart_series
from weir.qoe_eval.runs.options import own_names
from weir.qoe_eval.runs.store import RunStore
from weir.registry import WEIGHTS
from weir.trainer.model.paired_text import paired_sentences

# Lines of these are drawn at first; a click on the legend shows the others.
_SHOWN_AT_FIRST = ("weir", "gcc", "rule")
# The sentences below the title compare with these.
_COMPARED_FIRST = ("gcc", "rule")
# Of the scatter charts: the delay that runs across, and what is drawn over it.
_LINK = ("p95_queueing_delay_ms", "utilisation")
_VIEWER = ("frame_delay_ms_p95", "viewer_quality")


def render_report(store: RunStore, records: Sequence[RunRecord], summary: Summary) -> str:
    """The page as text. `records` are lines of `results.jsonl`, whose series `store` reads; `summary` is theirs.

    Raises:
        InputError: a file of series is damaged.
    """
    controllers = list(summary.controllers)
    series = chart_series(store, records, {name: one.description for name, one in summary.run.scenarios.items()})
    shown = [name for name in (*own_names(controllers), *_SHOWN_AT_FIRST) if name in controllers] or controllers[:3]
    data = {
        "axes": {name: {"title": MEASURES[name].title, "unit": MEASURES[name].unit} for name in (*_LINK, *_VIEWER)},
        "scatter": scatter(summary, *_LINK),
        "viewer": scatter(summary, *_VIEWER),
        "objectives": objectives.chart(summary),
        "series": series,
        "hidden": [name for name in controllers if name not in shown],
    }
    sections = [
        failures(summary.run.failures, "run"),
        headline(summary),
        viewer(summary),
        paired(summary),
        DELAY_THROUGHPUT,
        objectives.objectives(summary),
        families(summary.families, has_own_sections=False),
        per_scenario(summary),
        worst_runs(records),
        _time_series(series),
        guard(records),
        pools(records),
        what_was_run(records, summary),
    ]
    title = "Weir: rate control on simulated paths"
    return render_page("replay/page.html", title, _lead(summary), sections, data, "report.js", controllers)


def _lead(summary: Summary) -> View:
    weights = summary.run.objective
    sentences = paired_sentences(summary)
    return {
        "runs": summary.run.runs,
        "controllers": len(summary.controllers),
        "scenarios": len(summary.scenarios),
        "objective": ", ".join(f"{w:g} {name}" for w, name in zip(weights, WEIGHTS, strict=True)) if weights else "",
        "paired": [sentences[other] for other in _COMPARED_FIRST if other in sentences],
        "has_intervals": any(row.ci95[0] is not None for row in summary.paired),
    }


def _time_series(series: Sequence[View]) -> Section | None:
    if not series:
        return None
    return Section("time-series", "Time series", "replay/time_series.html", {"names": [one["name"] for one in series]})
