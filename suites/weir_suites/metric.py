"""Direction and display of a metric: of a measure by its row in `MEASURES`; of a function higher counts as better."""

from __future__ import annotations

import math
from collections.abc import Iterable

from weir_eval.measures.run_values import Metric
from weir_eval.measures.table import MEASURES


def best(metric: Metric, values: Iterable[float]) -> float:
    """The best of `values`, which must not be empty."""
    return MEASURES[metric].best(values) if isinstance(metric, str) else max(values)


def gain(metric: Metric, value: float, other: float) -> float:
    """The difference of two values; above 0 if the first is better."""
    return other - value if isinstance(metric, str) and MEASURES[metric].better == "lower" else value - other


def display(metric: Metric, value: float) -> str:
    """The value as shown; the time of an event that never happens is infinite."""
    if not math.isfinite(value):
        return "never"
    return MEASURES[metric].display(value) if isinstance(metric, str) else f"{value:.4g}"
