"""The section of every scenario's means, coloured from bad to good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.report.page_template import Section
from weir.registry import knows_path

HEATED = (
    "utility", "challenge", "viewer_quality", "frozen_share", "frame_delay_ms_p95", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio", "convergence_time_s", "recoco",
)  # fmt: skip
_BAD, _MIDDLE, _GOOD = (214, 84, 62), (232, 186, 84), (48, 158, 116)


@dataclass(frozen=True)
class HeatCell:
    """A value as text; its colour as red, green, blue (nothing where there is no value); whether it is the best."""

    text: str
    rgb: tuple[int, int, int] | None = None
    best: bool = False


def per_scenario(summary: Mapping[str, Any]) -> Section:
    """Means over seeds, one measure at a time."""
    controllers = list(summary["controllers"])
    metrics = [METRICS[name] for name in HEATED if any(name in c for c in summary["controllers"].values())]
    parts = [
        {"metric": metric, "rows": rows}
        for metric in metrics
        if (rows := heat_rows(metric, summary["scenarios"], controllers))
    ]
    return Section("scenarios", "Scenarios", "replay/scenarios.html", {"controllers": controllers, "parts": parts})


def heat_rows(
    metric: Metric, means: Mapping[str, Mapping[str, Mapping[str, float]]], controllers: Sequence[str]
) -> list[tuple[str, list[HeatCell]]]:
    """A measure of every scenario, a cell for each controller; empty when no controller has it on any.

    Args:
        metric: the measure.
        means: scenario -> controller -> metric -> mean over seeds.
        controllers: in the order of the cells.
    """
    values = {
        name: [by_controller.get(controller, {}).get(metric.name) for controller in controllers]
        for name, by_controller in means.items()
    }
    known = [value for row in values.values() for value in row if value is not None]
    if not known:
        return []
    low, high = (float(end) for end in np.percentile(known, [4, 96]))
    domain = (low, high) if metric.better == "higher" else (high, low)
    return [(name, _cells(metric, row, controllers, domain)) for name, row in values.items()]


def _cells(
    metric: Metric, values: Sequence[float | None], controllers: Sequence[str], domain: tuple[float, float]
) -> list[HeatCell]:
    rivals = [
        value for value, name in zip(values, controllers, strict=True) if value is not None and not knows_path(name)
    ]
    best = metric.best(rivals) if rivals else None
    return [
        HeatCell("–")
        if value is None
        else HeatCell(metric.display(value), _colour(value, domain), value == best and not knows_path(name))
        for value, name in zip(values, controllers, strict=True)
    ]


def _colour(value: float, domain: tuple[float, float]) -> tuple[int, int, int]:
    """From bad to good over the domain (worst value, best value)."""
    worst, best = domain
    position = min(1.0, max(0.0, (value - worst) / (best - worst))) if best != worst else 1.0
    start, end, share = (_BAD, _MIDDLE, 2 * position) if position < 0.5 else (_MIDDLE, _GOOD, 2 * position - 1)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return red, green, blue
