"""Paired differences: the verdict with which a page leads, what is behind them, and the section with all measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_eval.measures.comparison import LEADING
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.summary import Summary
from weir_eval.report.display import dated, difference_mark, interval, precise, signed, verdict, verdict_word
from weir_eval.report.page_blocks import Bullets, Choices, Grid, Section, Span, Text, Words, cut, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table, measure_heads
from weir_eval.report.text import PairedSentences, libwebrtc_of, seeds_text


def verdict_lines(pairs: Sequence[PairedSentences]) -> list[Text]:
    """The verdict of each pair, a line each as on the terminal, and what is behind them; nothing without pairs."""
    verdicts = [Text([Span(cut(sentences.pair)), f": {sentences.verdict}"], "verdict") for sentences in pairs]
    return [*verdicts, *(Text(sentences.basis, "verdict") for sentences in pairs[:1])]


def differences(pairs: Sequence[PairedSentences]) -> list[Block]:
    """The differences behind the verdicts; nothing without pairs."""
    if not pairs:
        return []
    has_intervals = any(sentences.has_intervals for sentences in pairs)
    about_intervals = ", with 95 % intervals; bold where the interval excludes 0: green better, red worse"
    colours = about_intervals if has_intervals else ""
    has_counts = any(difference.counts for sentences in pairs for difference in sentences.differences)
    counts = " Then the number of scenarios whose mean is better, worse and level." if has_counts else ""
    limits = (
        " Scenarios are independent if they are of separate captures. An interval is for one measure: of 20 measures "
        "without a difference, one has a verdict."
    )
    about = note(f"Differences paired by scenario and seed{colours}.{counts}{limits if has_intervals else ''}")
    return [Grid("pairs", [*map(_differences, pairs)]), about]


def _differences(pair: PairedSentences) -> list[Block]:
    sentences: list[Words] = [
        [
            f"{difference.measure} ",
            Span(difference.mean, "span", difference.kind),
            f" {difference.interval}".rstrip(),
            f": {difference.counts or difference.word}",
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
    choices = [(dated(f"{own} against {other}", version), pair_table(some)) for (own, other), some in rows.items()]
    heading = f"{', '.join(dict.fromkeys(row.a for row in summary.paired))} against the others, paired"
    about_intervals = (
        " Intervals are over scenarios, of six or more. A verdict and a colour are given only where the "
        "interval excludes 0 and most scenarios that differ agree. Each mark has its own scale around 0."
        if any(row.ci95[0] is not None for row in summary.paired)
        else ""
    )
    over_scenarios = (
        " and then over scenarios, which are what is independent. Better, worse and level: scenarios, by their mean "
        "over seeds."
        if any(row.independent > 1 for row in summary.paired)
        else "."
    )
    about = note(
        "The difference, first − second, on the same scenario with the same seed, averaged over seeds"
        f"{over_scenarios}{about_intervals}"
    )
    return Section("paired", "Paired comparison", [about, Choices("paired", "Pair", choices)], heading)


def pair_table(rows: Mapping[str, PairedRow]) -> Table:
    """All measures of one pair; `rows` by the name of the measure."""
    has_intervals = any(row.ci95[0] is not None for row in rows.values())
    interval_heads: Cells = ["Verdict", "95 % interval", Cell(ends=("worse", "better"), kind="optional")]
    has_counts = any(row.independent > 1 for row in rows.values())
    # One scenario has a direction in place of counts.
    counts_heads: Cells = (
        ["Better", "Worse", "Level", Cell("Of how many", "independent scenarios")] if has_counts else ["Direction"]
    )
    heads: Cells = ["Measure", "Difference", *(interval_heads if has_intervals else []), *counts_heads]
    ordered = [name for name in dict.fromkeys((*LEADING, *MEASURES)) if name in rows]
    return Table(
        heads, [_paired_row(MEASURES[name], rows[name], has_intervals, has_counts) for name in ordered], "forest"
    )


def _paired_row(measure: Measure, row: PairedRow, has_intervals: bool, has_counts: bool) -> Row:
    judged, shown = verdict(row, measure), precise(measure, row)
    words = verdict_word(row, measure)
    interval_cells: Cells = [
        Cell("–" if row.ci95[0] is None else words, kind=judged),
        interval(row.ci95, shown, is_difference=True),
        Cell(mark=difference_mark(row, measure), kind="optional"),
    ]
    counts_cells: Cells = [
        str(row.wins),
        str(row.losses),
        str(row.independent - row.wins - row.losses),
        Cell(str(row.independent), seeds_text(row.independent, row.n)),
    ]
    return Row(
        [
            measure_heads([measure])[0],
            Cell(signed(row.mean, shown), kind=judged),
            *(interval_cells if has_intervals else []),
            *(counts_cells if has_counts else [words]),
        ]
    )
