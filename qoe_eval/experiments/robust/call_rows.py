"""The goals of `weir experiment robust --calls`: real calls against Chromium's own GCC, and against their replays."""

from __future__ import annotations

from collections.abc import Iterator

from weir.qoe_eval.experiments.calls.goals import (
    REAL,
    Pairs,
    Records,
    pairs_of,
    sim_to_real,
    why_no_pair,
    worst_row,
)
from weir.qoe_eval.experiments.robust.calls import CONTROLLERS, SMALL_SIZE, RobustCalls
from weir.qoe_eval.report.goal_table import Goal, Row

# What, the measure's name, whether it is compared as a ratio, the factor and unit of both values.
_MEASURES = (
    ("bitrate", "received bitrate against GCC", "received_bitrate_bps", Goal("at least", 1.0, "times"), 1e-3, "kbps"),
    ("vmaf", "VMAF, Weir less GCC", "vmaf_mean", Goal("at least", 0.0, signed=True, decimals=1), 1.0, ""),
    ("frozen", "time frozen in a call, Weir less GCC", "total_freezes_duration_s",
     Goal("at most", 0.0, "s", signed=True), 1.0, "s"),
)  # fmt: skip


def call_rows(calls: RobustCalls) -> list[Row]:
    """Every goal, in order."""
    return [*_sim_to_real(calls), *(row for size in calls.records for row in _against_gcc(calls, size))]


def _sim_to_real(calls: RobustCalls) -> Iterator[Row]:
    records = calls.records.get(SMALL_SIZE, [])
    for controller in CONTROLLERS:
        found = {
            scenario: one
            for scenario in calls.replayed
            if (one := sim_to_real(scenario, controller, records, calls.replays)) is not None
        }
        details = {scenario: one.detail for scenario, one in found.items()}
        for name, words, ratios in (
            ("rate", "receive rate", {scenario: one.rate_ratio for scenario, one in found.items()}),
            ("delay", "p95 delay", {scenario: one.delay_ratio for scenario, one in found.items()}),
        ):
            yield worst_row(
                f"sim_to_real_{controller}_{name}",
                f"sim-to-real, {controller}: {words} in calls off that in replays, worst scenario",
                REAL,
                {scenario: abs(ratio - 1) for scenario, ratio in ratios.items()},
                details,
                calls.replayed,
                why_no_pair(records),
            )


def _against_gcc(calls: RobustCalls, size: str) -> Iterator[Row]:
    records = calls.records[size]
    for name, words, metric, goal, factor, unit in _MEASURES:
        pairs = {scenario: pairs_of(_of(records, scenario), metric) for scenario in calls.compared}
        pairs = {scenario: some for scenario, some in pairs.items() if len(some)}
        details = {scenario: _both(some, factor, unit) for scenario, some in pairs.items()}
        differences = {
            scenario: value
            for scenario, some in pairs.items()
            if (value := _ratio(some) if goal.unit == "times" else some.means[0] - some.means[1]) is not None
        }
        yield worst_row(
            f"calls_{size}_{name}",
            f"calls of {size}: {words}, worst scenario",
            goal,
            differences,
            details,
            calls.compared,
            why_no_pair(records),
        )


def _of(records: Records, scenario: str) -> Records:
    return [record for record in records if record["scenario"] == scenario]


def _ratio(pairs: Pairs) -> float | None:
    weir, gcc = pairs.means
    return weir / gcc if gcc > 0 else None


def _both(pairs: Pairs, factor: float, unit: str) -> str:
    weir, gcc = (f"{factor * mean:,.4g} {unit}".rstrip() for mean in pairs.means)
    return f"{weir} and {gcc} ({len(pairs)} pair{'s' * (len(pairs) != 1)})"
