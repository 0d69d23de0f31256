"""The report of an evaluation: the HTML page, and the tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rich.table
import typer
from rich.text import Text

from weir.console import counted, output_console
from weir.qoe_eval.evaluate.results import Results
from weir.qoe_eval.evaluate.runner import Evaluated
from weir.qoe_eval.evaluate.suite import Replays
from weir.qoe_eval.measures.families import GCC, SCORE, gains_over_best
from weir.qoe_eval.measures.summary import ordered_controllers, scenario_means
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records.run_record import RunRecord
from weir.qoe_eval.report.chart_rows import SMALLEST_BIN_S, Chart, Line, chart, line, row
from weir.qoe_eval.report.display import dated, signed
from weir.qoe_eval.report.goal_table import GoalRow, print_rows, reached_text
from weir.qoe_eval.report.page_table import Cell, Row, Table
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.replay_charts import Drawing
from weir.qoe_eval.report.sections.runs import failures, run_section, versions_of
from weir.qoe_eval.report.sections.scenarios import families, heat_table
from weir.registry import POLICY
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.values_over_time import DelayOverTime
from weir.traces.schema.variation import vary

# Rows of a set's table of scenarios, and charts: the worst against gcc.
_SHOWN = 50
_CHARTS = 2
_NOTE = (
    "Where a goal names a strength (5 % of loss), the mean over its scenarios decides; where it names the worst, "
    "longest or largest, one scenario does. Gains are paired by scenario and seed, averaged over the seeds of a "
    "scenario, then over scenarios; intervals by the BCa bootstrap over scenarios, of six or more. A pair of calls "
    "counts when neither call was disturbed."
)


def evaluation_page(evaluated: Sequence[Evaluated], run: Mapping[str, Any], out: Path) -> str:
    """The page as text; `out` is its folder.

    Raises:
        InputError: a file of series is damaged.
    """
    charts: list[Chart] = []
    sections: list[Section | None] = [failures(run["failures"], "run")]
    controllers: set[str] = set()
    for one in evaluated:
        name = one.planned.suite.name
        view = {"table": _goals(one.shown), "note": f"{one.planned.suite.about} {reached_text(one.rows)} {_NOTE}"}
        sections.append(Section(name, f"Goals: {name}", "goals", view))
        sections += families(one.families, POLICY, one.libwebrtc, has_own_sections=True)
        if one.pages:
            sections.append(_calls(one, out))
        for replays in one.planned.compared:
            found = ordered_controllers(record.controller for record in one.results.of(replays.name))
            controllers |= set(found)
            sections.append(_set(one, replays, found, charts))
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
        for section in families(one.families, POLICY, one.libwebrtc, has_own_sections=True):
            typer.echo(f"{section.heading}:\n")
            _print_table(section.view["table"])
            typer.echo()
        print_rows(one.shown)
        if hidden := len(one.rows) - len(one.shown):
            typer.echo(f"{counted(hidden, 'goal')} of sets that were not chosen")


def _goals(rows: Sequence[GoalRow]) -> Table:
    kinds = {True: "good", False: "bad", None: "even"}
    return Table(
        ["What", "Reached", "Measured", "Goal"],
        [
            Row(
                [
                    Cell(one.what, one.detail),
                    Cell(one.verdict, kind=f"verdict {kinds[one.reached]}"),
                    one.measured or "–",
                    one.bound,
                ]
            )
            for one in rows
        ],
        "goals",
    )


def _set(one: Evaluated, replays: Replays, controllers: Sequence[str], charts: list[Chart]) -> Section:
    """The section of a set; its charts join those of the page."""
    name = replays.name
    scenarios = {scenario.name: scenario for scenario in one.results.scenarios(name)}
    means = scenario_means(one.results.of(name))
    differences = gains_over_best(means, POLICY, (GCC,))
    ordered = sorted(means, key=lambda scenario: differences.get(scenario, float("inf")))[:_SHOWN]
    drawn = [scenario for scenario in ordered[:_CHARTS] if scenario in differences and replays.series == "kept"]
    new_charts = [_chart(one.results, name, scenarios[scenario], differences[scenario]) for scenario in drawn]
    view = {
        "description": next((scenario.description for scenario in scenarios.values()), ""),
        "metric": MEASURES[SCORE],
        "table": heat_table(
            MEASURES[SCORE], {scenario: means[scenario] for scenario in ordered}, controllers, linked=False
        ),
        "hidden": len(means) - len(ordered),
        "charts": [
            {"index": index, "name": chart["name"], "note": chart["note"]}
            for index, chart in enumerate(new_charts, len(charts))
        ],
    }
    charts += new_charts
    return Section(f"family-{name.replace(', ', '-')}", f"{one.planned.suite.name}: {name}", "evaluated_set", view)


def _chart(results: Results, name: str, scenario: Scenario, difference: float) -> Chart:
    """The first run of a scenario over time: receive rate within the capacity, and packet delay."""
    runs: dict[str, RunRecord] = {}
    for record in results.of(name):
        if record.scenario == scenario.name:
            runs.setdefault(record.controller, record)
    drawing = Drawing()
    for controller in (POLICY, GCC):
        run = results.with_series(runs[controller])
        drawing.add(run.model_copy(update={"flows": [one for one in run.flows if one.direction == "forward"]}))
    note = dated(f"{signed(difference, MEASURES[SCORE])} against gcc", runs[GCC].versions.get("libwebrtc", ""))
    rows = [
        row("Received, kbps", [drawing.capacity, *drawing.lines["received"]]),
        row("Delay, ms", [_path_delay(scenario, runs[GCC].seed), *drawing.lines["delay"]], share=0.8),
    ]
    return chart(scenario.name, note, scenario.duration_s, rows)


def _path_delay(scenario: Scenario, seed: int) -> Line:
    """The path's own delay in the runs of a seed."""
    delay = vary(scenario, seed)[0].forward.one_way_delay_ms
    times_s = np.arange(0.0, scenario.duration_s, SMALLEST_BIN_S)
    values = delay.at(times_s) if isinstance(delay, DelayOverTime) else np.full(len(times_s), delay)
    return line("path's own", "--zero", times_s, values, unit="ms", dash="dot", step=True, width=1.2)


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
    for one in table.rows:
        shown.add_row(*map(_text, one.cells))
    output_console().print(shown)


def _text(cell: Cell | str) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    text = cell.links[0][1] if cell.links else f"{cell.text} {cell.small}".strip()
    return Text(text, style={"good": "green", "bad": "red"}.get(cell.kind, ""))
