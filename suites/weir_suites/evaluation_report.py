"""The report of an evaluation: the HTML page, and the tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rich.table
import rich.text
import typer

from weir_cli.console import counted, output_console
from weir_eval.measures.families import GCC, SCORE, gains_over_best
from weir_eval.measures.summary import ordered_controllers, scenario_means
from weir_eval.measures.table import MEASURES
from weir_eval.records.run_record import RunRecord
from weir_eval.report.chart_rows import SMALLEST_BIN_S, Chart, Line, chart, line, row
from weir_eval.report.display import dated
from weir_eval.report.goal_table import GoalRow, print_rows, reached_text
from weir_eval.report.page_blocks import Bullets, Charts, Choices, Folded, Grid, Section, Span, Text, note
from weir_eval.report.page_table import Block, Cell, Row, Table
from weir_eval.report.page_template import render_page
from weir_eval.report.replay_charts import Drawing
from weir_eval.report.sections.runs import failures, run_section, versions_of
from weir_eval.report.sections.scenarios import families, heat_table
from weir_sim.controllers import POLICY
from weir_suites.missed_goal import missed_pair
from weir_suites.runner import Evaluated
from weir_suites.suite import Replays
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.values_over_time import DelayOverTime
from weir_traces.schema.variation import vary

# Rows of a set's table of scenarios, and charts: the worst against gcc.
_SHOWN = 50
_CHARTS = 2
_BY_SCENARIO = (SCORE, "call_quality", "end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95")
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
    sections: list[Section | None] = [failures(run["failures"], "run")]
    controllers: set[str] = set()
    for of_suite in evaluated:
        name = of_suite.planned.suite.name
        about = note(f"{of_suite.planned.suite.about} {reached_text(of_suite.rows)} {_NOTE}")
        sections.append(Section(name, f"Goals: {name}", [about, _goals(of_suite.shown)]))
        sections.append(of_suite.planned.suite.section(of_suite.results))
        sections += families(of_suite.families, POLICY, of_suite.libwebrtc, has_own_sections=True)
        if of_suite.pages:
            sections.append(_calls(of_suite, out))
        for replays in of_suite.planned.compared:
            found = ordered_controllers(record.controller for record in of_suite.results.replays_of(replays.name))
            controllers |= set(found)
            sections.append(_set(of_suite, replays, found))
    records = [record for of_suite in evaluated for record in of_suite.records]
    entries = [
        ("Finished", run["finished"]),
        ("Objective", "balanced, except in sets named after another"),
        ("Model", f"{run['model']['name']}, SHA-256 {run['model']['sha256']}"),
        ("Versions", versions_of(records)),
    ]
    sections.append(run_section(run["command"], entries))
    rows = [row for of_suite in evaluated for row in of_suite.rows]
    lead = Text(f"{counted(run['runs'], 'run')}, model {run['model']['name']}. {reached_text(rows)}")
    shown = ordered_controllers(controllers)
    libwebrtc = next((of_suite.libwebrtc for of_suite in evaluated if of_suite.libwebrtc), "")
    return render_page("Weir: goals", [lead], sections, shown, libwebrtc)


def print_evaluation(evaluated: Sequence[Evaluated]) -> None:
    """The goals of each suite on standard output, its families before them."""
    for of_suite in evaluated:
        typer.echo(f"\n{of_suite.planned.suite.name}: {reached_text(of_suite.rows)}\n")
        for section in families(of_suite.families, POLICY, of_suite.libwebrtc, has_own_sections=True):
            typer.echo(f"{section.heading}:\n")
            _print_table(next(block for block in section.blocks if isinstance(block, Table)))
            typer.echo()
        print_rows(of_suite.shown)
        if hidden := len(of_suite.rows) - len(of_suite.shown):
            typer.echo(f"{counted(hidden, 'goal')} of sets that were not chosen")


def _goals(rows: Sequence[GoalRow]) -> Table:
    kinds = {True: "good", False: "bad", None: "even"}
    return Table(
        ["What", "Reached", "Measured", "Goal"],
        [
            Row(
                [
                    Cell(goal.what, goal.detail),
                    Cell(goal.verdict, kind=f"verdict {kinds[goal.reached]}"),
                    goal.measured or "–",
                    goal.bound,
                ]
            )
            for goal in rows
        ],
        "goals",
    )


def _set(evaluated: Evaluated, replays: Replays, controllers: Sequence[str]) -> Section:
    """The section of a set: its worst scenarios over time, and all of them in a table."""
    name, gcc = replays.name, dated(GCC, evaluated.libwebrtc)
    scenarios = {scenario.name: scenario for scenario in evaluated.results.scenarios(name)}
    means = scenario_means(evaluated.results.replays_of(name))
    differences = gains_over_best(means, POLICY, (GCC,))
    ordered = sorted(means, key=lambda scenario: differences.get(scenario, float("inf")))[:_SHOWN]
    own, other, subject, gaps = POLICY, GCC, "", differences
    if missed := missed_pair(evaluated.planned.suite.goals, evaluated.rows, evaluated.results, name):
        own, other, gaps = missed.own, missed.other, missed.gains
        subject = f", by the missed goal “{missed.what}”"
    drawn = sorted(gaps, key=lambda scenario: gaps[scenario])[:_CHARTS] if replays.series == "kept" else []
    charts = [_chart(evaluated, name, scenarios[scenario], own, other, gaps[scenario]) for scenario in drawn]
    description = next((f"{scenario.description}. " for scenario in scenarios.values() if scenario.description), "")
    about_charts = (
        f"Below, the worst scenarios of {own} against {dated(other, evaluated.libwebrtc)}{subject}: receive rates, "
        "with the capacity in grey, and packet delay, with the path's own dotted. Dashed lines are other traffic on "
        "the path."
        if charts
        else ""
    )
    hidden = len(means) - len(ordered)
    more = f" {counted(hidden, 'scenario')} more are in evaluation.json." if hidden else ""
    by_scenario: list[Block] = [
        note(f"Means over seeds, worst against {gcc} first; the stronger the colour, the better.{more}"),
    ]
    shown = {scenario: means[scenario] for scenario in ordered}
    tables = {name: heat_table(MEASURES[name], shown, controllers, linked=False) for name in _BY_SCENARIO}
    choices = [(MEASURES[name].label, table) for name, table in tables.items() if table.rows]
    by_scenario.append(Choices(f"scenarios-{name}", "Measure", choices))
    blocks = [
        note(f"{description}{about_charts}"),
        Grid("pair-of-charts", [*map(_captioned, charts)]) if charts else None,
        Folded("Measures by scenario", by_scenario),
    ]
    return Section(f"family-{name.replace(', ', '-')}", f"{evaluated.planned.suite.name}: {name}", blocks)


def _captioned(chart: Chart) -> list[Block]:
    caption = Text([f"{chart['name']} ", Span(chart["note"], "small")], "caption")
    return [caption, Charts([chart], kind="worst")]


def _chart(evaluated: Evaluated, name: str, scenario: Scenario, own: str, other: str, difference: float) -> Chart:
    """The first run of a scenario under two controllers: receive rate within the capacity, and packet delay."""
    results = evaluated.results
    runs: dict[str, RunRecord] = {}
    for record in results.replays_of(name):
        if record.scenario == scenario.name:
            runs.setdefault(record.controller, record)
    drawing = Drawing()
    for controller in (own, other):
        run = results.with_series(runs[controller])
        drawing.add(run.model_copy(update={"flows": [flow for flow in run.flows if flow.direction == "forward"]}))
    shown = "−" if difference < 0 else "+"
    note = dated(f"{own} {shown}{abs(difference):.3g} against {other}", evaluated.libwebrtc)
    rows = [
        row("Received, kbps", [drawing.capacity, *drawing.lines["received"]]),
        row("Delay, ms", [_path_delay(scenario, runs[other].seed), *drawing.lines["delay"]], share=0.8),
    ]
    return chart(scenario.name, note, scenario.duration_s, rows)


def _path_delay(scenario: Scenario, seed: int) -> Line:
    """The path's own delay in the runs of a seed."""
    delay = vary(scenario, seed)[0].forward.one_way_delay_ms
    times_s = np.arange(0.0, scenario.duration_s, SMALLEST_BIN_S)
    values = delay.at(times_s) if isinstance(delay, DelayOverTime) else np.full(len(times_s), delay)
    return line("path's own", "--zero", times_s, values, unit="ms", dash="dot", step=True, width=1.2)


def _calls(evaluated: Evaluated, out: Path) -> Section:
    """The calls by kind, and where their own pages are."""
    calls = [record for records in evaluated.results.calls.values() for record in records]
    disturbed = sum(bool(record.call.disturbed) for record in calls)
    about = note(
        f"{counted(len(calls), 'call')}, {disturbed} of them disturbed. Calls run over weir-sim link, the controllers "
        "of a pair by turns on the same path, with the same bound of the encoder. A call is disturbed when its encoder "
        "is short of CPU, its source below 0.9 of its frame rate for a tenth of the call, its link over 2 ms late or "
        "its processes over 20 ms late. Replays of the same scenarios have a simulated encoder like Chromium's, "
        "without audio."
    )
    links = [
        [Span(f"Each call of {size}", "span", href=str(page.relative_to(out)))]
        for size, page in evaluated.pages.items()
    ]
    return Section(f"{evaluated.planned.suite.name}-calls", "Calls", [about, Bullets(links, "note")])


def _print_table(table: Table) -> None:
    """A table of the page on the terminal."""
    shown = rich.table.Table(box=None, header_style="dim", pad_edge=False)
    for number, head in enumerate(table.heads):
        shown.add_column(_text(head), justify="right" if number else "left")
    for table_row in table.rows:
        shown.add_row(*map(_text, table_row.cells))
    output_console().print(shown)


def _text(cell: Cell | str) -> rich.text.Text:
    if isinstance(cell, str):
        return rich.text.Text(cell)
    text = cell.links[0][1] if cell.links else f"{cell.text} {cell.small}".strip()
    return rich.text.Text(text, style={"good": "green", "bad": "red"}.get(cell.kind, ""))
