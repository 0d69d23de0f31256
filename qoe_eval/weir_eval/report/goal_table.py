"""Goals and the values measured against them, as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rich.table import Table

from weir_cli.console import output_console
from weir_eval.report.text import markdown_table


@dataclass(frozen=True)
class Bound:
    """`at least` or `at most` a limit; `strict`: above or below it. `scale` multiplies values for display."""

    kind: Literal["at least", "at most"]
    limit: float
    unit: str = ""
    strict: bool = False
    scale: float = 1.0
    decimals: int = 2
    signed: bool = False

    def met(self, value: float) -> bool:
        """Tells whether a value reaches the goal."""
        if self.strict and value == self.limit:
            return False
        return value >= self.limit if self.kind == "at least" else value <= self.limit

    def show(self, value: float) -> str:
        """The value with its unit."""
        text = f"{value * self.scale:{'+' if self.signed and value != 0 else ''},.{self.decimals}f}"
        return f"{text} {self.unit}".rstrip()

    def __str__(self) -> str:
        words = {"at least": ("at least", "above"), "at most": ("at most", "below")}[self.kind][self.strict]
        return f"{words} {self.show(self.limit)}"


@dataclass(frozen=True)
class GoalRow:
    """One goal. `reached` is None where it was not measured, or not completely; `reason` gives the cause.

    `measured` is for people, `value` the number behind it, in the unit of the goal divided by its scale (None for, say,
    a queue that never drains). `detail` is a sentence, `figures` its numbers. `source`: the paper or decision that the
    bound comes from. A figure without a bound is reported only.
    """

    name: str
    what: str
    goal: Bound | None
    value: float | None = None
    measured: str = ""
    reached: bool | None = None
    reason: str = ""
    detail: str = ""
    figures: dict[str, Any] = field(default_factory=dict)
    source: str = ""

    @property
    def bound(self) -> str:
        """The goal in words; empty for a figure that is reported only."""
        return "" if self.goal is None else str(self.goal)

    @property
    def verdict(self) -> str:
        """yes, no, or not measured with the reason."""
        if self.goal is None and not self.reason:
            return ""
        if self.reached is None:
            return f"{'not decided' if self.measured else 'not measured'}: {self.reason}"
        return "yes" if self.reached else "no"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        goal = self.goal and {
            "kind": self.goal.kind, "strict": self.goal.strict, "limit": self.goal.limit, "text": str(self.goal)
        }  # fmt: skip
        return vars(self) | {"goal": goal}


def reached_text(rows: Sequence[GoalRow]) -> str:
    """How many of them are reached, and how many not decided: a sentence."""
    goals = [row for row in rows if row.goal is not None]
    decided = [row for row in goals if row.reached is not None]
    return (
        f"{sum(bool(row.reached) for row in decided)} of {len(decided)} goals reached, "
        f"{len(goals) - len(decided)} not decided."
    )


def rows_document(schema: str, rows: Sequence[GoalRow], run: Mapping[str, Any]) -> dict[str, Any]:
    """The first part of every JSON with goals: schema, `run`, how many goals are reached of those decided, and rows."""
    decided = [row.reached for row in rows if row.reached is not None]
    return {
        "schema": schema,
        "run": dict(run),
        "reached": sum(decided),
        "decided": len(decided),
        "rows": [row.to_dict() for row in rows],
    }


def rows_markdown(rows: Sequence[GoalRow]) -> str:
    """The table in Markdown."""
    cells = [[row.what, row.bound, row.measured, row.verdict] for row in rows]
    return markdown_table(["What", "Goal", "Measured", "Reached"], cells)


def details_markdown(rows: Sequence[GoalRow]) -> str:
    """The section that tells what is behind the rows."""
    return "## Details\n\n" + "".join(f"- {row.what}: {row.detail}\n" for row in rows if row.detail)


def print_rows(rows: Sequence[GoalRow]) -> None:
    """The table on standard output."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("what", "goal", "measured", "reached"):
        table.add_column(name, justify="right" if name in ("goal", "measured") else "left")
    styles = {True: "green", False: "red", None: "dim"}
    for row in rows:
        table.add_row(row.what, row.bound, row.measured, row.verdict, style=styles[row.reached])
    output_console().print(table)
