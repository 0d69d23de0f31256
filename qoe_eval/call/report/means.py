"""The sections of means over calls: of every controller, and of every scenario."""

from __future__ import annotations

from collections.abc import Sequence

from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.measures.table import MEASURES, Measure
from weir.qoe_eval.records import Summary
from weir.qoe_eval.report.page_template import Section
from weir.qoe_eval.report.sections.controllers import all_measures

HEADLINE = (
    "received_bitrate_bps", "utilisation", "frames_per_second", "frozen_share", "end_to_end_delay_ms_p50",
    "end_to_end_delay_ms_p95", "network_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip
COMPARED = (
    "received_bitrate_bps", "frames_per_second", "frozen_share", "end_to_end_delay_ms_p95", "network_delay_ms_p95",
    "vmaf_mean", "vmaf_p5", "loss_ratio", "utilisation",
)  # fmt: skip


def headline(summary: Summary) -> Section | None:
    """Every controller with the means of the main measures; nothing where no call counts."""
    controllers = summary.controllers
    if not any(controllers.values()):
        return None
    metrics = [MEASURES[name] for name in HEADLINE]
    rows = [
        {
            "controller": name,
            "is_reference": name == REFERENCE,
            "calls": max((found.n for found in values.values()), default=0),
            "means": [m.display(values[m.name].mean) if m.name in values else "–" for m in metrics],
        }
        for name, values in controllers.items()
    ]
    view = {"metrics": metrics, "rows": rows, "all_measures": all_measures(summary, "call")}
    return Section("headline", "Controllers", "call/headline", view)


def per_scenario(summary: Summary) -> Section | None:
    """Means over seeds, controllers side by side; nothing where there is nothing to compare."""
    scenarios, controllers = summary.scenarios, list(summary.controllers)
    metrics = [
        MEASURES[name]
        for name in COMPARED
        if any(name in values for by_controller in scenarios.values() for values in by_controller.values())
    ]
    if len(controllers) < 2 or len(scenarios) < 2 or not metrics:
        return None
    parts = []
    for metric in metrics:
        rows = [
            (name, _marked(metric, [by_controller.get(one, {}).get(metric.name) for one in controllers]))
            for name, by_controller in scenarios.items()
        ]
        parts.append({"metric": metric, "rows": rows})
    return Section("scenarios", "Scenarios", "call/scenarios", {"controllers": controllers, "parts": parts})


def _marked(metric: Measure, values: Sequence[float | None]) -> list[tuple[str, bool]]:
    """The values as texts, and whether each is the best."""
    known = [value for value in values if value is not None]
    best = metric.best(known) if known else None
    return [(metric.display(value), value is not None and value == best) for value in values]
