"""Pass and fail for scripts: `--require 'viewer_quality>=gcc-0.5'`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import typer

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_eval.measures.comparison import check_reference, compared_pairs, default_reference, judged_controllers
from weir_eval.measures.summary import ordered_controllers
from weir_eval.measures.table import MEASURES, Kind, Measure
from weir_eval.records.summary import Summary
from weir_eval.report.display import dated
from weir_eval.report.text import libwebrtc_of

_OPERATORS: Final = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_RULE = re.compile(r"\s*(?P<measure>[a-z0-9_]+)\s*(?P<operator>[<>]=?)(?!=)\s*(?P<bound>\S.*)", re.DOTALL)
_UNSIGNED = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"([+-]?)({_UNSIGNED})")
_OFFSET = re.compile(rf"(?:\s*([+-])\s*({_UNSIGNED}))?")
_HOW = "MEASURE, one of >= <= > <, then a number, or a controller with or without +NUMBER or -NUMBER"


@dataclass(frozen=True)
class Requirement:
    """The mean of every controller of `own` against `number`; with `other`, its paired mean difference to that
    controller. `text` is the rule as written.
    """

    text: str
    own: tuple[str, ...]
    measure: Measure
    operator: str
    other: str
    number: float

    def check(self, summary: Summary) -> dict[str, bool]:
        """For each of `own` a line of what was required and measured, and if that is enough."""
        return dict(self._check(own, summary) for own in self.own)

    def _check(self, own: str, summary: Summary) -> tuple[str, bool]:
        name = self.measure.name
        if self.other:
            compared = f"{own} - {self.other}"
            pairs = {(row.a, row.b): row.mean for row in summary.paired if row.metric == name}
            value = pairs.get((own, self.other))
        else:
            compared = own
            spread = summary.controllers.get(own, {}).get(name)
            value = spread.mean if spread else None
        met = value is not None and bool(_OPERATORS[self.operator](value, self.number))
        shown = "not measured" if value is None else f"{value:+.4g}" if self.other else f"{value:.4g}"
        return f"required {self.text}: {compared} {shown}: {'met' if met else 'NOT MET'}", met


def parse_requirements(
    texts: Sequence[str] | None, controllers: Sequence[str], reference: str | None, kind: Kind
) -> list[Requirement]:
    """The values of `--require` of a command that runs `controllers`, and a check of its `--reference`.

    Raises:
        InputError: a rule is none, or its measure or controller is not there.
    """
    check_reference(reference, controllers)
    controllers = ordered_controllers(controllers)
    reference = reference or default_reference(controllers)
    own, pairs = judged_controllers(controllers, reference), compared_pairs(controllers, reference)
    others = list(dict.fromkeys(other for _, other in pairs))
    rules = [parse_requirement(text, own, others, kind) for text in texts or []]
    # A custom controller is compared with `weir`, too, which is not compared with itself.
    return [
        replace(rule, own=tuple(name for name, other in pairs if other == rule.other)) if rule.other else rule
        for rule in rules
    ]


def parse_requirement(text: str, own: Sequence[str], others: Sequence[str], kind: Kind) -> Requirement:
    """A rule, MEASURE OPERATOR BOUND, for the controllers `own`. `others`: those that it may name.

    Raises:
        InputError: it is none.
    """
    option = f"--require '{printable(text)}'"
    # Stripped here: in the pattern, the time would grow with the square of a run of blanks.
    rule = _RULE.fullmatch(text.strip())
    if rule is None:
        raise InputError(f"{option}: is no rule; give {_HOW}")
    measures = MEASURES.of(kind)
    if rule["measure"] not in measures:
        raise InputError(f"{option}: no measure {rule['measure']} of a {kind}; use one of {', '.join(measures)}")
    other, number = _split(rule["bound"], others)
    if number is None:
        known = f", here of {', '.join(others)}" if others else ""
        raise InputError(f"{option}: '{printable(rule['bound'])}' is no bound; give {_HOW}{known}")
    return Requirement(text.strip(), tuple(own), measures[rule["measure"]], rule["operator"], other, number)


def _split(bound: str, others: Sequence[str]) -> tuple[str, float | None]:
    """Controller, empty for none, and number of a bound. A name may end like a number: the longest that fits counts."""
    for name in sorted(others, key=len, reverse=True):
        offset = _OFFSET.fullmatch(bound, len(name))
        if bound.startswith(name) and offset is not None:
            return name, _finite(offset)
    number = _NUMBER.fullmatch(bound)
    return "", None if number is None else _finite(number)


def _finite(number: re.Match[str]) -> float | None:
    value = float("".join(part or "" for part in number.groups()) or "0")
    return value if math.isfinite(value) else None


def end_with_unmet(requirements: Sequence[Requirement], summary: Summary, *, on_stderr: bool) -> None:
    """Prints what was required and measured, a line each.

    Raises:
        typer.Exit: with status 1, one is not met.
    """
    outcomes = [outcome for requirement in requirements for outcome in requirement.check(summary).items()]
    for line, _ in outcomes:
        typer.echo(printable(dated(line, libwebrtc_of(summary))), err=on_stderr)
    if not all(met for _, met in outcomes):
        raise typer.Exit(1)
