"""Goals of flows that share a link, of a change of network, and of the call with cross traffic, from time series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import mean

from weir_eval.report.goal_table import Bound, GoalRow
from weir_papers.common import goal_row
from weir_papers.muses.muses_measures import challenge_after, staggered_jain
from weir_papers.muses.muses_runs import GLOBAL_TREE, MUSES, MusesResults
from weir_papers.muses.networks import CHANGE_AT_S
from weir_papers.muses.sets import CHANGE, CROSS_TRAFFIC, FLOWS, SHARING
from weir_traces.schema.links import Link
from weir_traces.schema.values_over_time import DelayOverTime

PAPERS_JAIN = {3: 0.999, 5: 0.999, 10: 0.988, 15: 0.988, 20: 0.965}
PAPERS_CUBIC_JAIN = {3: 0.994, 5: 0.989, 10: 0.980, 15: 0.982, 20: 0.960}
# Mean residual capacity of the scenario: 3 Mbps less 0 to 2.5 Mbps of cross traffic, and at most 2.5 Mbps of media.
LEFT_BPS = 19.5e6 / 11


def flow_rows(results: MusesResults) -> Iterator[GoalRow]:
    """The rows of experiments with several flows."""
    for flows, found in jain_by_flows(results).items():
        goal = Bound("at least", PAPERS_JAIN[flows], decimals=3)
        description = f"{flows} flows on 36 Mbps, one more every 20 s: Jain's index"
        others = ", ".join(f"{controller} {index:.3f}" for controller, index in found.items() if controller != MUSES)
        yield goal_row(
            f"jain_{flows}", description, goal, found.get(MUSES), others, paper_cubic=PAPERS_CUBIC_JAIN[flows]
        )
    yield _after_change(results)
    yield from _cross_traffic(results)


def jain_by_flows(results: MusesResults) -> dict[int, dict[str, float]]:
    """Mean over seeds, by number of flows and by who ran them."""
    found: dict[int, dict[str, float]] = {flows: {} for flows in FLOWS}
    for controller in results.records.get(SHARING, {}):
        for flows in FLOWS:
            records = [record for record in results.of(SHARING, controller) if len(record.flows) == flows]
            indices = [staggered_jain(results.with_series(controller, record)) for record in records]
            if known := [index for index in indices if index is not None]:
                found[flows][controller] = mean(known)
    return found


def _after_change(results: MusesResults) -> GoalRow:
    goal = Bound("at least", 0.0, "points", strict=True, signed=True)
    description = "from Wi-Fi to LTE: challenge score after it, less that of the global tree, which never switches"
    base_ms = {scenario.name: _delay_after_ms(scenario.forward) for scenario in results.sets[CHANGE].scenarios}
    scores = {
        controller: {
            record.scenario: score
            for record in results.whole(CHANGE, controller)
            if (score := challenge_after(record, CHANGE_AT_S, base_ms[record.scenario])) is not None
        }
        for controller in results.records.get(CHANGE, {})
    }
    own, other = scores.get(MUSES, {}), scores.get(GLOBAL_TREE, {})
    detail = ", ".join(f"{controller} {mean(some.values()):.2f}" for controller, some in scores.items() if some)
    pairs = sorted(own.keys() & other.keys())
    difference = mean(own[name] - other[name] for name in pairs) if pairs else None
    reason = "name its file with --global" if own else "no run completed"
    return replace(goal_row("after_change", description, goal, difference, reason=reason), detail=detail)


def _delay_after_ms(link: Link) -> float:
    delay = link.one_way_delay_ms
    return delay.values_ms[-1] if isinstance(delay, DelayOverTime) else delay


def _cross_traffic(results: MusesResults) -> Iterator[GoalRow]:
    """The whole residual capacity is 1.21 times the bitrate of Chromium's GCC in calls: 1.34 is out of reach."""
    goals = (
        ("cross_rate", "received, to GCC's", Bound("at least", 1.34, "times")),
        ("cross_closed", "received: distance from GCC to what is left closed",
         Bound("at least", 0.6, "%", scale=100, decimals=0)),
        ("cross_frames", "frames a second, to GCC's", Bound("at least", 0.95, "times")),
        ("cross_delay", "p95 queueing delay less GCC's", Bound("at most", 0.0, "ms", decimals=0, signed=True)),
    )  # fmt: skip
    values = {
        controller: means
        for controller in results.records.get(CROSS_TRAFFIC, {})
        if (means := _means(results, controller))
    }
    own, gcc = values.get(MUSES), values.get("gcc")
    found: dict[str, float | None] = {}
    if own and gcc:
        rate, gcc_rate, gcc_frames = own["receive_rate_bps"], gcc["receive_rate_bps"], gcc["frames_per_second"]
        found = {
            "cross_rate": rate / gcc_rate if gcc_rate > 0 else None,
            "cross_closed": (rate - gcc_rate) / (LEFT_BPS - gcc_rate) if gcc_rate < LEFT_BPS else None,
            "cross_frames": own["frames_per_second"] / gcc_frames if gcc_frames > 0 else None,
            "cross_delay": own["p95_queueing_delay_ms"] - gcc["p95_queueing_delay_ms"],
        }
    detail = "; ".join(
        f"{controller} {means['receive_rate_bps'] / 1e3:,.0f} kbps, {means['frames_per_second']:.1f} frames a second, "
        f"{means['p95_queueing_delay_ms']:.0f} ms"
        for controller, means in values.items()
    )
    reason = "GCC leaves nothing to gain" if found else "no run completed"
    for name, description, goal in goals:
        yield goal_row(name, f"cross traffic, {description}", goal, found.get(name), detail, reason)


def _means(results: MusesResults, controller: str) -> dict[str, float]:
    names = ("receive_rate_bps", "frames_per_second", "p95_queueing_delay_ms")
    metrics = [record.measures for record in results.of(CROSS_TRAFFIC, controller)]
    rows = [[value for name in names if (value := measures[name]) is not None] for measures in metrics]
    complete = [row for row in rows if len(row) == len(names)]
    return dict(zip(names, map(mean, zip(*complete, strict=True)), strict=True)) if complete else {}
