"""Results as text: means and paired differences for the terminal, pages and model cards, and tables in Markdown.

A paired difference reads: Viewer's quality +2.0 [+1.1, +3.0]: better in 15, worse in 8, level in 3
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from weir_cli.console import counted, output_console
from weir_eval.measures.comparison import judged, leading_pairs, leading_rows
from weir_eval.measures.statistics import MINIMUM_SCENARIOS
from weir_eval.measures.table import MEASURES
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.summary import Summary
from weir_eval.report.display import counts_text, dated, precise, signed, verdict, verdict_word

TOO_FEW = f"intervals need {MINIMUM_SCENARIOS} independent traces, not more seeds"
SHOWN = (
    "call_quality", "end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95", "viewer_quality", "freeze_count", "utility",
    "challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio",
)  # fmt: skip
"""The measures of a replay on the terminal and in model cards."""
_RENDERED = ("concealed_share", "call_score", "vmaf_mean", "vmaf_p5", "visqol_mean", "plcmos_mean")
# Longer names of controllers take more than one line.
_LONGEST_NAME = 20
_PIPE_WIDTH = 120
_LEADING = ("call_quality", "viewer_quality", "utility")
_MOST_AGAINST = 5
_DECISIVE = (
    ("call_quality", "viewer_quality", "vmaf_mean", "challenge"), ("frozen_share", "freeze_count"),
    ("end_to_end_delay_ms_p95", "frame_delay_ms_p95"), ("received_bitrate_bps",),
)  # fmt: skip
"""The measures of a verdict: quality, freezes, delay and bitrate, each by the first of its measures that a pair has."""
_END_TO_END = ("end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95")
_PARTS_OF_DELAY = ("frame_delay_ms_p50", "frame_delay_ms_p95")


def libwebrtc_of(summary: Summary) -> str:
    """The version of the libwebrtc in the simulator of a replay; empty for results that name none."""
    return summary.run.versions.get("libwebrtc", "")


def names_of_rendered_measures(summary: Summary) -> list[str]:
    """The measures of rendered media that a controller has. Virtual calls have most of them on request only."""
    return [name for name in _RENDERED if any(name in values for values in summary.controllers.values())]


def print_means(summary: Summary, shown: Sequence[str], planned: Sequence[str] = ()) -> None:
    """Prints the measures `shown` of a `summary.json`, a line per controller: best first, as on the page, then those
    `planned` of which no run completed.
    """
    console = output_console(_PIPE_WIDTH)
    leading = next((name for name in _LEADING if any(name in by for by in summary.controllers.values())), "")
    ordered = sorted(
        summary.controllers,
        key=lambda name: -summary.controllers[name][leading].mean if leading in summary.controllers[name] else math.inf,
    )
    failed = [name for name in planned if name not in summary.controllers]
    found = {name: summary.controllers.get(name, {}) for name in (*ordered, *failed)}
    names = {controller: dated(controller, libwebrtc_of(summary)) for controller in found}
    columns = {
        f"{MEASURES[name].label}\n{MEASURES[name].unit}": [
            MEASURES[name].display(values[name].mean) if name in values else "–" for values in found.values()
        ]
        for name in shown
    }
    each = summary.run.planned // len(planned) if planned else 0
    columns["runs complete"] = [
        f"0 of {each}" if controller in failed else str(summary.completed.get(controller, "")) for controller in found
    ]
    first = max(min(max(map(len, names.values()), default=0), _LONGEST_NAME), len("controller"))
    for headings in _fitting(columns, first, console.width):
        table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0))
        # Widths are fixed, since rich shrinks columns below a smallest one and then cuts the line.
        table.add_column("controller", width=first, overflow="fold")
        for heading, width in _widths(columns, headings, first, console.width).items():
            table.add_column(heading, justify="right", width=width)
        for row, name in enumerate(names.values()):
            table.add_row(name, *(columns[heading][row] for heading in headings))
        console.print(table)
    if len(set(summary.completed.values())) > 1:
        console.print(f"Means over the runs that all with a mean have completed: {summary_sample(summary)}")


def _least_width(heading: str, cells: Sequence[str]) -> int:
    return max(map(len, [*heading.split(), *cells]))


def _fitting(columns: Mapping[str, Sequence[str]], first: int, width: int) -> list[list[str]]:
    """The headings in groups, each of which fits beside a first column into a line; at least one a group."""
    groups: list[list[str]] = []
    used = width
    for heading, cells in columns.items():
        needed = _least_width(heading, cells) + 1
        if used + needed > width:
            groups.append([])
            used = first + 1
        groups[-1].append(heading)
        used += needed
    return groups


def _widths(columns: Mapping[str, Sequence[str]], headings: Sequence[str], first: int, width: int) -> dict[str, int]:
    """Widths of a group's columns: the least, and where there is room that of a label in one line."""
    widths = {heading: _least_width(heading, columns[heading]) for heading in headings}
    room = width - (first + 1) - sum(widths.values()) - len(widths)
    for heading, least in widths.items():
        more = max(map(len, heading.split("\n"))) - least
        if 0 < more <= room:
            widths[heading] += more
            room -= more
    return widths


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Head and rows, a line each; what would break a line or a cell is made harmless."""
    return _line(head) + "|" + "---|" * len(head) + "\n" + "".join(_line(row) for row in rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


@dataclass(frozen=True)
class Difference:
    """The sentence of one measure: its mean difference, its 95 % interval if it has one, and the number of scenarios
    that are better, worse and level, empty for one scenario. `kind`: good, bad or even; `word`: that of the verdict.
    `name` is that of the measure in `MEASURES`.
    """

    name: str
    measure: str
    mean: str
    interval: str
    counts: str
    kind: str
    word: str

    @property
    def value(self) -> str:
        """The measure with its difference and interval."""
        return " ".join(filter(None, (self.measure, self.mean, self.interval)))

    def __str__(self) -> str:
        return f"{self.value}: {self.counts or self.word}"


@dataclass(frozen=True)
class PairedSentences:
    """A pair of controllers, the scenarios and seeds behind it, and a sentence for each leading measure."""

    pair: str
    sample: str
    differences: tuple[Difference, ...]

    @property
    def verdict(self) -> str:
        """The differences of the decisive measures, or else of all, of those that are worse, and of a better picture,
        each with its interval and its word.
        """
        known = {difference.name: difference for difference in self.differences}
        decisive = [next((known[name] for name in names if name in known), None) for names in _DECISIVE]
        shown = [difference for difference in decisive if difference] or list(self.differences)
        # A part of a delay that is worse already.
        parts = _PARTS_OF_DELAY if any(name in known and known[name].kind == "bad" for name in _END_TO_END) else ()
        shown += [
            difference
            for difference in self.differences
            if (difference.kind == "bad" or (difference.kind == "good" and difference.name == "viewer_quality"))
            and difference not in shown
            and difference.name not in parts
        ]
        return "; ".join(f"{difference.value}: {difference.word}" for difference in shown)

    @property
    def basis(self) -> str:
        """The runs behind the verdict, and the meaning of its words; or how to get intervals."""
        if not self.has_intervals:
            return f"{self.sample}: {TOO_FEW}."
        return f"{self.sample}. Better or worse: the measure's 95 % interval excludes 0, and most scenarios agree."

    @property
    def has_intervals(self) -> bool:
        """True if a difference has an interval."""
        return any(difference.interval for difference in self.differences)

    def __str__(self) -> str:
        return "\n".join((f"{self.pair}, {self.sample}", *(f"  {difference}" for difference in self.differences)))


def paired_sentences(summary: Summary) -> list[PairedSentences]:
    """The sentences of a summary, those against the reference first."""
    version = libwebrtc_of(summary)
    return [
        _sentences(dated(f"{own} against {other}", version), rows)
        for (own, other), rows in leading_pairs(summary.paired, summary.run.reference).items()
    ]


def against_sentences(summary: Summary) -> list[PairedSentences]:
    """The sentences of the comparison with another folder: of at most five controllers, the judged ones first."""
    if summary.against is None:
        return []
    rows: dict[str, dict[str, PairedRow]] = {}
    for row in summary.against.paired:
        rows.setdefault(row.a, {})[row.metric] = row
    names = [name for name in dict.fromkeys((*judged(summary), *rows)) if name in rows][:_MOST_AGAINST]
    return [
        _sentences(f"{name} here against {name} in {summary.against.folder}", leading)
        for name in names
        if (leading := leading_rows(rows[name]))
    ]


def print_against(summary: Summary) -> None:
    """Prints the settings that differ from the other folder, and the verdict of each controller; nothing without such a
    comparison.
    """
    if summary.against is None:
        return
    differing = [f"{name}: {text}" for name, text in summary.against.differing.items()]
    more = f"; and {len(differing) - _MOST_AGAINST} more" if len(differing) > _MOST_AGAINST else ""
    shown = "; ".join(differing[:_MOST_AGAINST]) or "no recorded setting or option"
    output_console(_PIPE_WIDTH).print(f"Differing from {summary.against.folder}: {shown}{more}", soft_wrap=True)
    print_paired(against_sentences(summary))


def _sentences(pair: str, rows: Sequence[PairedRow]) -> PairedSentences:
    return PairedSentences(pair, sample_text(rows[0].independent, rows[0].n), tuple(map(_difference, rows)))


def print_paired(found: Sequence[PairedSentences]) -> None:
    """Prints the verdict of each pair, a line each, and what is behind them."""
    console = output_console(_PIPE_WIDTH)
    for number, sentences in enumerate(found):
        console.print(f"{'' if number else chr(10)}{sentences.pair}: {sentences.verdict}", soft_wrap=True)
    if found:
        console.print(found[0].basis, soft_wrap=True)


def _difference(row: PairedRow) -> Difference:
    measure = precise(MEASURES[row.metric], row)
    ends = ", ".join(signed(end, measure) for end in row.ci95 if end is not None)
    shown = f"[{ends}]" if ends else ""
    # A difference of shares is in points, and scores of 100 have no unit.
    unit = {"%": " points"}.get(measure.unit, "" if measure.unit.startswith("of ") else f" {measure.unit}".rstrip())
    return Difference(
        row.metric,
        measure.label,
        signed(row.mean, measure) + unit,
        shown,
        counts_text(row),
        verdict(row, measure),
        verdict_word(row, measure),
    )


def too_few_text(independent: int) -> str:
    """The text in place of an interval."""
    return f"too few scenarios for an interval ({independent})"


def sample_text(independent: int, n: int) -> str:
    """The number of independent scenarios and of seeds, for people."""
    return f"{counted(independent, 'independent scenario')}, {seeds_text(independent, n)}"


def summary_sample(summary: Summary) -> str:
    """The number of independent scenarios behind the means, of the controller that has most."""
    scores = [values["challenge"] for values in summary.controllers.values() if "challenge" in values]
    most = max(scores, key=lambda score: score.n, default=None)
    return sample_text(most.independent, most.n) if most else sample_text(0, 0)


def seeds_text(independent: int, n: int) -> str:
    """How many runs (or pairs) there are of each scenario; in all, where not all have the same number."""
    seeds, rest = divmod(n, max(1, independent))
    each = " each" if independent > 1 else ""
    return f"{n} runs" if rest else f"{counted(seeds, 'seed')}{each}"
