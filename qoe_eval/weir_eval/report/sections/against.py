"""The comparison of a folder with another one: pairs, differing settings, differences by measure and scenario."""

from __future__ import annotations

from weir_cli.console import counted
from weir_eval.measures.comparison import LEADING, judged
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.records.against import Against
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.summary import Summary
from weir_eval.report.display import signed
from weir_eval.report.page_blocks import Choices, Entries, Folded, Section, Text, code, cut, note
from weir_eval.report.page_table import Cell, Row, Table, controllers_head
from weir_eval.report.sections.pairs import pair_table


def against_section(summary: Summary) -> Section | None:
    """The section of `weir report --against`; None without such a comparison."""
    found = summary.against
    if found is None:
        return None
    rows: dict[str, dict[str, PairedRow]] = {}
    for row in found.paired:
        rows.setdefault(row.a, {})[row.metric] = row
    # Judged controllers first: the others are the same here and there in most comparisons.
    names = list(dict.fromkeys(name for name in (*judged(summary), *rows) if name in rows))
    by_scenario = [(MEASURES[name].label, _by_scenario(found, MEASURES[name], names)) for name in LEADING]
    blocks = [
        Text(_sample(found), "note"),
        Entries(
            [
                ("There", [code(found.command)] if found.command else cut(found.folder)),
                *((name, text) for name, text in found.differing.items()),
            ]
        ),
        note("By scenario: the difference of means over the paired seeds; small: the means here and there."),
        Choices("against-scenarios", "Measure", [(label, table) for label, table in by_scenario if table.rows]),
        Folded("All measures", [Choices("against", "Controller", [(name, pair_table(rows[name])) for name in names])]),
    ]
    return Section("against", "Against", blocks, f"Against {cut(found.folder)}")


def _sample(found: Against) -> str:
    """The pairs behind the differences, and what is left of both folders."""
    unpaired = [
        f"{count:,} {where}"
        for where, count in (("here", found.unpaired_here), ("there", found.unpaired_there))
        if count
    ]
    sentences = [
        f"Every controller with itself: here − there, over {counted(found.runs, 'pair')} of runs with the same "
        "scenario and seed.",
        f"Without a counterpart: {' and '.join(unpaired)}." if unpaired else "",
        f"Equal in every measure: {found.equal:,}." if found.equal else "",
        ""
        if found.differing
        else "No recorded setting or option differs; scenarios may differ in what records do not have.",
        "Utility is left out, since each objective defines its own." if "objective" in found.differing else "",
    ]
    return " ".join(filter(None, sentences))


def _by_scenario(found: Against, measure: Measure, names: list[str]) -> Table:
    """The difference on every scenario, a cell for each controller; without rows where no pair has the measure."""
    rows = []
    for scenario, by_controller in found.scenarios.items():
        both = [by_controller.get(name, {}).get(measure.name) for name in names]
        if any(both):
            cells = [Cell("–") if pair is None else _cell(measure, pair) for pair in both]
            rows.append(Row([Cell(scenario), *cells]))
    return Table(controllers_head("Scenario", measure, names), rows)


def _cell(measure: Measure, pair: tuple[float, float]) -> Cell:
    own, other = pair
    return Cell(signed(own - other, measure), f"{measure.display(own)}, {measure.display(other)}")
