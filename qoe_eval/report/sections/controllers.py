"""Sections that compare controllers: means, viewers, paired differences, and throughput against delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.measures.table import MEASURES, Kind, Measure
from weir.qoe_eval.measures.viewer import STANDARD_ERROR
from weir.qoe_eval.records import PairedRow, Spread, Summary
from weir.qoe_eval.report.display import colour, interval_mark
from weir.qoe_eval.report.page_template import Section, View
from weir.qoe_eval.report.paired_text import sample_text, seeds_text, too_few_text

HEADLINE = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms")
VIEWER = (
    "viewer_quality", "video_quality", "frozen_share", "freeze_count", "frames_per_second", "frame_delay_ms_p50",
    "frame_delay_ms_p95",
)  # fmt: skip
COMPARED = (
    "utility", "challenge", "viewer_quality", "frozen_share", "frame_delay_ms_p95", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms", "recoco",
)  # fmt: skip

DELAY_THROUGHPUT = Section("delay-throughput", "Throughput and delay", "replay/delay_throughput", {})


def headline(summary: Summary) -> Section:
    """Every controller by its mean utility, with the interval, the challenge score and the other main measures."""
    # Results of older versions have no utility.
    has_utility = any("utility" in values for values in summary.controllers.values())
    leading = MEASURES["utility" if has_utility else "challenge"]
    controllers = {name: values for name, values in summary.controllers.items() if leading.name in values}
    ordered = sorted(controllers, key=lambda name: -controllers[name][leading.name].mean)
    domain = _domain([controllers[name][leading.name] for name in ordered])
    view = {
        "leading": leading,
        "domain": domain,
        "metrics": [MEASURES[name] for name in HEADLINE],
        "weights": summary.run.objective,
        "sample": _sample(summary),
        "rows": [
            {
                "controller": name,
                "is_reference": name == REFERENCE,
                "score": (score := controllers[name][leading.name]),
                "mark": interval_mark(score.mean, score.ci95, domain, colour(name)),
                "means": means(controllers[name], HEADLINE),
            }
            for name in ordered
        ],
        "all_measures": all_measures(summary, "replay"),
    }
    return Section("headline", "Controllers", "replay/headline", view)


def means(values: Mapping[str, Spread], names: Sequence[str]) -> list[str]:
    """The means of some measures of a controller, from a summary."""
    return [MEASURES[name].display(values[name].mean) if name in values else "–" for name in names]


def all_measures(summary: Summary, kind: Kind) -> View:
    """The view of `all_measures` of parts.html: every measure that a controller has, with its values (None: it has
    none), and the meanings of all.
    """
    controllers, table = summary.controllers, MEASURES.of(kind)
    measured = [measure for measure in table.values() if any(measure.name in values for values in controllers.values())]
    return {
        "controllers": list(controllers),
        "rows": [(measure, [values.get(measure.name) for values in controllers.values()]) for measure in measured],
        "meanings": list(table.values()),
    }


def _domain(scores: Sequence[Spread]) -> tuple[float, float]:
    """The range of the line of marks: multiples of 5 around all means and intervals."""
    known = [end for score in scores for end in (*score.ci95, score.mean) if end is not None]
    return (max(0.0, 5 * (min(known) // 5)), min(100.0, 5 * (max(known) // 5 + 1))) if known else (0.0, 100.0)


def _sample(summary: Summary) -> str:
    """The number of independent scenarios behind the means, of the controller that has most."""
    scores = [values["challenge"] for values in summary.controllers.values() if "challenge" in values]
    most = max(scores, key=lambda score: score.n, default=None)
    return sample_text(most.independent, most.n) if most else sample_text(0, 0)


def viewer(summary: Summary) -> Section | None:
    """The view of a call's viewer by controller; None for runs without frames."""
    controllers = {name: values for name, values in summary.controllers.items() if VIEWER[0] in values}
    if not controllers:
        return None
    ordered = sorted(controllers, key=lambda name: -controllers[name][VIEWER[0]].mean)
    view = {
        "metrics": [MEASURES[name] for name in VIEWER],
        "rows": [(name, name == REFERENCE, means(controllers[name], VIEWER)) for name in ordered],
        "standard_error": f"{STANDARD_ERROR:.1f}",
    }
    return Section("viewer", "What a viewer would see", "replay/viewer", view)


def paired(summary: Summary, compared: Sequence[str] = COMPARED) -> Section | None:
    """The reference against every other controller, one of the `compared` measures at a time."""
    if not summary.paired:
        return None
    by_measure = {name: [row for row in summary.paired if row.metric == name] for name in compared}
    view = {"reference": REFERENCE, "parts": [_part(MEASURES[name], some) for name, some in by_measure.items() if some]}
    return Section("paired", "Paired comparison", "paired", view)


def _part(measure: Measure, rows: Sequence[PairedRow]) -> View:
    ends = [abs(end) for row in rows for end in (*row.ci95, row.mean) if end is not None]
    reach = max([*ends, 1e-9]) * 1.05
    return {"metric": measure, "reach": reach, "rows": [_paired_row(measure, row, reach) for row in rows]}


def _paired_row(measure: Measure, row: PairedRow, reach: float) -> View:
    verdict, judged, mark_colour = _verdict(measure, row)
    return {
        "controller": row.b,
        "mean": row.mean,
        "ci95": row.ci95,
        "mark": interval_mark(row.mean, row.ci95, (-reach, reach), mark_colour, zero=True),
        "verdict": verdict,
        "judged": judged,
        "wins": row.wins,
        "independent": row.independent,
        "seeds": seeds_text(row.independent, row.n),
    }


def _verdict(measure: Measure, row: PairedRow) -> tuple[str, str, str]:
    """Words, good, bad or even, and the colour of the mark."""
    low, high = row.ci95
    if low is None or high is None:
        return too_few_text(row.independent), "even", "var(--zero)"
    if low <= 0 <= high:
        return "not told apart", "even", "var(--zero)"
    if measure.difference_favours_first(row.mean):
        return "better", "good", "var(--good)"
    return "worse", "bad", "var(--bad)"


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
        if not points:
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
