"""The goals of calls, and what the calls came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weir.qoe_eval.experiments.calls.link_accuracy import LinkAccuracy
from weir.qoe_eval.report.goal_table import Goal, Row, measured, missed, not_measured

Records = Sequence[Mapping[str, Any]]

BITRATE = Goal("at least", 1.34, "times")
CLOSED = Goal("at least", 0.6, "%", scale=100, decimals=0)
LTE_BITRATE = Goal("at least", 1.75, "times")
FRAME_RATE = Goal("at least", 0.95, "times")
NOT_ABOVE_MS = Goal("at most", 0.0, "ms", signed=True, decimals=1)
LESS_FROZEN = Goal("at least", 0.6, "%", scale=100, decimals=0)
VMAF = Goal("at least", 0.0, "", signed=True, decimals=1)
CAPACITY = Goal("at most", 0.02, "%", scale=100)
LINK_DELAY = Goal("at most", 2.0, "ms")
REAL = Goal("at most", 0.15, "%", scale=100, decimals=0)
BITRATE_METRIC = "received_bitrate_bps"
LTE = "LTE-driving"
CPU = Goal("at most", 0.01, "% of a core", strict=True, scale=100)


@dataclass(frozen=True)
class Pairs:
    """A measure of weir's calls (or weir-send's) and of gcc's, paired by scenario and seed; only pairs that nothing
    disturbed.
    """

    weir: list[float]
    gcc: list[float]
    keys: list[tuple[str, int]]

    def __len__(self) -> int:
        return len(self.weir)

    @property
    def means(self) -> tuple[float, float]:
        """Of weir and of gcc."""
        return sum(self.weir) / len(self), sum(self.gcc) / len(self)


def undisturbed(records: Records) -> list[Mapping[str, Any]]:
    """Those whose measures say something."""
    return [record for record in records if not record["call"]["disturbed"]]


def pairs_of(records: Records, metric: str, weir: str = "weir") -> Pairs:
    """The pairs in which both calls define the measure. `weir`: the name of the controller that is held against gcc."""
    by = {
        (record["controller"], record["scenario"], record["seed"]): record["metrics"]["run"].get(metric)
        for record in undisturbed(records)
    }
    both = [
        (value, by["gcc", scenario, seed], (scenario, seed))
        for (controller, scenario, seed), value in by.items()
        if controller == weir and value is not None and by.get(("gcc", scenario, seed)) is not None
    ]
    return Pairs([own for own, _, _ in both], [gcc for _, gcc, _ in both], [key for _, _, key in both])


def comparison_rows(
    muses: Records,
    mahimahi: Records,
    no_traces: str,
    path_s: Mapping[tuple[str, int], float],
    left_bps: Mapping[tuple[str, int], float],
) -> list[Row]:
    """Weir against Chromium's own GCC.

    Args:
        muses: calls on Muses' scenario.
        mahimahi: calls on Mahimahi traces.
        no_traces: why there are none of these.
        path_s: by scenario and seed, how long the path by itself freezes a video.
        left_bps: by scenario and seed, what the path leaves to the video.
    """
    both = [*muses, *mahimahi]
    lte = [record for record in mahimahi if LTE in record["scenario"]]
    delay, end_to_end = "network_delay_ms_p95", "end_to_end_delay_ms_p95"
    return [
        ratio_row("bitrate", "Muses' scenario: received bitrate against GCC", BITRATE, muses, BITRATE_METRIC),
        closed_row("closed", "the same: way from GCC's bitrate to what the path leaves closed", muses, left_bps),
        ratio_row("frame_rate", "the same: frame rate against GCC", FRAME_RATE, muses, "frames_per_second"),
        difference_row("delay", "the same: p95 network delay, Weir less GCC", NOT_ABOVE_MS, muses, delay),
        difference_row("end_to_end", "the same: p95 end-to-end delay, Weir less GCC", NOT_ABOVE_MS, muses, end_to_end),
        closed_row("mahimahi_closed", "Mahimahi traces: the same way closed", mahimahi, left_bps, no_traces),
        lte_row(lte, no_traces),
        frozen_row(mahimahi, no_traces, path_s),
        difference_row("vmaf", "VMAF over all these calls, mean, Weir less GCC", VMAF, both, "vmaf_mean"),
        difference_row("vmaf_p5", "VMAF over all these calls, p5, Weir less GCC", VMAF, both, "vmaf_p5"),
    ]


def closed_row(
    name: str, what: str, records: Records, left_bps: Mapping[tuple[str, int], float], no_traces: str = ""
) -> Row:
    """Of what GCC leaves of what a path can carry, how much Weir takes: sums over the pairs."""
    if no_traces:
        return not_measured(name, what, CLOSED, no_traces)
    pairs = pairs_of(records, BITRATE_METRIC)
    if not len(pairs):
        return not_measured(name, what, CLOSED, why_no_pair(records))
    weir, gcc = pairs.means
    left = sum(left_bps[key] for key in pairs.keys) / len(pairs)
    detail = (
        f"{weir / 1e3:,.0f} kbps with Weir, {gcc / 1e3:,.0f} with GCC, of {left / 1e3:,.0f} that the path leaves, "
        f"headers among them; means of {len(pairs)} pairs of calls"
    )
    if gcc >= left:
        return not_measured(name, what, CLOSED, "GCC leaves nothing to gain")
    figures = {"weir": weir, "gcc": gcc, "left": left, "pairs": len(pairs)}
    return measured(name, what, CLOSED, (weir - gcc) / (left - gcc), detail, **figures)


def lte_row(records: Records, no_traces: str) -> Row:
    """Of calls on the LTE trace alone."""
    name, what = "lte_bitrate", "LTE while driving: received bitrate against GCC"
    if no_traces:
        return not_measured(name, what, LTE_BITRATE, no_traces)
    return ratio_row(name, what, LTE_BITRATE, records, BITRATE_METRIC)


def frozen_row(records: Records, no_traces: str, path_s: Mapping[tuple[str, int], float]) -> Row:
    """Time in freezes, summed over the pairs; the detail tells how much of it is the paths' own."""
    name, what = "frozen", "Mahimahi traces: time frozen, how much less than GCC"
    if no_traces:
        return not_measured(name, what, LESS_FROZEN, no_traces)
    pairs = pairs_of(records, "total_freezes_duration_s")
    if not len(pairs):
        return not_measured(name, what, LESS_FROZEN, why_no_pair(records))
    weir_s, gcc_s = sum(pairs.weir), sum(pairs.gcc)
    own_s = sum(path_s.get(key, 0.0) for key in pairs.keys)
    detail = (
        f"{weir_s:.1f} s with Weir, {gcc_s:.1f} s with GCC, in {len(pairs)} pairs of calls; a video that arrived in no "
        f"time whenever the path carries anything would freeze for {own_s:.1f} s"
    )
    figures = {"weir_s": weir_s, "gcc_s": gcc_s, "path_s": own_s, "pairs": len(pairs)}
    if weir_s == 0:
        return Row(name, what, LESS_FROZEN, 1.0, "none", True, detail=detail, figures=figures)
    if gcc_s == 0:
        return missed(name, what, LESS_FROZEN, "GCC: none", detail, **figures)
    return measured(name, what, LESS_FROZEN, 1 - weir_s / gcc_s, detail, **figures)


def link_rows(accuracies: Mapping[str, LinkAccuracy], worst: LinkAccuracy) -> list[Row]:
    """The link's log against the scenario: the worst of all calls. `accuracies`: by the call's name."""
    ratio, error_ms = worst.capacity_ratio, worst.delay_error_ms_p95
    detail = f"the worst of {len(accuracies)} calls"
    what = "link: bytes carried under a standing queue against the scenario's capacity, worst call"
    capacity = (
        not_measured("link_capacity", what, CAPACITY, "no call had a standing queue")
        if ratio is None
        else measured("link_capacity", what, CAPACITY, abs(ratio - 1), detail, ratio=ratio)
    )
    what = "link: lateness of packets, p95, worst call"
    delay = (
        not_measured("link_delay", what, LINK_DELAY, "no call carried packets")
        if error_ms is None
        else measured("link_delay", what, LINK_DELAY, error_ms, detail)
    )
    return [capacity, delay]


def sim_to_real_rows(scenarios: Sequence[str], calls: Records, replayed: Records) -> list[Row]:
    """One row a scenario: Weir in `call` against Weir in `replay`, means over seeds."""
    rows = []
    for scenario in scenarios:
        name, what = f"sim_to_real_{scenario}", f"sim-to-real, {scenario}: larger of rate's and p95 delay's deviation"
        found = sim_to_real(scenario, "weir", calls, replayed)
        if found is None:
            rows.append(not_measured(name, what, REAL, why_no_pair(calls)))
            continue
        value = max(abs(found.rate_ratio - 1), abs(found.delay_ratio - 1))
        figures = {"rate_ratio": found.rate_ratio, "delay_ratio": found.delay_ratio}
        rows.append(measured(name, what, REAL, value, found.detail, **figures))
    return rows


@dataclass(frozen=True)
class SimToReal:
    """A controller's calls on a scenario over its replays, means over seeds: receive rates and p95 network delays;
    `detail` has their values.
    """

    rate_ratio: float
    delay_ratio: float
    detail: str


def sim_to_real(scenario: str, controller: str, calls: Records, replayed: Records) -> SimToReal | None:
    """The undisturbed calls against the replays; nothing where either are missing."""
    calls = undisturbed(calls)
    rate_bps, replayed_bps = (_mean_of(of, scenario, controller, "receive_rate_bps") for of in (calls, replayed))
    delay_ms, replayed_ms = (_mean_of(of, scenario, controller, "network_delay_ms_p95") for of in (calls, replayed))
    if not (rate_bps and replayed_bps and delay_ms and replayed_ms):
        return None
    detail = (
        f"receive rate {rate_bps / 1e3:.0f} kbps in the call, {replayed_bps / 1e3:.0f} kbps in the replay; "
        f"p95 delay {delay_ms:.0f} ms, {replayed_ms:.0f} ms"
    )
    return SimToReal(rate_bps / replayed_bps, delay_ms / replayed_ms, detail)


def cpu_row(share: float) -> Row:
    """What `estimator_cpu_share` measured at 5 Mbps."""
    detail = "the estimator alone on a steady stream, driven from Python, whose own time is counted too"
    return measured("cpu", "estimator's CPU at 5 Mbps", CPU, share, detail)


def ratio_row(name: str, what: str, goal: Goal, records: Records, metric: str, controller: str = "weir") -> Row:
    """Weir over GCC, means over the pairs. `controller`: of Weir, as `pairs_of` takes it."""
    pairs = pairs_of(records, metric, controller)
    if not len(pairs) or pairs.means[1] <= 0:
        return not_measured(name, what, goal, why_no_pair(records))
    weir, gcc = pairs.means
    detail = f"{weir:,.4g} with Weir, {gcc:,.4g} with GCC, means of {len(pairs)} pairs of calls"
    return measured(name, what, goal, weir / gcc, detail, weir=weir, gcc=gcc, pairs=len(pairs))


def difference_row(name: str, what: str, goal: Goal, records: Records, metric: str, controller: str = "weir") -> Row:
    """Weir less GCC, means over the pairs. `controller`: of Weir, as `pairs_of` takes it."""
    pairs = pairs_of(records, metric, controller)
    if not len(pairs):
        return not_measured(name, what, goal, why_no_pair(records))
    weir, gcc = pairs.means
    detail = f"{weir:,.4g} with Weir, {gcc:,.4g} with GCC, means of {len(pairs)} pairs of calls"
    return measured(name, what, goal, weir - gcc, detail, weir=weir, gcc=gcc, pairs=len(pairs))


def _mean_of(records: Records, scenario: str, controller: str, metric: str) -> float | None:
    values = [
        value
        for record in records
        if record["scenario"] == scenario
        and record["controller"] == controller
        and (value := record["metrics"]["run"].get(metric)) is not None
    ]
    return sum(values) / len(values) if values else None


def worst_row(
    name: str,
    what: str,
    goal: Goal,
    values: Mapping[str, float],
    details: Mapping[str, str],
    wanted: Sequence[str],
    why_not: str,
) -> Row:
    """A row that the worst of several scenarios decides; a goal that all of those measured reach stays open while one
    that is wanted has no value.

    Args:
        name: of the row.
        what: is measured.
        goal: of every scenario.
        values: by scenario.
        details: by scenario, what is behind its value.
        wanted: the scenarios that the goal asks for.
        why_not: why one of them has no value.
    """
    if not values:
        return not_measured(name, what, goal, why_not if wanted else "no such call")
    worst_first = sorted(values, key=values.__getitem__, reverse=goal.kind == "at most")
    missed = sum(not goal.met(value) for value in values.values())
    shown = "; ".join(f"{one} {goal.show(values[one])}: {details[one]}" for one in worst_first)
    detail = f"{missed} of {len(values)} miss it. {shown}" if missed else f"all {len(values)}. {shown}"
    row = measured(name, what, goal, values[worst_first[0]], detail, **values)
    absent = [scenario for scenario in wanted if scenario not in values]
    if absent and not missed:
        return replace(row, reached=None, reason=f"{', '.join(absent)}: {why_not}")
    return row


def why_no_pair(records: Records) -> str:
    """Why there is none that could be compared."""
    reasons = sorted({reason for record in records for reason in record["call"]["disturbed"]})
    if reasons:
        return f"no undisturbed pair of calls: {'; '.join(reasons[:3])}"
    return "no complete pair of calls"
