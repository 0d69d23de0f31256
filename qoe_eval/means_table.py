"""The means of each controller, as a table in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from weir.qoe_eval.metric_table import Metric

# Longer names of controllers of one's own are cut.
_LONGEST_NAME = 20


def print_means(summary: Mapping[str, Any], metrics: Mapping[str, Metric], shown: Sequence[str]) -> None:
    """Prints the measures `shown` of a `summary.json`, a line per controller."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    longest = max(map(len, summary["controllers"]), default=0)
    table.add_column("controller", min_width=min(longest, _LONGEST_NAME))
    for name in shown:
        table.add_column(f"{metrics[name].label}\n{metrics[name].unit}", justify="right")
    for controller, values in summary["controllers"].items():
        cells = [metrics[name].display(values[name]["mean"]) if name in values else "–" for name in shown]
        table.add_row(controller, *cells, style="bold" if controller == "weir" else None)
    Console().print(table)
