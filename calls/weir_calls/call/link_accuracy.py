"""Accuracy of the emulated link: compares the log of a call with its scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from weir_calls.call.disturbance import link_lag_ms
from weir_calls.link.log import read_link_log
from weir_eval.json_lines import number, read_objects
from weir_traces.schema.scenario import Scenario

# A ratio of fewer bytes is meaningless: single packets begin in one interval and end in the next.
_SMALLEST_BUSY_BYTES = 100_000


@dataclass(frozen=True)
class LinkAccuracy:
    """`capacity_ratio`: bytes carried in the log's busy intervals / bytes that the scenario's capacity carries in that
    time; None if these are too few. `delay_error_ms_p95`: how late packets were delivered, 95th percentile.
    """

    capacity_ratio: float | None
    delay_error_ms_p95: float | None


def link_accuracy(log: Path, scenario: Scenario) -> LinkAccuracy:
    """The accuracy of the forward link, from its log.

    Raises:
        InputError: the log cannot be read.
    """
    rows = _forward_rows(log)
    carried_bytes = expected_bytes = 0.0
    capacity = scenario.forward.capacity.trace() if scenario.forward.capacity else None
    for (before_s, _, _), (now_s, idle_ms, interval_bytes) in pairwise(rows):
        if capacity is not None and idle_ms == 0 and now_s > before_s:
            carried_bytes += interval_bytes
            expected_bytes += float(capacity.integrate(before_s, now_s)) / 8
    ratio = carried_bytes / expected_bytes if expected_bytes > _SMALLEST_BUSY_BYTES else None
    return LinkAccuracy(ratio, link_lag_ms(read_link_log(log, "forward")))


def worst(accuracies: Sequence[LinkAccuracy]) -> LinkAccuracy:
    """The ratio that is farthest from 1, and the largest error."""
    ratios = [accuracy.capacity_ratio for accuracy in accuracies if accuracy.capacity_ratio is not None]
    errors = [accuracy.delay_error_ms_p95 for accuracy in accuracies if accuracy.delay_error_ms_p95 is not None]
    ratio = max(ratios, key=lambda value: abs(np.log(value)) if value > 0 else np.inf, default=None)
    return LinkAccuracy(ratio, max(errors, default=None))


def _forward_rows(log: Path) -> list[tuple[float, float, float]]:
    """Scenario time in s; idle ms and bytes carried since the previous row. Skips incomplete rows."""
    rows = []
    for line in read_objects(log):
        time_s, idle_ms, carried_bytes = (
            number(line.get(name)) for name in ("scenario_time_s", "idle_ms", "carried_bytes")
        )
        if time_s is None or idle_ms is None or carried_bytes is None or line.get("direction") != "forward":
            continue
        rows.append((float(time_s), float(idle_ms), float(carried_bytes)))
    return rows
