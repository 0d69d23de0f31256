"""Results as text: means and paired differences for the terminal, pages and model cards, and tables in Markdown.

A paired difference reads: weir - gcc: utility +9.4 [+6.1, +14.5], challenge +6.6 [+4.5, +9.8]; more utility in 21 of 26
independent scenarios, 5 seeds each
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from weir.console import output_console
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import PairedRow, Summary

# Longer names of custom controllers are cut.
_LONGEST_NAME = 20
_PIPE_WIDTH = 120
# Scores of 0 to 100: the objective's own measure first, then the one without an objective.
_SCORES = ("utility", "challenge")


def print_means(summary: Summary, shown: Sequence[str]) -> None:
    """Prints the measures `shown` of a `summary.json`, a line per controller."""
    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0))
    longest = max(map(len, summary.controllers), default=0)
    table.add_column("controller", min_width=min(longest, _LONGEST_NAME))
    for name in shown:
        heading = f"{MEASURES[name].label}\n{MEASURES[name].unit}"
        table.add_column(heading, justify="right", min_width=max(map(len, heading.split())))
    table.add_column("runs complete", justify="right")
    for controller, values in summary.controllers.items():
        cells = [MEASURES[name].display(values[name].mean) if name in values else "–" for name in shown]
        cells.append(str(summary.completed.get(controller, "")))
        table.add_row(controller, *cells, style="bold" if controller == REFERENCE else None)
    console = output_console(_PIPE_WIDTH)
    console.print(table)
    if len(set(summary.completed.values())) > 1:
        console.print(f"Means over the runs that all with a mean have completed: {summary_sample(summary)}")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Head and rows, a line each; what would break a line or a cell is made harmless."""
    return _line(head) + "|" + "---|" * len(head) + "\n" + "".join(_line(row) for row in rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


@dataclass(frozen=True)
class Difference:
    """The difference of one measure: its mean, and its 95 % interval or why there is none."""

    measure: str
    mean: str
    interval: str

    def __str__(self) -> str:
        return f"{self.measure} {self.mean} {self.interval}"


@dataclass(frozen=True)
class PairedSentence:
    """`pair` names the two controllers; `won` has the number of scenarios on which the first one is better."""

    pair: str
    differences: tuple[Difference, ...]
    won: str

    def __str__(self) -> str:
        return f"{self.pair}: {', '.join(map(str, self.differences))}; {self.won}"


def paired_sentences(paired: Sequence[PairedRow]) -> dict[str, PairedSentence]:
    """Sentences on the scores in the `paired` rows of a summary, by the other controller; no entry for one without
    scores.
    """
    by_other: dict[str, dict[str, PairedRow]] = {}
    for row in paired:
        by_other.setdefault(row.b, {})[row.metric] = row
    sentences = {}
    for other, by_metric in by_other.items():
        rows = [by_metric[name] for name in _SCORES if name in by_metric]
        if rows:
            sentences[other] = _sentence(rows)
    return sentences


def _sentence(rows: list[PairedRow]) -> PairedSentence:
    first = rows[0]
    won = f"more {first.metric} in {first.wins} of {sample_text(first.independent, first.n)}"
    return PairedSentence(f"{first.a} - {first.b}", tuple(map(_difference, rows)), won)


def _difference(row: PairedRow) -> Difference:
    low, high = row.ci95
    interval = f"({too_few_text(row.independent)})" if low is None else f"[{low:+.1f}, {high:+.1f}]"
    return Difference(row.metric, f"{row.mean:+.1f}", interval)


def too_few_text(independent: int) -> str:
    """The text in place of an interval."""
    return f"too few scenarios for an interval ({independent})"


def sample_text(independent: int, n: int) -> str:
    """The number of independent scenarios and of seeds, for people."""
    return f"{independent} independent scenario{'' if independent == 1 else 's'}, {seeds_text(independent, n)}"


def summary_sample(summary: Summary) -> str:
    """The number of independent scenarios behind the means, of the controller that has most."""
    scores = [values["challenge"] for values in summary.controllers.values() if "challenge" in values]
    most = max(scores, key=lambda score: score.n, default=None)
    return sample_text(most.independent, most.n) if most else sample_text(0, 0)


def seeds_text(independent: int, n: int) -> str:
    """How many runs (or pairs) there are of each scenario; in all, where not all have the same number."""
    seeds, rest = divmod(n, max(1, independent))
    each = " each" if independent > 1 else ""
    return f"{n} runs" if rest else f"{seeds} seed{'' if seeds == 1 else 's'}{each}"
