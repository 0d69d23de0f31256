"""Paired differences: the verdict with which a page leads, what is behind them, and the section with all measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_eval.measures.comparison import LEADING
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.summary import Summary
from weir_eval.report.display import dated, difference_mark, interval, precise, signed, verdict
from weir_eval.report.page_blocks import Bullets, Choices, Grid, Section, Span, Text, Words, cut, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table, measure_heads
from weir_eval.report.text import PairedSentences, libwebrtc_of, seeds_text


def verdict_lines(pairs: Sequence[PairedSentences]) -> list[Text]:
    """The verdict of the first pair, and what is behind it; nothing without pairs."""
    return [
        text
        for sentences in pairs[:1]
        for text in (
            Text([Span(cut(sentences.pair)), f": {sentences.verdict}"], "verdict"),
            Text(sentences.basis, "verdict"),
        )
    ]


def differences(pairs: Sequence[PairedSentences]) -> list[Block]:
    """The differences behind the verdicts; nothing without pairs."""
    if not pairs:
        return []
    has_intervals = any(sentences.has_intervals for sentences in pairs)
    about_intervals = ", with 95 % intervals; bold where the interval excludes 0: green better, red worse"
    colours = about_intervals if has_intervals else ""
    about = (
        f"Differences paired by scenario and seed{colours}. Then the number of scenarios whose mean is better, worse "
        "and level."
    )
    return [Grid("pairs", [*map(_differences, pairs)]), note(about)]


def _differences(pair: PairedSentences) -> list[Block]:
    sentences: list[Words] = [
        [
            f"{difference.measure} ",
            Span(difference.mean, "span", difference.kind),
            f" {difference.interval}".rstrip(),
            f": {difference.counts}",
        ]
        for difference in pair.differences
    ]
    return [Text([Span(cut(pair.pair)), f", {pair.sample}:"]), Bullets(sentences)]


def paired(summary: Summary) -> Section | None:
    """Every judged controller against another one, one pair at a time, by all measures that both have."""
    rows: dict[tuple[str, str], dict[str, PairedRow]] = {}
    for row in summary.paired:
        rows.setdefault((row.a, row.b), {})[row.metric] = row
    if not rows:
        return None
    version = libwebrtc_of(summary)
    choices = [(dated(f"{own} against {other}", version), _pair_table(some)) for (own, other), some in rows.items()]
    heading = f"{', '.join(dict.fromkeys(row.a for row in summary.paired))} against the others, paired"
    about_intervals = (
        " Intervals by bootstrap over scenarios, of six or more. A verdict and a colour are given only where the "
        "interval excludes 0. Each mark has its own scale around 0."
        if any(row.ci95[0] is not None for row in summary.paired)
        else ""
    )
    about = note(
        "The difference, first − second, on the same scenario with the same seed, averaged over seeds and then over "
        "scenarios, which are what is independent. Better, worse and level: scenarios, by their mean over seeds."
        + about_intervals
    )
    return Section("paired", "Paired comparison", [about, Choices("paired", "Pair", choices)], heading)


def _pair_table(rows: Mapping[str, PairedRow]) -> Table:
    has_intervals = any(row.ci95[0] is not None for row in rows.values())
    interval_heads: Cells = ["Verdict", "95 % interval", Cell(ends=("worse", "better"), kind="optional")]
    heads: Cells = [
        "Measure", "Difference", *(interval_heads if has_intervals else []), "Better", "Worse", "Level",
        Cell("Of how many", "independent scenarios"),
    ]  # fmt: skip
    ordered = [name for name in dict.fromkeys((*LEADING, *MEASURES)) if name in rows]
    return Table(heads, [_paired_row(MEASURES[name], rows[name], has_intervals) for name in ordered], "forest")


def _paired_row(measure: Measure, row: PairedRow, has_intervals: bool) -> Row:
    judged, shown = verdict(row, measure), precise(measure, row)
    words = {"good": "better", "bad": "worse", "even": "not told apart"}[judged]
    interval_cells: Cells = [
        Cell("–" if row.ci95[0] is None else words, kind=judged),
        interval(row.ci95, shown, is_difference=True),
        Cell(mark=difference_mark(row, measure), kind="optional"),
    ]
    return Row(
        [
            measure_heads([measure])[0],
            Cell(signed(row.mean, shown), kind=judged),
            *(interval_cells if has_intervals else []),
            str(row.wins),
            str(row.losses),
            str(row.independent - row.wins - row.losses),
            Cell(str(row.independent), seeds_text(row.independent, row.n)),
        ]
    )
