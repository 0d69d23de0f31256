"""How values look on a page: texts of differences and intervals, colours, places of marks. Plain values, no HTML."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from weir_cli.console import counted
from weir_eval.measures.table import Measure
from weir_eval.options.shared import is_name
from weir_eval.records.comparisons import PairedComparison
from weir_sim.controllers import CONTROLLERS, LIBWEBRTC, SIMULATED

STYLE: Final = Path(__file__).parent / "page" / "report.css"
"""The style of all pages, for pages that are served."""
PALETTE: Final = 17
"""The number of variables --series-N in it."""
_MORE_DECIMALS = 4
# Those that the libwebrtc of 2023 has.
_LIBWEBRTC = re.compile(
    rf"(?<![\w-])({'|'.join(name for name in LIBWEBRTC if CONTROLLERS[name].libwebrtc_milestone == 0)})(?![\w-])"
)


def dated(text: str, libwebrtc: str) -> str:
    """A controller's name, or a text with names of controllers, for people: a libwebrtc that has a date in place of a
    version, as of January 2023, stands behind the names of its controllers, `gcc (2023-01)`.
    """
    return _LIBWEBRTC.sub(rf"\1 ({libwebrtc})", text) if re.fullmatch(r"\d{4}-\d{2}", libwebrtc) else text


def signed(value: float, metric: Measure) -> str:
    """A difference for people, with its sign; 0 has none."""
    text = metric.display(abs(value))
    return text if float(text.replace(",", "")) == 0 else ("+" if value > 0 else "−") + text


def precise(measure: Measure, row: PairedComparison) -> Measure:
    """The measure with the decimals that a difference needs: an interval that excludes 0 is not printed as 0."""
    if verdict(row, measure) == "even":
        return measure
    shown = measure
    while shown.decimals < measure.decimals + _MORE_DECIMALS and any(
        float(shown.display(abs(value)).replace(",", "")) == 0 for value in (row.mean, *row.ci95) if value
    ):
        shown = replace(shown, decimals=shown.decimals + 1)
    return shown


def interval(ends: Sequence[float | None], metric: Measure, is_difference: bool = False) -> str:
    """The two ends of an interval for people; a dash where there is none."""
    low, high = ends
    if low is None or high is None:
        return "–"
    show = (lambda value: signed(value, metric)) if is_difference else metric.display
    return f"{show(low)} … {show(high)}"


def verdict(row: PairedComparison, measure: Measure) -> Literal["good", "bad", "even"]:
    """The class of CSS of a difference: it has a colour only where its interval excludes 0, and more scenarios have its
    direction than the opposite one.
    """
    low, high = row.ci95
    if low is None or high is None or low <= 0 <= high:
        return "even"
    if measure.difference_favours_first(row.mean):
        return "good" if row.wins > row.losses else "even"
    return "bad" if row.losses > row.wins else "even"


def verdict_word(row: PairedComparison, measure: Measure) -> str:
    """The verdict: "better", "worse" or "not told apart". Without an interval there is none: "level" if the mean as
    shown is 0, else the runs that are better, worse and level, and the median where most do not agree with the mean.
    """
    if row.ci95[0] is not None:
        return {"good": "better", "bad": "worse", "even": "not told apart"}[verdict(row, measure)]
    if signed(row.mean, measure)[0] not in "+−" and not row.opposing:
        return "level"
    own, opposite = ("better", "worse") if measure.difference_favours_first(row.mean) else ("worse", "better")
    if row.agreeing is None:
        return "higher" if row.mean > 0 else "lower"
    counts = [(own, row.agreeing), (opposite, row.opposing), ("level", row.n - row.agreeing - (row.opposing or 0))]
    shown = [f"{name} in {count}" for name, count in (counts if row.opposing is not None else counts[:1]) if count]
    text = f"{', '.join(shown)} of {counted(row.n, 'seed' if row.independent == 1 else 'run')}"
    if row.median is None or row.agreeing > row.n / 2:
        return text
    disagree = ": mean and majority disagree" if (row.opposing or 0) > row.agreeing else ""
    return f"{text}, median {signed(row.median, measure)}{disagree}"


def counts_text(row: PairedComparison) -> str:
    """On how many scenarios the first of a pair is better, worse and level; empty for one scenario."""
    if row.independent == 1:
        return ""
    level = row.independent - row.wins - row.losses
    return f"better in {row.wins}, worse in {row.losses}, level in {level}"


def colour(controller: str) -> str:
    """The colour of a controller in CSS; grey for a name that CSS could read as something else."""
    return f"var(--c-{css_name(controller)}, var(--zero))" if is_name(controller) else "var(--zero)"


@dataclass(frozen=True)
class IntervalMark:
    """A dot with its interval on a line: places on it in percent of its width; `zero` is None where 0 is not marked."""

    mean: float
    ends: tuple[float, float]
    zero: float | None
    colour: str


def interval_mark(
    mean: float, ends: Sequence[float | None], domain: tuple[float, float], colour: str, zero: bool = False
) -> IntervalMark | None:
    """The mark on a line from domain[0] to domain[1], with room at both ends; None without an interval. With `zero`,
    the place of 0 is marked.
    """
    start, end = ends
    if start is None or end is None:
        return None
    low, high = domain

    def place(value: float) -> float:
        return round(6 + 88 * (value - low) / ((high - low) or 1.0), 1)

    return IntervalMark(place(mean), (place(start), place(end)), place(0) if zero else None, colour)


def difference_mark(row: PairedComparison, measure: Measure) -> IntervalMark | None:
    """The mark of a difference on a line of its own scale, around 0; better is to the right."""
    direction = 1 if measure.better == "higher" else -1
    ends = sorted(direction * end for end in row.ci95 if end is not None)
    if not ends:
        return None
    reach = max(*map(abs, ends), abs(row.mean), 1e-9)
    mark_colour = {"good": "var(--good)", "bad": "var(--bad)", "even": "var(--zero)"}[verdict(row, measure)]
    return interval_mark(direction * row.mean, ends, (-reach, reach), mark_colour, zero=True)


def css_name(controller: str) -> str:
    """A controller's name, or a pool's line, as a part of a name in CSS; `scatter.js` and the live page agree."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", controller)


def controller_colours() -> str:
    """CSS that gives each controller of the simulator its colour, `--c-NAME`."""
    return _rules(SIMULATED, range(len(SIMULATED)))


def other_colours(names: Iterable[str], shown: Collection[str] = SIMULATED) -> str:
    """The same for other controllers, such as a user's, in turn from what those `shown` leave of the palette: first
    what no controller of the simulator has.
    """
    names = list(names)
    taken = [place for place, name in enumerate(SIMULATED) if name in shown]
    free = [place for place in reversed(range(PALETTE)) if place not in taken] or [0]
    return _rules(names, (free[index % len(free)] for index in range(len(names))))


def _rules(names: Iterable[str], places: Iterable[int]) -> str:
    placed = zip(map(css_name, names), places, strict=True)
    rules = (f"--c-{name}: var(--series-{1 + place % PALETTE})" for name, place in placed)
    return f":root {{ {'; '.join(rules)} }}"
