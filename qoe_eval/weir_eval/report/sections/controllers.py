"""Sections that compare controllers: means, viewers, and throughput against delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from weir_cli.console import counted
from weir_eval.measures.comparison import judged
from weir_eval.measures.table import MEASURES, Kind, Measure
from weir_eval.measures.viewer import STANDARD_ERROR
from weir_eval.records.comparisons import Spread
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import Summary
from weir_eval.report.display import colour, interval, interval_mark
from weir_eval.report.page_blocks import Entries, Figure, Folded, Section, Text, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table, controller_cell, measure_heads
from weir_eval.report.text import names_of_rendered_measures, summary_sample

HEADLINE = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms")
VIEWER = (
    "call_quality", "end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95", "delay_factor", "viewer_quality",
    "video_quality", "frozen_share", "freeze_count", "frames_per_second",
)  # fmt: skip
_QUALITY = ("call_quality", "viewer_quality")
# The axes of the charts of points: a delay across, and the measure over it; that of the viewer's is the headline.
_PATH_AXES = ("p95_queueing_delay_ms", "utilisation")
_VIEWER_DELAY = "end_to_end_delay_ms_p95"


def limited_text(records: Sequence[RunRecord]) -> str:
    """On how many scenarios the media, not the path, bounds the rate; empty for none."""
    limits = {
        record.scenario: max(media.max_rate_bps for media in record.media.values())
        for record in records
        if record.media
        and (record.path.mean_capacity_bps or math.inf) > max(m.max_rate_bps for m in record.media.values())
    }
    if not limits:
        return ""
    most = " to ".join(f"{rate / 1e6:g}" for rate in sorted({min(limits.values()), max(limits.values())}))
    scenarios = counted(len({record.scenario for record in records}), "scenario")
    place = "Here" if scenarios == "1 scenario" else f"On {len(limits)} of {scenarios}"
    return (
        f"{place} the path carries more than the media may send, {most} Mbps: there the rate, "
        "and with it the axis upwards, ends at that limit under every controller that reaches it."
    )


def delay_throughput(summary: Summary, limited: str) -> Section | None:
    """The chart of utilisation over delay, of several controllers; `limited` from `limited_text`."""
    if len(summary.controllers) < 2:
        return None
    about = note(
        f"Large marks are means over all runs, small ones the scenarios. Up and to the right is better. {limited}"
    )
    figure = Figure("scatter", _scatter(summary, *_PATH_AXES))
    return Section("delay-throughput", "Throughput and delay", [about, figure])


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
    all_title = "All measures: mean, and 5th to 95th percentile of runs"
    blocks = [_about_headline(summary, has_intervals), Table(heads, rows), *all_measures(summary, "replay", all_title)]
    return Section("headline", "Controllers", blocks)


def _about_headline(summary: Summary, has_intervals: bool) -> Text:
    objective = summary.run.objective
    weights = ", here {:g} of throughput, {:g} of latency and {:g} of loss,".format(*objective) if objective else ""
    about_intervals = (
        " The 95 % interval is over scenarios, of six or more: it tells how far the mean would move with "
        "other scenarios of the same kind."
        if has_intervals
        else ""
    )
    return note(
        f"**Utility** is the measure of this run’s objective: the objective's weights{weights} times three parts of 0 "
        "to 100: the share used of what the path could carry, how far p95 delay stays below 400 ms, and the share of "
        "packets not lost; all of it less where the rate is below 150 kbps, which is hardly a picture, and nothing at "
        "30 kbps. The **challenge score** (MMSys 2021) weighs the same parts 2 : 2 : 3 whatever the objective, so that "
        f"under another one a controller may gain utility and lose score. Means over {summary_sample(summary)}, best "
        f"first: over the runs that all of them have completed.{about_intervals} **oracle** has the true capacity and "
        "sends at it: about the best result where a flow has the path to itself; **fixed** sends at half the mean "
        "capacity. Where several flows share a path, each is measured against the whole of it: there Jain’s index and "
        "TCP’s share tell what utility does not."
    )


def _missing(summary: Summary, name: str) -> str:
    """How many runs a controller has completed, where another has more; the means are over those of all."""
    number, most = summary.completed.get(name, 0), max(summary.completed.values(), default=0)
    return f"{number:,} of {most:,} runs" if number < most else ""


def means(values: Mapping[str, Spread], names: Sequence[str]) -> list[str]:
    """The means of some measures of a controller, from a summary."""
    return [MEASURES[name].display(values[name].mean) if name in values else "–" for name in names]


def all_measures(summary: Summary, kind: Kind, title: str) -> list[Block]:
    """Every measure that a controller has, of replays with its percentiles, and the meanings of all; folded away."""
    controllers, table = summary.controllers, MEASURES.of(kind)

    def cell(measure: Measure, found: Spread | None) -> Cell | str:
        if found is None:
            return "–"
        tails = (
            f"{measure.display(found.p5)} … {measure.display(found.p95)}" if kind == "replay" and found.n > 1 else ""
        )
        return Cell(measure.display(found.mean), tails)

    rows = [
        Row([*measure_heads([measure]), *(cell(measure, values.get(measure.name)) for values in controllers.values())])
        for measure in table.values()
        if any(measure.name in values for values in controllers.values())
    ]
    heads: Cells = ["Measure", *map(controller_cell, controllers)]
    meanings = Entries([(measure.label, measure.meaning) for measure in table.values()])
    return [Folded(title, [Table(heads, rows)]), Folded("What the measures mean", [meanings])]


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
    """The measures of a call's viewer by controller; None for runs without frames. `limited` from `limited_text`."""
    # Records of earlier versions have no call quality.
    leading = next((n for n in _QUALITY if any(n in values for values in summary.controllers.values())), None)
    if leading is None:
        return None
    controllers = {name: values for name, values in summary.controllers.items() if leading in values}
    ordered = sorted(controllers, key=lambda name: -controllers[name][leading].mean)
    table = means_table(summary, ordered, (*VIEWER, *names_of_rendered_measures(summary)))
    scatter = _scatter(summary, _VIEWER_DELAY, leading)
    blocks = [
        Figure("viewer-scatter", scatter) if len(scatter["points"]) > 1 else None,
        note("Means over the runs that all of them have completed, best first."),
        table,
        Folded("What these measures are", [_about_viewer(limited)]),
    ]
    return Section("viewer", "What a viewer would see", blocks)


def _about_viewer(limited: str) -> Text:
    return note(
        "**Call quality** is the quality of picture and audio (ITU-T P.1203.3) over the viewer's time, in which a "
        "frozen picture counts as 0, times the **delay factor**: what the end-to-end delay of each second leaves "
        "(ITU-T G.107), 98 % at 200 ms and 75 % at 400 ms. **End-to-end delay** runs from the capture of a frame to "
        "its rendering. The picture is VMAF where there are pictures, else **video quality**: an estimate of "
        "VMAF from the bitrate alone, by a line fitted to eight groups of real VP8 calls at 1280x720 of 79 to 1,501 "
        f"kbps (off by {STANDARD_ERROR:.1f} points there, by up to 11 in single calls; beyond, extrapolated to 100 at "
        "3.9 Mbps). **Viewer’s quality** is its mean over the viewer’s time, in which a frozen picture counts as 0. "
        "Where the sender has a congestion window (scream, weir-send), the simulated encoder makes no frame while the "
        f"window is full. `weir call` measures real ones. {limited}"
    )


def axes(across: str, up: str) -> dict[str, str]:
    """The titles of a chart of points, of two measures, and the unit of the second."""
    return {"x": MEASURES[across].title, "y": MEASURES[up].title, "unit": MEASURES[up].unit}


def _scatter(summary: Summary, across: str, up: str) -> dict[str, Any]:
    """One point per controller and scenario, and each controller's means, of two measures. Delays below 1 ms are drawn
    at 1 ms, because the axis is logarithmic.
    """
    shown = MEASURES[up]
    found = []
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
    return {"axes": axes(across, up), "points": found}
