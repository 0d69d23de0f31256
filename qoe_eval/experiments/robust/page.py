"""`robust.html`: the families, the goals, and the worst scenarios of each family over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.call.logs import REPORT
from weir.qoe_eval.experiments.calls.goals import undisturbed
from weir.qoe_eval.experiments.robust.calls import CALLS, RobustCalls
from weir.qoe_eval.experiments.robust.figures import worst_charts
from weir.qoe_eval.experiments.robust.results import RobustResults
from weir.qoe_eval.measures.families import GCC, SCORE
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import ordered_controllers, scenario_differences, scenario_means
from weir.qoe_eval.records import FamilyRow
from weir.qoe_eval.report.goal_table import Row, reached_text
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.sections.runs import failures, versions_of
from weir.qoe_eval.report.sections.scenarios import families, heat_rows

_GOALS_NOTE = (
    "Where a goal names a strength (5 % of loss), the mean over its scenarios decides; where it says worst, longest or "
    "largest, one scenario does."
)


def render(
    results: RobustResults,
    table: Sequence[FamilyRow],
    rows: Sequence[Row],
    run: Mapping[str, Any],
    calls: RobustCalls | None,
) -> str:
    """The page as text.

    Args:
        results: what was run.
        table: the row of each family.
        rows: of the goals.
        run: what `robust.json` says of the run.
        calls: real ones, where any were made.

    Raises:
        InputError: a file of series is damaged.
    """
    controllers = ordered_controllers(name for row in table for name in row.scores)
    charts: list[dict[str, Any]] = []
    shown = [_family(row, results, controllers, charts) for row in table]
    sections = [
        failures(run["failures"], "run"),
        families(table, has_own_sections=True),
        Section("goals", "Goals", "goals.html", {"rows": rows, "note": _GOALS_NOTE}),
        None if calls is None else _calls(calls),
        *shown,
        _what_was_run(results, run),
    ]
    lead = {
        "runs": run["runs"],
        "scenarios": sum(map(len, results.scenarios.values())),
        "families": len(table),
        "model": run["model"]["name"],
        "reached": reached_text(rows),
    }
    title = "Weir: ordinary network life"
    return render_page("robust/page.html", title, lead, sections, {"charts": charts}, "rows.js", controllers)


def _calls(calls: RobustCalls) -> Section:
    """What calls can say, and where their own pages are."""
    sizes = [
        {
            "size": size,
            "calls": len(records),
            "disturbed": len(records) - len(undisturbed(records)),
            "page": f"{CALLS}/{size}/{REPORT}" if records else "",
        }
        for size, records in calls.records.items()
    ]
    return Section("calls", "Calls", "robust/calls.html", {"sizes": sizes})


def _family(
    row: FamilyRow,
    results: RobustResults,
    controllers: Sequence[str],
    charts: list[dict[str, Any]],
) -> Section:
    """The section of a family; its charts join those of the page."""
    means = scenario_means(results.records[row.name])
    differences = scenario_differences(means, GCC)
    ordered = sorted(means, key=lambda name: differences.get(name, float("inf")))
    first = len(charts)
    charts += worst_charts(results, row.name)
    view = {
        "description": row.description,
        "metric": METRICS[SCORE],
        "controllers": controllers,
        "rows": heat_rows(METRICS[SCORE], {name: means[name] for name in ordered}, controllers),
        "charts": [
            {"index": index, "name": one["name"], "note": one["note"]}
            for index, one in enumerate(charts[first:], first)
        ],
    }
    return Section(f"family-{row.name}", row.name, "robust/family.html", view)


def _what_was_run(results: RobustResults, run: Mapping[str, Any]) -> Section:
    model = run["model"]
    records = [record for some in results.records.values() for record in some]
    entries = [
        ("Finished", run["finished"]),
        ("Objective", "balanced"),
        ("Seeds", ", ".join(map(str, run["seeds"]))),
        ("Model", f"{model['name']}, SHA-256 {model['sha256']}"),
        ("Versions", versions_of(records)),
    ]
    return Section("run", "What was run", "run.html", {"command": run["command"], "entries": entries})
