"""Sections that compare controllers: means, viewers, paired differences, and throughput against delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weir.console import counted
from weir.qoe_eval.measures.comparison import LEADING, judged
from weir.qoe_eval.measures.table import MEASURES, Kind, Measure
from weir.qoe_eval.measures.viewer import STANDARD_ERROR
from weir.qoe_eval.records.comparisons import PairedRow, Spread
from weir.qoe_eval.records.run_record import RunRecord
from weir.qoe_eval.records.summary import Summary
from weir.qoe_eval.report.display import (
    colour,
    dated,
    difference_mark,
    interval,
    interval_mark,
    precise,
    signed,
    verdict,
)
from weir.qoe_eval.report.page_table import Cell, Cells, Row, Table, controller_cell, measure_heads
from weir.qoe_eval.report.page_template import Section, View
from weir.qoe_eval.report.text import libwebrtc_of, names_of_rendered_measures, seeds_text, summary_sample

HEADLINE = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms")
VIEWER = (
    "viewer_quality", "video_quality", "frozen_share", "freeze_count", "frames_per_second", "frame_delay_ms_p50",
    "frame_delay_ms_p95",
)  # fmt: skip


def limited_text(records: Sequence[RunRecord]) -> str:
    """On how many scenarios the media, not the path, bounds the rate; empty for none."""
    limits = {
        one.scenario: max(media.max_rate_bps for media in one.media.values())
        for one in records
        if one.media and (one.path.mean_capacity_bps or math.inf) > max(m.max_rate_bps for m in one.media.values())
    }
    if not limits:
        return ""
    most = " to ".join(f"{rate / 1e6:g}" for rate in sorted({min(limits.values()), max(limits.values())}))
    scenarios = counted(len({one.scenario for one in records}), "scenario")
    return (
        f"On {len(limits)} of {scenarios} the path carries more than the media may send, {most} Mbps: there the rate, "
        "and with it the axis upwards, ends at that limit under every controller that reaches it."
    )


def delay_throughput(summary: Summary, limited: str) -> Section | None:
    """The chart of utilisation over delay, of several controllers; `limited` from `limited_text`."""
    if len(summary.controllers) < 2:
        return None
    return Section("delay-throughput", "Throughput and delay", "replay/delay_throughput", {"limited": limited})


def headline(summary: Summary) -> Section:
    """Every controller by its mean utility, with the interval, the challenge score and the other main measures."""
    leading = MEASURES["utility"]
    controllers = {name: values for name, values in summary.controllers.items() if leading.name in values}
    ordered = sorted(controllers, key=lambda name: -controllers[name][leading.name].mean)
    domain = _domain([controllers[name][leading.name] for name in ordered])
    low, high = (f"{end:g}" for end in domain)
    has_intervals = any(controllers[name][leading.name].ci95[0] is not None for name in ordered)
    interval_heads: Cells = [Cell("95 % interval", kind="optional"), Cell(ends=(low, high), kind="optional")]
    heads: Cells = [
        "Controller", *measure_heads([leading]), *(interval_heads if has_intervals else []),
        *measure_heads([MEASURES[name] for name in HEADLINE]),
        Cell("p5", "of runs"), Cell("Worst", "run"), Cell("Runs", "complete"),
    ]  # fmt: skip
    rows = []
    for name in ordered:
        score = controllers[name][leading.name]
        mark = interval_mark(score.mean, score.ci95, domain, colour(name))
        intervals: Cells = [Cell(interval(score.ci95, leading), kind="optional"), Cell(mark=mark, kind="optional")]
        tails = [leading.display(score.p5), leading.display(score.worst)]
        rows.append(
            Row(
                [
                    Cell(name, _missing(summary, name), swatch=name),
                    leading.display(score.mean),
                    *(intervals if has_intervals else []),
                    *means(controllers[name], HEADLINE),
                    *tails,
                    f"{summary.completed.get(name, 0):,}",
                ],
                name in judged(summary),
            )
        )
    view = {
        "table": Table(heads, rows),
        "weights": summary.run.objective,
        "sample": summary_sample(summary),
        "has_intervals": has_intervals,
        "all_measures": all_measures(summary, "replay"),
    }
    return Section("headline", "Controllers", "replay/headline", view)


def _missing(summary: Summary, name: str) -> str:
    """How many runs a controller has completed, where another has more; the means are over those of all."""
    number, most = summary.completed.get(name, 0), max(summary.completed.values(), default=0)
    return f"{number:,} of {most:,} runs" if number < most else ""


def means(values: Mapping[str, Spread], names: Sequence[str]) -> list[str]:
    """The means of some measures of a controller, from a summary."""
    return [MEASURES[name].display(values[name].mean) if name in values else "–" for name in names]


def all_measures(summary: Summary, kind: Kind) -> View:
    """The view of `all_measures` of parts.html: every measure that a controller has, of replays with its percentiles,
    and the meanings of all.
    """
    controllers, table = summary.controllers, MEASURES.of(kind)

    def cell(measure: Measure, found: Spread | None) -> Cell | str:
        if found is None:
            return "–"
        tails = f"{measure.display(found.p5)} … {measure.display(found.p95)}" if kind == "replay" else ""
        return Cell(measure.display(found.mean), tails)

    rows = [
        Row([*measure_heads([measure]), *(cell(measure, values.get(measure.name)) for values in controllers.values())])
        for measure in table.values()
        if any(measure.name in values for values in controllers.values())
    ]
    heads: Cells = ["Measure", *map(controller_cell, controllers)]
    return {"table": Table(heads, rows), "meanings": [(one.label, one.meaning) for one in table.values()]}


def _domain(scores: Sequence[Spread]) -> tuple[float, float]:
    """The range of the line of marks: multiples of 5 around all means and intervals."""
    known = [end for score in scores for end in (*score.ci95, score.mean) if end is not None]
    return (max(0.0, 5 * (min(known) // 5)), min(100.0, 5 * (max(known) // 5 + 1))) if known else (0.0, 100.0)


def means_table(summary: Summary, ordered: Sequence[str], shown: Sequence[str], *, with_calls: bool = False) -> Table:
    """The means of some measures, a row per controller; with `with_calls`, how many calls are behind it."""
    heads: Cells = [
        "Controller",
        *(["Calls"] if with_calls else []),
        *measure_heads([MEASURES[name] for name in shown]),
    ]
    rows = []
    for name in ordered:
        values = summary.controllers[name]
        calls = [str(max((found.n for found in values.values()), default=0))] if with_calls else []
        rows.append(Row([controller_cell(name), *calls, *means(values, shown)], name in judged(summary)))
    return Table(heads, rows)


def viewer(summary: Summary, limited: str) -> Section | None:
    """The view of a call's viewer by controller; None for runs without frames. `limited` from `limited_text`."""
    controllers = {name: values for name, values in summary.controllers.items() if VIEWER[0] in values}
    if not controllers:
        return None
    ordered = sorted(controllers, key=lambda name: -controllers[name][VIEWER[0]].mean)
    table = means_table(summary, ordered, (*VIEWER, *names_of_rendered_measures(summary)))
    view = {"table": table, "standard_error": f"{STANDARD_ERROR:.1f}", "limited": limited}
    return Section("viewer", "What a viewer would see", "replay/viewer", view)


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
    has_intervals = any(row.ci95[0] is not None for row in summary.paired)
    view = {"choices": choices, "has_intervals": has_intervals}
    return Section("paired", "Paired comparison", "paired", view, heading)


def _pair_table(rows: Mapping[str, PairedRow]) -> Table:
    has_intervals = any(row.ci95[0] is not None for row in rows.values())
    of_intervals: Cells = ["Verdict", "95 % interval", Cell(ends=("worse", "better"), kind="optional")]
    heads: Cells = [
        "Measure", "Difference", *(of_intervals if has_intervals else []), "Better", "Worse", "Level",
        Cell("Of how many", "independent scenarios"),
    ]  # fmt: skip
    ordered = [name for name in dict.fromkeys((*LEADING, *MEASURES)) if name in rows]
    return Table(heads, [_paired_row(MEASURES[name], rows[name], has_intervals) for name in ordered], "forest")


def _paired_row(measure: Measure, row: PairedRow, has_intervals: bool) -> Row:
    judged, shown = verdict(row, measure), precise(measure, row)
    words = {"good": "better", "bad": "worse", "even": "not told apart"}[judged]
    of_interval: Cells = [
        Cell("–" if row.ci95[0] is None else words, kind=judged),
        interval(row.ci95, shown, of_difference=True),
        Cell(mark=difference_mark(row, measure), kind="optional"),
    ]
    return Row(
        [
            measure_heads([measure])[0],
            Cell(signed(row.mean, shown), kind=judged),
            *(of_interval if has_intervals else []),
            str(row.wins),
            str(row.losses),
            str(row.independent - row.wins - row.losses),
            Cell(str(row.independent), seeds_text(row.independent, row.n)),
        ]
    )


def scatter(summary: Summary, across: str, up: str) -> list[View]:
    """One point per controller and scenario, and each controller's means, of two measures. Delays below 1 ms are drawn
    at 1 ms, because the axis is logarithmic.
    """
    shown = MEASURES[up]
    found: list[View] = []
    for controller, values in summary.controllers.items():
        points = [
            (name, by[controller][across], by[controller][up])
            for name, by in summary.scenarios.items()
            if {across, up} <= by.get(controller, {}).keys()
        ]
        if not points or not {across, up} <= values.keys():
            continue
        found.append(
            {
                "controller": controller,
                "scenario": [point[0] for point in points],
                "delay_ms": [round(max(1.0, point[1]), 1) for point in points],
                "y": [round(shown.scale * point[2], 1) for point in points],
                "mean_delay_ms": round(max(1.0, values[across].mean), 1),
                "mean_y": round(shown.scale * values[up].mean, 1),
            }
        )
    return found
