"""Goals and what was measured against them, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Goal:
    """`at least` or `at most` a limit; `strict`: above or below it. `scale` multiplies values for display."""

    kind: Literal["at least", "at most"]
    limit: float
    unit: str = ""
    strict: bool = False
    scale: float = 1.0
    decimals: int = 2
    signed: bool = False

    def met(self, value: float) -> bool:
        """Whether a value reaches the goal."""
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
class Row:
    """One goal. `reached` is nothing where it was not measured, or not wholly; `reason` says why.

    `measured` is for people, `value` the number behind it (in the unit of the goal divided by its scale; nothing where
    there is none, say for a queue that never drains). `detail` is a sentence, `figures` its numbers.
    """

    name: str
    what: str
    goal: Goal
    value: float | None = None
    measured: str = ""
    reached: bool | None = None
    reason: str = ""
    detail: str = ""
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """yes, no, or not measured with the reason."""
        if self.reached is None:
            return f"{'not decided' if self.measured else 'not measured'}: {self.reason}"
        return "yes" if self.reached else "no"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        goal = {"kind": self.goal.kind, "strict": self.goal.strict, "limit": self.goal.limit, "text": str(self.goal)}
        fields = ("name", "what", "value", "measured", "reached", "reason", "detail", "figures")
        return (
            {name: getattr(self, name) for name in fields[:2]}
            | {"goal": goal}
            | {name: getattr(self, name) for name in fields[2:]}
        )


def measured(name: str, what: str, goal: Goal, value: float, detail: str = "", **figures: Any) -> Row:
    """A row whose value decides."""
    return Row(name, what, goal, value, goal.show(value), goal.met(value), detail=detail, figures=figures)


def missed(name: str, what: str, goal: Goal, text: str, detail: str = "", **figures: Any) -> Row:
    """A row that is not reached and has no number: what should have happened never did, as `text` says."""
    return Row(name, what, goal, None, text, False, detail=detail, figures=figures)


def not_measured(name: str, what: str, goal: Goal, reason: str) -> Row:
    """A row without a measurement."""
    return Row(name, what, goal, reason=reason)
