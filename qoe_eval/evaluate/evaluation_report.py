"""The report of an evaluation: the JSON document, the HTML page, and the tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import rich.table
import typer
from rich.text import Text

from weir.console import counted, output_console
from weir.qoe_eval.evaluate.evaluation_charts import worst_charts
from weir.qoe_eval.evaluate.runner import Evaluated
from weir.qoe_eval.evaluate.scenario_sets import of_media
from weir.qoe_eval.measures.families import GCC, SCORE, summarise_families
from weir.qoe_eval.measures.summary import ordered_controllers, scenario_differences, scenario_means
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import FamilyRow
from weir.qoe_eval.report.chart_rows import Chart
from weir.qoe_eval.report.goal_table import Row as GoalRow
from weir.qoe_eval.report.goal_table import print_rows, reached_text, rows_document
from weir.qoe_eval.report.page_table import Cell, Row, Table
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.sections.runs import failures, run_section, versions_of
from weir.qoe_eval.report.sections.scenarios import families, heat_table
from weir.registry import POLICY
from weir.traces.generate.families.families import FAMILIES
from weir.traces.schema.media import MEDIA

SCHEMA = "weir.evaluation/1"
_KEPT = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "recoco", "viewer_quality", "jain_index",
         "tcp_share")  # fmt: skip
# Rows of a set's table of scenarios: the worst against gcc.
_SHOWN = 50
_NOTE = (
    "Where a goal names a strength (5 % of loss), the mean over its scenarios decides; where it names the worst, "
    "longest or largest, one scenario does. Gains are paired by scenario and seed, averaged over the seeds of a "
    "scenario, then over scenarios; intervals by the BCa bootstrap over scenarios, of six or more. A pair of calls "
    "counts when neither call was disturbed."
)


def evaluation_document(evaluated: Sequence[Evaluated], run: Mapping[str, Any]) -> dict[str, Any]:
    """The document: `run`, how many goals are `reached` of those `decided`, and by suite the rows, families, means by
    set, scenario and controller, and measures of calls.
    """
    suites = {one.planned.suite.name: _suite_document(one) for one in evaluated}
    totals = {name: sum(one[name] for one in suites.values()) for name in ("reached", "decided")}
    return {"schema": SCHEMA, "run": dict(run), **totals, "suites": suites}


def evaluation_page(evaluated: Sequence[Evaluated], run: Mapping[str, Any], out: Path) -> str:
    """The page as text; `out` is its folder.

    Raises:
        InputError: a file of series is damaged.
    """
    charts: list[Chart] = []
    sections: list[Section | None] = [failures(run["failures"], "run")]
    controllers: set[str] = set()
    for one in evaluated:
        name, table = one.planned.suite.name, family_table(one)
        view = {"table": _goals(one.shown), "note": f"{one.planned.suite.about} {reached_text(one.rows)} {_NOTE}"}
        sections.append(Section(name, f"Goals: {name}", "goals", view))
        sections += families(table, POLICY, one.libwebrtc, has_own_sections=True)
        if one.pages:
            sections.append(_calls(one, out))
        for set_name in [replays.name for replays in one.planned.compared]:
            found = ordered_controllers(record.controller for record in one.results.of(set_name))
            controllers |= set(found)
            sections.append(_set(one, set_name, found, charts))
    records = [record for one in evaluated for record in one.records]
    entries = [
        ("Finished", run["finished"]),
        ("Objective", "balanced, except in sets named after a preset"),
        ("Model", f"{run['model']['name']}, SHA-256 {run['model']['sha256']}"),
        ("Versions", versions_of(records)),
    ]
    sections.append(run_section(run["command"], entries))
    rows = [row for one in evaluated for row in one.rows]
    lead = {"runs": run["runs"], "model": run["model"]["name"], "reached": reached_text(rows)}
    shown = ordered_controllers(controllers)
    libwebrtc = next((one.libwebrtc for one in evaluated if one.libwebrtc), "")
    return render_page("evaluate_lead", "Weir: goals", lead, sections, {"charts": charts}, shown, libwebrtc)


def print_evaluation(evaluated: Sequence[Evaluated]) -> None:
    """The goals of each suite on standard output, its families before them."""
    for one in evaluated:
        typer.echo(f"\n{one.planned.suite.name}: {reached_text(one.rows)}\n")
        for section in families(family_table(one), POLICY, one.libwebrtc, has_own_sections=True):
            typer.echo(f"{section.heading}:\n")
            _print_table(section.view["table"])
            typer.echo()
        print_rows(one.shown)
        if hidden := len(one.rows) - len(one.shown):
            typer.echo(f"{counted(hidden, 'goal')} of sets that were not chosen")


def family_table(one: Evaluated) -> list[FamilyRow]:
    """The rows of families that ran against gcc or scream, those with video first."""
    families = [of_media(name, media) for media in MEDIA for name in FAMILIES]
    return [row for row in summarise_families(one.results.of(*families), POLICY) if row.against_better is not None]


def _goals(rows: Sequence[GoalRow]) -> Table:
    kinds = {True: "good", False: "bad", None: "even"}
    return Table(
        ["What", "Reached", "Measured", "Goal"],
        [
            Row(
                [
                    Cell(row.what, row.detail),
                    Cell(row.verdict, kind=f"verdict {kinds[row.reached]}"),
                    row.measured or "–",
                    row.bound,
                ]
            )
            for row in rows
        ],
        "goals",
    )


def _suite_document(one: Evaluated) -> dict[str, Any]:
    results = one.results
    document = rows_document(SCHEMA, one.rows, {"seeds": list(one.planned.seeds), "runs": len(one.records)})
    return {key: value for key, value in document.items() if key != "schema"} | {
        "families": [row.model_dump() for row in family_table(one)],
        "sets": {
            name: {
                "missing": some.missing,
                "scenarios": {
                    scenario: {c: {m: values[m] for m in _KEPT if m in values} for c, values in by.items()}
                    for scenario, by in scenario_means(results.of(name)).items()
                },
            }
            for name, some in results.sets.items()
            if name in results.replays or some.missing
        },
        "calls": {
            name: [
                {
                    "scenario": record.scenario,
                    "controller": record.controller,
                    "seed": record.seed,
                    "disturbed": record.call.disturbed,
                    "metrics": record.measures,
                }
                for record in records
            ]
            for name, records in results.calls.items()
        },
    }


def _set(one: Evaluated, name: str, controllers: Sequence[str], charts: list[Chart]) -> Section:
    """The section of a set; its charts join those of the page."""
    results = one.results
    means = scenario_means(results.of(name))
    differences = scenario_differences(means, POLICY, GCC)
    ordered = sorted(means, key=lambda scenario: differences.get(scenario, float("inf")))[:_SHOWN]
    first = len(charts)
    kept = {replays.name for replays in one.planned.replays if replays.series == "kept"}
    charts += worst_charts(results, name) if name in kept else []
    view = {
        "description": next((some.description for some in results.sets[name].scenarios), ""),
        "metric": MEASURES[SCORE],
        "table": heat_table(
            MEASURES[SCORE], {scenario: means[scenario] for scenario in ordered}, controllers, linked=False
        ),
        "hidden": len(means) - len(ordered),
        "charts": [
            {"index": index, "name": chart["name"], "note": chart["note"]}
            for index, chart in enumerate(charts[first:], first)
        ],
    }
    return Section(f"family-{name.replace(', ', '-')}", f"{one.planned.suite.name}: {name}", "evaluated_set", view)


def _calls(one: Evaluated, out: Path) -> Section:
    """The calls by kind, and where their own pages are."""
    calls = [record for records in one.results.calls.values() for record in records]
    view = {
        "calls": len(calls),
        "disturbed": sum(bool(record.call.disturbed) for record in calls),
        "pages": {kind: str(page.relative_to(out)) for kind, page in one.pages.items()},
    }
    return Section(f"{one.planned.suite.name}-calls", "Calls", "evaluated_calls", view)


def _print_table(table: Table) -> None:
    """A table of the page on the terminal."""
    shown = rich.table.Table(box=None, header_style="dim", pad_edge=False)
    for number, head in enumerate(table.heads):
        shown.add_column(_text(head), justify="right" if number else "left")
    for row in table.rows:
        shown.add_row(*map(_text, row.cells))
    output_console().print(shown)


def _text(cell: Cell | str) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    text = cell.links[0][1] if cell.links else f"{cell.text} {cell.small}".strip()
    return Text(text, style={"good": "green", "bad": "red"}.get(cell.kind, ""))
