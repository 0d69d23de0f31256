"""Sections by scenario: the means on each, shaded from bad to good; the worst runs; and families of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weir_eval.measures.summary import Means, ordered_controllers
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.records.comparisons import FamilyRow, WorstScenario
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import Summary
from weir_eval.report.display import dated, signed
from weir_eval.report.page_blocks import Choices, Section, Text, Words, code, note
from weir_eval.report.page_table import (
    Cell,
    Cells,
    Row,
    Table,
    controller_cell,
    controllers_head,
    difference_cell,
    measure_heads,
)
from weir_sim.controllers import CONTROLLERS, knows_path, uses_model
from weir_traces.schema.media import MEDIA, MediaKind

HEATED = (
    "call_quality", "viewer_quality", "freeze_count", "frozen_share", "end_to_end_delay_ms_p50",
    "end_to_end_delay_ms_p95", "utility", "challenge", "utilisation", "p95_queueing_delay_ms", "max_queueing_delay_ms",
    "loss_ratio", "recoco",
)  # fmt: skip
_STRONGEST_PERCENT = 40

WORST_ROWS = 10
WORST = (
    "utility", "challenge", "challenge_delay", "challenge_rate", "challenge_loss", "p95_queueing_delay_ms",
    "viewer_quality",
)  # fmt: skip
# The headline of a page: the first that its runs have.
_RANKED = ("call_quality", "utility")
# The page shows one decimal; smaller differences count as a tie.
_TIE = 0.05


def per_scenario(summary: Summary, shown: Sequence[str], *, linked: bool) -> Section | None:
    """Means over seeds, one of the measures `shown` at a time; None where no controller has any of them. `linked`: the
    page has a chart for each scenario.
    """
    controllers, measures = list(summary.controllers), [MEASURES[name] for name in shown]
    tables = [
        (measure.label, heat_table(measure, summary.scenarios, controllers, linked=linked)) for measure in measures
    ]
    choices = [(label, table) for label, table in tables if table.rows]
    links = " A scenario's name leads to its time series." if linked else ""
    about = note(f"Means over seeds; the stronger the colour, the better.{links}")
    return Section("scenarios", "Scenarios", [about, Choices("scenarios", "Measure", choices)]) if choices else None


def heat_table(measure: Measure, means: Means, controllers: Sequence[str], *, linked: bool) -> Table:
    """A measure of every scenario, a cell for each controller; without rows when no controller has it on any."""
    values = {
        name: [by_controller.get(controller, {}).get(measure.name) for controller in controllers]
        for name, by_controller in means.items()
    }
    heads = controllers_head("Scenario", measure, controllers)
    known = [value for row in values.values() for value in row if value is not None]
    if not known:
        return Table(heads, [], "heatmap")
    low, high = (float(end) for end in np.percentile(known, [4, 96]))
    domain = (low, high) if measure.better == "higher" else (high, low)
    rows = [
        Row([Cell(name, scenario=linked), *(_cell(measure, value, domain) for value in row)])
        for name, row in values.items()
    ]
    return Table(heads, rows, "heatmap")


def _cell(measure: Measure, value: float | None, domain: tuple[float, float]) -> Cell:
    """A value, its colour stronger the better it is within the domain (worst value, best value)."""
    if value is None:
        return Cell("–", kind="heat even")
    worst, best = domain
    position = min(1.0, max(0.0, (value - worst) / (best - worst))) if best != worst else 1.0
    return Cell(measure.display(value), kind="heat", shade=round(_STRONGEST_PERCENT * position))


def worst_runs(records: Sequence[RunRecord], of: str, libwebrtc: str) -> Section | None:
    """The runs of a controller with the lowest call quality, without video the lowest utility; one per scenario."""
    leading = next((name for name in _RANKED if any(run.measures.get(name) is not None for run in records)), None)
    if leading is None:
        return None
    measure, shown = MEASURES[leading], [leading, *(name for name in WORST if name != leading)]
    scored = [(record, value) for record in records if (value := record.measures.get(leading)) is not None]
    lowest: dict[str, tuple[RunRecord, float]] = {}
    for run in sorted((run for run in scored if run[0].controller == of), key=lambda run: run[1]):
        lowest.setdefault(run[0].scenario, run)
    head, *others = measure_heads([MEASURES[name] for name in shown])
    heads: Cells = ["Scenario", head, "Best other", "Against it", *others, "Seed"]
    rows = [_worst_row(*run, scored, shown) for run in list(lowest.values())[:WORST_ROWS]]
    about = Text(
        f"The scenarios on which {dated(of, libwebrtc)} has the least {measure.label.lower()}, each with its worst "
        "seed; “best other” by it on the same scenario and seed, without the oracle"
        f"{' and Weir at the other end' if _is_weir(of) else ''}.",
        "note",
    )
    return Section("worst", "Worst scenarios", [about, Table(heads, rows)], f"Worst scenarios of {of}")


def _worst_row(record: RunRecord, value: float, scored: Sequence[tuple[RunRecord, float]], shown: Sequence[str]) -> Row:
    first, *rest = (MEASURES[name].display(record.measures.get(name)) for name in shown)
    best_other = _best_other(record, value, scored)
    return Row([Cell(record.scenario, scenario=True), first, *best_other, *rest, str(record.seed)])


def _is_weir(controller: str) -> bool:
    """True for a built-in controller that runs the model, at either end."""
    return controller in CONTROLLERS and uses_model(controller)


def _best_other(record: RunRecord, value: float, scored: Sequence[tuple[RunRecord, float]]) -> list[Cell]:
    """The best other controller in that run, without the oracle and Weir at another end, and the difference to the
    record's.
    """
    others = [
        (score, other.controller)
        for other, score in scored
        if (other.scenario, other.seed) == (record.scenario, record.seed)
        and other.controller != record.controller
        and not knows_path(other.controller)
        and not (_is_weir(record.controller) and _is_weir(other.controller))
    ]
    if not others:
        return [Cell("–"), Cell("–")]
    score, best = max(others, key=lambda candidate: candidate[0])
    behind = score - value
    text = f"behind by {behind:.1f}" if behind >= _TIE else f"ahead by {max(0.0, -behind):.1f}"
    return [Cell(f"{best} {score:.1f}", swatch=best), Cell(text)]


def families(rows: Sequence[FamilyRow], own: str, libwebrtc: str, *, has_own_sections: bool) -> list[Section]:
    """A section for each kind of media, with one row a family and the differences of `own`.

    `libwebrtc`: the version of its controllers. `has_own_sections`: the page has a section for each, `family-NAME` with
    video and `family-NAME-MEDIA` with other media.
    """
    return [
        _families(some, own, media, libwebrtc, has_own_sections)
        for media in MEDIA
        if (some := [row for row in rows if row.media == media])
    ]


def _families(rows: Sequence[FamilyRow], own: str, media: MediaKind, libwebrtc: str, has_own_sections: bool) -> Section:
    measure, suffix = MEASURES["challenge"], "" if media == "video" else f"-{media}"
    controllers = ordered_controllers(name for row in rows for name in row.scores)
    # Only those that were run: a build may lack scream.
    senders = [name for name in ("gcc", "scream") if name in controllers] or ["gcc", "scream"]
    several = "better of " if len(senders) > 1 else ""
    rivals = f"{several}{', '.join(senders)}"
    heads: Cells = [
        "Family", Cell(dated(f"To {rivals}", libwebrtc), "difference"), Cell("To rule", "difference"),
        Cell("Worst score", f"against {'the better' if several else dated(senders[0], libwebrtc)}"),
        Cell("Worst utilisation", f"of {dated('gcc', libwebrtc)}’s"),
        *map(controller_cell, controllers), "Scenarios",
    ]  # fmt: skip
    found = [
        Row(
            [
                Cell("", row.description, links=[(f"#family-{row.name}{suffix}", row.name)])
                if has_own_sections
                else Cell(row.name, row.description),
                *(difference_cell(difference, measure) for difference in (row.against_better, row.against_rule)),
                _worst(row.name, row.worst_score, lambda difference: signed(difference, measure)),
                _worst(row.name, row.worst_utilisation, "{:.2f}".format),
                *(measure.display(row.scores.get(name)) for name in controllers),
                str(row.scenarios),
            ]
        )
        for row in rows
    ]
    rivals = f"the {several}{' and '.join(senders)}" if several else senders[0]
    filler = " Filler takes all that a link carries." if media == "filler" else ""
    sample: Words = [
        " Not among the scenarios of the other sections: two of each family on 4 Mbps, one seed; ",
        code("weir evaluate --suite impairments"),
        " runs them whole.",
    ]
    about: Words = [
        f"Challenge score of calls that send {media}, on families of scenarios with impairments other than a changing "
        f"capacity; means over scenarios.{filler}",
        *([] if has_own_sections else sample),
        f" Differences are those of {own}, paired by scenario and seed, against {rivals} and against rule; small: 95 % "
        "intervals (over scenarios, of six or more). Worst: the one scenario with the lowest score "
        f"against {dated(rivals, libwebrtc)} on it, and the one with the lowest utilisation as a ratio of "
        f"{dated('gcc', libwebrtc)}’s.",
    ]
    blocks = [Text(about, "note"), Table(heads, found, "families")]
    return Section(f"families-{media}", f"Families, {media}", blocks, f"Network impairments, {media}")


def _worst(family: str, worst: WorstScenario | None, show: Callable[[float], str]) -> Cell:
    """The value, and the scenario's name without that of the family."""
    if worst is None:
        return Cell("–")
    return Cell(show(worst.value), worst.scenario.removeprefix(f"{family}-"))
