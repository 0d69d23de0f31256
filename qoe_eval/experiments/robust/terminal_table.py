"""The table of families on standard output."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from weir.console import output_console
from weir.qoe_eval.records import FamilyRow, PairedComparison


def print_families(rows: Sequence[FamilyRow], controllers: Sequence[str]) -> None:
    """A row for each family: scores, differences with their intervals, the worst scenario against gcc."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("family")
    for name in ("n", *controllers, "to better gcc", "to rule"):
        table.add_column(name, justify="right")
    table.add_column("worst score against gcc")
    table.add_column("worst utilisation, of gcc's")
    for row in rows:
        worst, used = row.worst_score, row.worst_utilisation
        table.add_row(
            row.name,
            str(row.scenarios),
            *(f"{row.scores[name]:.1f}" if name in row.scores else "–" for name in controllers),
            _difference(row.against_gcc),
            _difference(row.against_rule),
            f"{worst.value:+.1f} {worst.scenario}" if worst else "–",
            f"{used.value:.2f} {used.scenario}" if used else "–",
        )
    output_console().print(table)


def _difference(found: PairedComparison | None) -> Text:
    if found is None:
        return Text("–")
    low, high = found.ci95
    interval = "" if low is None else f" ({low:+.1f} to {high:+.1f})"
    return Text(f"{found.mean:+.1f}{interval}", style="green" if found.mean >= 0 else "red")
