"""Paired differences in words: the same on a page, in the terminal and in a model card.

weir - gcc: utility +9.4 [+6.1, +14.5], challenge +6.6 [+4.5, +9.8]; more utility in 21 of 26 independent scenarios,
5 seeds each
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Scores of 0 to 100: the objective's own measure first, then the one without an objective.
_SCORES = ("utility", "challenge")


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


def paired_sentences(summary: Mapping[str, Any]) -> dict[str, PairedSentence]:
    """Sentences on the scores in the `paired` rows of a `summary.json`, by the other controller; no entry for one
    without scores.
    """
    by_other: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in summary.get("paired", []):
        by_other.setdefault(row["b"], {})[row["metric"]] = row
    sentences = {}
    for other, by_metric in by_other.items():
        rows = [by_metric[name] for name in _SCORES if name in by_metric]
        if rows:
            sentences[other] = _sentence(rows)
    return sentences


def _sentence(rows: list[Mapping[str, Any]]) -> PairedSentence:
    first = rows[0]
    won = f"more {first['metric']} in {first['wins']} of {sample_text(first['independent'], first['n'])}"
    return PairedSentence(f"{first['a']} - {first['b']}", tuple(map(_difference, rows)), won)


def _difference(row: Mapping[str, Any]) -> Difference:
    low, high = row["ci95"]
    interval = f"({too_few_text(row['independent'])})" if low is None else f"[{low:+.1f}, {high:+.1f}]"
    return Difference(row["metric"], f"{row['mean']:+.1f}", interval)


def too_few_text(independent: int) -> str:
    """The text in place of an interval."""
    return f"too few scenarios for an interval ({independent})"


def sample_text(independent: int, n: int) -> str:
    """The number of independent scenarios and of seeds, for people."""
    return f"{independent} independent scenario{'' if independent == 1 else 's'}, {seeds_text(independent, n)}"


def seeds_text(independent: int, n: int) -> str:
    """How many runs (or pairs) there are of each scenario; in all, where not all have the same number."""
    seeds, rest = divmod(n, max(1, independent))
    each = " each" if independent > 1 else ""
    return f"{n} runs" if rest else f"{seeds} seed{'' if seeds == 1 else 's'}{each}"
