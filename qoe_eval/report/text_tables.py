"""Tables of text: the means of each controller in the terminal, and any table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import Summary

# Longer names of custom controllers are cut.
_LONGEST_NAME = 20
_PIPE_WIDTH = 120


def print_means(summary: Summary, shown: Sequence[str]) -> None:
    """Prints the measures `shown` of a `summary.json`, a line per controller."""
    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0))
    longest = max(map(len, summary.controllers), default=0)
    table.add_column("controller", min_width=min(longest, _LONGEST_NAME))
    for name in shown:
        heading = f"{MEASURES[name].label}\n{MEASURES[name].unit}"
        table.add_column(heading, justify="right", min_width=max(map(len, heading.split())))
    for controller, values in summary.controllers.items():
        cells = [MEASURES[name].display(values[name].mean) if name in values else "–" for name in shown]
        table.add_row(controller, *cells, style="bold" if controller == REFERENCE else None)
    console = Console()
    if not console.is_terminal:
        # A pipe has no width of its own; rich would cut at 80.
        console.width = _PIPE_WIDTH
    console.print(table)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Head and rows, a line each; what would break a line or a cell is made harmless."""
    return _line(head) + "|" + "---|" * len(head) + "\n" + "".join(_line(row) for row in rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
