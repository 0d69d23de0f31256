"""The rows of `weir paper polycc`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir_eval.records.run_record import RunRecord
from weir_eval.report.goal_table import Bound, GoalRow
from weir_papers.common import Mean, goal_row, mean_of
from weir_papers.polycc.demonstrations import (
    HALVED_AT_S,
    HALVED_BDP_BYTES,
    HALVED_CONTROLS,
    HALVED_DURATION_S,
    JITTER_CONTROLS,
    JITTER_DURATION_S,
    JITTERS_MS,
    LINK_BPS,
    MAX_OF_BBR_AND_CUBIC,
    MIN_OF_BBR_AND_COPA,
    halved_name,
    jitter_name,
)
from weir_papers.polycc.polycc_measures import converged_after_s, goodput_bps

CONVERGED_SHARE = 1.25
# BBR's own bound on what is in flight is two bandwidth-delay products and a few packets. What is above it, its estimate
# of the bandwidth from before holds there.
OWN_BOUND_SHARE = 2.1
# From when on a halved link has been halved for long enough.
_SETTLED_S = 10.0


@dataclass(frozen=True)
class PolyccResults:
    """By scenario and seed: mean goodput of the first demonstration in bit/s; of the second, goodput before and after
    the step, and the seconds until what is in flight stays within CONVERGED_SHARE of the new bandwidth-delay product,
    and within OWN_BOUND_SHARE; nothing when it does not.
    """

    goodput_bps: dict[str, dict[int, float]] = field(default_factory=dict)
    before_bps: dict[str, dict[int, float]] = field(default_factory=dict)
    after_bps: dict[str, dict[int, float]] = field(default_factory=dict)
    converged_s: dict[str, dict[int, float | None]] = field(default_factory=dict)
    own_bound_s: dict[str, dict[int, float | None]] = field(default_factory=dict)


def polycc_results(records: Sequence[RunRecord]) -> PolyccResults:
    """The measures of each run; the records carry their series."""
    results = PolyccResults()
    halved = {halved_name(control) for control in HALVED_CONTROLS}
    for record in records:
        name, seed = record.scenario, record.seed
        if name not in halved:
            results.goodput_bps.setdefault(name, {})[seed] = goodput_bps(record, 0, JITTER_DURATION_S)
            continue
        results.before_bps.setdefault(name, {})[seed] = goodput_bps(record, 0, HALVED_AT_S)
        results.after_bps.setdefault(name, {})[seed] = goodput_bps(record, _SETTLED_S, HALVED_DURATION_S)
        for share, times_s in ((CONVERGED_SHARE, results.converged_s), (OWN_BOUND_SHARE, results.own_bound_s)):
            times_s.setdefault(name, {})[seed] = converged_after_s(record, HALVED_AT_S, share * HALVED_BDP_BYTES)
    return results


def polycc_rows(results: PolyccResults) -> list[GoalRow]:
    """First whether BBR is the paper's, without which ratios to it mean nothing; then the demonstrations."""
    return [*_bbr_rows(results), *_jitter_rows(results), *_halved_rows(results)]


def _bbr_rows(results: PolyccResults) -> Iterator[GoalRow]:
    goal = Bound("at most", 1 / 1.82, "%", scale=100, decimals=1)
    description = "BBR alone idles: goodput as a share of the link, jitter of 100 ms"
    idle = results.goodput_bps.get(jitter_name(100, "bbr"), {})
    yield _row("bbr_idles", description, goal, [value / LINK_BPS for value in idle.values()])
    description = "BBR alone, 20 to 10 Mbps: in flight within its own bound, two new BDPs (the paper: 2 to 4 s)"
    found = list(results.own_bound_s.get(halved_name("bbr"), {}).values())
    yield _row("bbr_slowly", description, Bound("at least", 2.0, "s"), found)
    yield _row("bbr_not_more_slowly", description, Bound("at most", 4.0, "s"), found)


def _jitter_rows(results: PolyccResults) -> Iterator[GoalRow]:
    for jitter_ms in JITTERS_MS:
        own, bbr, cubic = (
            results.goodput_bps.get(jitter_name(jitter_ms, control), {})
            for control in (MAX_OF_BBR_AND_CUBIC, "bbr", "cubic")
        )
        ratios = _ratios(own, bbr)
        comparison = f"to CUBIC alone {mean_of(_ratios(own, cubic)).show(2)}" if _ratios(own, cubic) else ""
        description = f"jitter of {jitter_ms} ms: goodput of {MAX_OF_BBR_AND_CUBIC} to that of BBR"
        if jitter_ms > JITTERS_MS[0]:
            goal = Bound("at least", 1.82)
            yield _row(f"jitter{jitter_ms}", description, goal, ratios, f"the paper 1.82 to 10.35; {comparison}")
            continue
        yield _row(f"jitter{jitter_ms}_least", description, Bound("at least", 0.95), ratios, comparison)
        yield _row(f"jitter{jitter_ms}_most", description, Bound("at most", 1.05), ratios, comparison)


def _halved_rows(results: PolyccResults) -> Iterator[GoalRow]:
    description = f"20 to 10 Mbps: in flight within 1.25 new BDP, {MIN_OF_BBR_AND_COPA} sooner than BBR by"
    goal = Bound("at least", 0.541, "%", scale=100, decimals=1)
    times = "; ".join(f"{control} {shown_time(results.converged_s, control)}" for control in HALVED_CONTROLS)
    yield _row("halved", description, goal, _sooner(results.converged_s), times)
    goal = Bound("at least", 0.328, "%", scale=100)
    yield goal_row("halved_bbr2", "the same against BBRv2", goal, None, reason="ns-3 3.37 has none")
    for name, words, rates in (
        ("halved_before", "0 to 5 s", results.before_bps),
        ("halved_after", "10 to 20 s", results.after_bps),
    ):
        description = f"20 to 10 Mbps: goodput of {MIN_OF_BBR_AND_COPA} to that of BBR, {words}"
        comparison = "; ".join(
            f"{control} {mean_of(list(found.values())).show(2, 1e-6)} Mbps"
            for control in HALVED_CONTROLS
            if (found := rates.get(halved_name(control)))
        )
        own_bps, bbr_bps = (rates.get(halved_name(control), {}) for control in (MIN_OF_BBR_AND_COPA, "bbr"))
        yield _row(name, description, Bound("at least", 0.95), _ratios(own_bps, bbr_bps), comparison)


def jitter_means(results: PolyccResults) -> dict[int, dict[str, Mean]]:
    """Goodput in bit/s by jitter and control."""
    return {
        jitter_ms: {
            control: mean_of(list(found.values()))
            for control in JITTER_CONTROLS
            if (found := results.goodput_bps.get(jitter_name(jitter_ms, control)))
        }
        for jitter_ms in JITTERS_MS
    }


def _sooner(times_s: Mapping[str, Mapping[int, float | None]]) -> list[float | None]:
    """By which share of BBR's time the fused flow converges before it, seed by seed; nothing where it never does. Where
    BBR never does, at least by this: as if it did at the end.
    """
    own, bbr = (times_s.get(halved_name(control), {}) for control in (MIN_OF_BBR_AND_COPA, "bbr"))
    found: list[float | None] = []
    for seed in sorted(own.keys() & bbr.keys()):
        own_s, bbr_s = own[seed], bbr[seed]
        bbr_s = HALVED_DURATION_S - HALVED_AT_S if bbr_s is None else bbr_s
        found.append(None if own_s is None or bbr_s <= 0 else 1 - own_s / bbr_s)
    return found


def shown_time(times_s: Mapping[str, Mapping[int, float | None]], control: str) -> str:
    """The time of the second demonstration: 4.67 ± 0.08 s, never in 1 of 5."""
    values = list(times_s.get(halved_name(control), {}).values())
    known = [value for value in values if value is not None]
    never = f"never in {len(values) - len(known)} of {len(values)}" if known != values else ""
    return ", ".join(part for part in (f"{mean_of(known).show(2)} s" if known else "", never) if part)


def _ratios(a: Mapping[int, float], b: Mapping[int, float]) -> list[float]:
    """Seed by seed."""
    return [a[seed] / b[seed] for seed in sorted(a.keys() & b.keys()) if b[seed] > 0]


def _row(name: str, description: str, goal: Bound, values: Sequence[float | None], detail: str = "") -> GoalRow:
    """The mean over seeds decides; its interval is shown."""
    known = [value for value in values if value is not None]
    if not values:
        return goal_row(name, description, goal, None)
    if len(known) < len(values):
        never = f"never in {len(values) - len(known)} of {len(values)}"
        return GoalRow(name, description, goal, measured=never, reached=False, detail=detail)
    mean = mean_of(known)
    spread = f"{mean.show(goal.decimals, goal.scale)} {goal.unit}".rstrip()
    return goal_row(
        name, description, goal, mean.mean, f"{spread}; {detail}".removesuffix("; "),
        mean=mean.mean, half_interval=mean.half_interval, n=mean.n, values=known,
    )  # fmt: skip
