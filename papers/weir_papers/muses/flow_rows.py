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
        what = f"{flows} flows on 36 Mbps, one more every 20 s: Jain's index"
        others = ", ".join(f"{who} {index:.3f}" for who, index in found.items() if who != MUSES)
        yield goal_row(f"jain_{flows}", what, goal, found.get(MUSES), others, paper_cubic=PAPERS_CUBIC_JAIN[flows])
    yield _after_change(results)
    yield from _cross_traffic(results)


def jain_by_flows(results: MusesResults) -> dict[int, dict[str, float]]:
    """Mean over seeds, by number of flows and by who ran them."""
    found: dict[int, dict[str, float]] = {flows: {} for flows in FLOWS}
    for who in results.records.get(SHARING, {}):
        for flows in FLOWS:
            records = [one for one in results.of(SHARING, who) if len(one.flows) == flows]
            indices = [staggered_jain(results.with_series(who, record)) for record in records]
            if known := [index for index in indices if index is not None]:
                found[flows][who] = mean(known)
    return found


def _after_change(results: MusesResults) -> GoalRow:
    goal = Bound("at least", 0.0, "points", strict=True, signed=True)
    what = "from Wi-Fi to LTE: challenge score after it, less that of the global tree, which never switches"
    base_ms = {scenario.name: _delay_after_ms(scenario.forward) for scenario in results.sets[CHANGE].scenarios}
    scores = {
        who: {
            record.scenario: score
            for record in results.whole(CHANGE, who)
            if (score := challenge_after(record, CHANGE_AT_S, base_ms[record.scenario])) is not None
        }
        for who in results.records.get(CHANGE, {})
    }
    own, other = scores.get(MUSES, {}), scores.get(GLOBAL_TREE, {})
    detail = ", ".join(f"{who} {mean(some.values()):.2f}" for who, some in scores.items() if some)
    pairs = sorted(own.keys() & other.keys())
    difference = mean(own[name] - other[name] for name in pairs) if pairs else None
    why = "name its file with --global" if own else "no run completed"
    return replace(goal_row("after_change", what, goal, difference, why=why), detail=detail)


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
    values = {who: means for who in results.records.get(CROSS_TRAFFIC, {}) if (means := _means(results, who))}
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
        f"{who} {one['receive_rate_bps'] / 1e3:,.0f} kbps, {one['frames_per_second']:.1f} frames a second, "
        f"{one['p95_queueing_delay_ms']:.0f} ms"
        for who, one in values.items()
    )
    why = "GCC leaves nothing to gain" if found else "no run completed"
    for name, what, goal in goals:
        yield goal_row(name, f"cross traffic, {what}", goal, found.get(name), detail, why)


def _means(results: MusesResults, who: str) -> dict[str, float]:
    names = ("receive_rate_bps", "frames_per_second", "p95_queueing_delay_ms")
    metrics = [record.measures for record in results.of(CROSS_TRAFFIC, who)]
    rows = [[value for name in names if (value := one[name]) is not None] for one in metrics]
    complete = [row for row in rows if len(row) == len(names)]
    return dict(zip(names, map(mean, zip(*complete, strict=True)), strict=True)) if complete else {}
