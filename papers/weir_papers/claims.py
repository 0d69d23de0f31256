"""Claims of papers, and the verdict on what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from weir_cli.console import output_console
from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, read_text
from weir_eval.measurement import Value
from weir_eval.report.goal_table import Bound
from weir_papers.common import mean_of

NOT_MEASURED: Final = "not yet measured at full size"

# The values of a claim, one for each seed, by its key.
Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and when it holds here.

    Attributes:
        key: of the value in `docs/results/papers.json`, PAPER/NAME.
        description: the measure, for readers.
        paper: the paper's value, for readers.
        published: the paper's value as a number; None where it gives none.
        holds: what the mean over seeds must reach for "holds".
        partly: what it must reach for both "holds" and "holds in part"; None: there is nothing between.
        reason: a difference from the paper that may matter, one line; a cause only where it names the experiment.
        most: the upper end of the paper's range; None: it gives none. A larger mean holds in part.
        since: the first date, as in an origin, with values of the present measure; those before it are of earlier code.
    """

    key: str
    description: str
    paper: str
    published: float | None
    holds: Bound
    partly: Bound | None = None
    reason: str = ""
    most: float | None = None
    since: str = ""

    def show(self, samples: Sequence[float]) -> str:
        """The mean with its interval; empty where there are no samples."""
        return "" if not samples else self.show_value(value_of(samples))

    def show_value(self, value: Value) -> str:
        """The same of a value."""
        text = self.holds.show(value.value)
        if value.low is None or value.high is None:
            return text
        bare = Bound(self.holds.kind, 0.0, scale=self.holds.scale, decimals=self.holds.decimals)
        return f"{text} [{bare.show(value.low)}, {bare.show(value.high)}]"

    def verdict(self, value: Value | None) -> str:
        """holds, holds in part, does not; or not measured. Undecided: the interval has another verdict, too."""
        if value is None:
            return NOT_MEASURED
        of_mean = self._verdict(value.value)
        ends = {self._verdict(end) for end in (value.low, value.high) if end is not None}
        return of_mean if ends <= {of_mean} else f"{of_mean} (undecided)"

    def _verdict(self, value: float) -> str:
        if self.partly is not None and not self.partly.met(value):
            return "does not"
        if self.holds.met(value):
            return "holds" if self.most is None or value <= self.most else "holds in part"
        return "does not" if self.partly is None else "holds in part"


@dataclass(frozen=True)
class Repetition:
    """How `weir paper all` repeats a paper, and what it reads then.

    Attributes:
        name: of the paper.
        claims: in the order of the table.
        commands: the arguments of `weir`, command by command, that write into a folder; with the small size, or not.
        measured: the values that they left in the folder.
        model: the file of the model that the values are of, of several the first; None: there is none.
    """

    name: str
    claims: Sequence[Claim]
    commands: Callable[[Path, bool], list[list[str]]]
    measured: Callable[[Path], Samples]
    model: Callable[[Path], Path | None]


def value_of(samples: Sequence[float]) -> Value:
    """The mean and its 95 % interval by Student's t; of one sample no interval."""
    mean = mean_of(list(samples))
    if mean.half_interval is None:
        return Value(mean.mean)
    return Value(mean.mean, mean.mean - mean.half_interval, mean.mean + mean.half_interval)


def print_claims(claims: Iterable[Claim], samples: Samples) -> None:
    """Prints each claim with the paper's value, what was measured here, and the verdict."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("claim", "paper", "here", "verdict"):
        table.add_column(name)
    for claim in claims:
        measured = samples.get(claim.key, ())
        table.add_row(
            claim.description,
            claim.paper,
            claim.show(measured),
            claim.verdict(value_of(measured) if measured else None),
        )
    output_console().print(table)


def read_result(path: Path) -> dict[str, Any]:
    """A document that a command of a paper wrote.

    Raises:
        InputError: it is missing or damaged.
    """
    document = parse_json(read_text(path), str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: is not a result of `weir paper`; remove it")
    return document


def row_values(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, list[float]]:
    """The values of rows of a document with goals, by key, where `names` has the row of each key; those of the seeds
    where a row has them.
    """
    rows = {row["name"]: row for row in document["rows"]}
    found = {}
    for key, name in names.items():
        row = rows.get(name, {})
        values = row.get("figures", {}).get("values")
        if not values and row.get("value") is not None:
            values = [row["value"]]
        if values:
            found[key] = [float(value) for value in values]
    return found
