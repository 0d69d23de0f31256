"""Points of the charts that set a delay against what it buys, and the section of throughput and delay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.report.page_template import Section

DELAY_THROUGHPUT = Section("delay-throughput", "Throughput and delay", "replay/delay_throughput.html", {})


def scatter(summary: Mapping[str, Any], across: str, up: str) -> list[dict[str, Any]]:
    """Per controller one point per scenario, and its means, of two measures. Delays below 1 ms are drawn at 1 ms, the
    axis being logarithmic.
    """
    shown = METRICS[up]
    found = []
    for controller, means in summary["controllers"].items():
        points = [
            (name, by[controller][across], by[controller][up])
            for name, by in summary["scenarios"].items()
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
                "mean_delay_ms": round(max(1.0, means[across]["mean"]), 1),
                "mean_y": round(shown.scale * means[up]["mean"], 1),
            }
        )
    return found
