"""The rows of `weir experiment polycc`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weir.qoe_eval.experiments.polycc.demonstrations import (
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
from weir.qoe_eval.experiments.polycc.measures import Mean, converged_after_s, goodput_bps, mean_of
from weir.qoe_eval.report.goal_table import Goal, Row, measured, missed, not_measured

Record = Mapping[str, Any]
CONVERGED_SHARE = 1.25
# From when on a halved link has been halved for long enough.
_SETTLED_S = 10.0


@dataclass(frozen=True)
class PolyccResults:
    """By scenario and seed: mean goodput of the first demonstration in bit/s; of the second, goodput before and after
    the step, and the seconds until it has converged, nothing when it does not.
    """

    goodput_bps: dict[str, dict[int, float]] = field(default_factory=dict)
    before_bps: dict[str, dict[int, float]] = field(default_factory=dict)
    after_bps: dict[str, dict[int, float]] = field(default_factory=dict)
    converged_s: dict[str, dict[int, float | None]] = field(default_factory=dict)


def polycc_results(records: Sequence[Record]) -> PolyccResults:
    """What the rows need of each run; the records carry their series."""
    results = PolyccResults()
    halved = {halved_name(control) for control in HALVED_CONTROLS}
    for record in records:
        name, seed = record["scenario"], record["seed"]
        if name not in halved:
            results.goodput_bps.setdefault(name, {})[seed] = goodput_bps(record, 0, JITTER_DURATION_S)
            continue
        results.before_bps.setdefault(name, {})[seed] = goodput_bps(record, 0, HALVED_AT_S)
        results.after_bps.setdefault(name, {})[seed] = goodput_bps(record, _SETTLED_S, HALVED_DURATION_S)
        converged_s = converged_after_s(record, HALVED_AT_S, CONVERGED_SHARE * HALVED_BDP_BYTES)
        results.converged_s.setdefault(name, {})[seed] = converged_s
    return results


def polycc_rows(results: PolyccResults) -> list[Row]:
    """First whether BBR is the paper's, without which no ratio to it says anything; then the demonstrations."""
    return [*_bbr_rows(results), *_jitter_rows(results), *_halved_rows(results)]


def _bbr_rows(results: PolyccResults) -> Iterator[Row]:
    goal = Goal("at most", 1 / 1.82, "%", scale=100, decimals=1)
    what = "BBR alone idles: goodput as a share of the link, jitter of 100 ms"
    idle = results.goodput_bps.get(jitter_name(100, "bbr"), {})
    yield _row("bbr_idles", what, goal, [value / LINK_BPS for value in idle.values()])
    found = _converged(results, "bbr")
    for name, goal in (("bbr_at_least", Goal("at least", 2.0, "s")), ("bbr_at_most", Goal("at most", 4.0, "s"))):
        yield _row(f"{name}_2_to_4_s", "BBR alone converges in 2 to 4 s (the paper)", goal, found)


def _jitter_rows(results: PolyccResults) -> Iterator[Row]:
    for jitter_ms in JITTERS_MS:
        own, bbr, cubic = (
            results.goodput_bps.get(jitter_name(jitter_ms, control), {})
            for control in (MAX_OF_BBR_AND_CUBIC, "bbr", "cubic")
        )
        ratios = _ratios(own, bbr)
        beside = f"to CUBIC alone {mean_of(_ratios(own, cubic)).show(2)}" if _ratios(own, cubic) else ""
        what = f"jitter of {jitter_ms} ms: goodput of {MAX_OF_BBR_AND_CUBIC} to that of BBR"
        if jitter_ms > JITTERS_MS[0]:
            goal = Goal("at least", 1.82)
            yield _row(f"jitter{jitter_ms}", what, goal, ratios, f"the paper 1.82 to 10.35; {beside}")
            continue
        yield _row(f"jitter{jitter_ms}_least", what, Goal("at least", 0.95), ratios, beside)
        yield _row(f"jitter{jitter_ms}_most", what, Goal("at most", 1.05), ratios, beside)


def _halved_rows(results: PolyccResults) -> Iterator[Row]:
    what = f"20 to 10 Mbps: in flight within 1.25 new BDP, {MIN_OF_BBR_AND_COPA} sooner than BBR by"
    goal = Goal("at least", 0.541, "%", scale=100, decimals=1)
    own, bbr = (results.converged_s.get(halved_name(control), {}) for control in (MIN_OF_BBR_AND_COPA, "bbr"))
    times = "; ".join(f"{control} {_shown_s(_converged(results, control))}" for control in HALVED_CONTROLS)
    pairs = [(own[seed], bbr[seed]) for seed in own.keys() & bbr.keys()]
    sooner = [1 - a / b for a, b in pairs if a is not None and b]
    if pairs and len(sooner) < len(pairs):
        yield missed("halved", what, goal, f"never in {len(pairs) - len(sooner)} of {len(pairs)}", times)
    else:
        yield _row("halved", what, goal, sooner, times)
    yield not_measured(
        "halved_bbr2", "the same against BBRv2", Goal("at least", 0.328, "%", scale=100), "ns-3 3.37 has none"
    )
    for name, words, rates in (
        ("halved_before", "0 to 5 s", results.before_bps),
        ("halved_after", "10 to 20 s", results.after_bps),
    ):
        what = f"20 to 10 Mbps: goodput of {MIN_OF_BBR_AND_COPA} to that of BBR, {words}"
        beside = "; ".join(
            f"{control} {mean_of(list(found.values())).show(2, 1e-6)} Mbps"
            for control in HALVED_CONTROLS
            if (found := rates.get(halved_name(control)))
        )
        own_bps, bbr_bps = (rates.get(halved_name(control), {}) for control in (MIN_OF_BBR_AND_COPA, "bbr"))
        yield _row(name, what, Goal("at least", 0.95), _ratios(own_bps, bbr_bps), beside)


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


def _converged(results: PolyccResults, control: str) -> list[float | None]:
    return list(results.converged_s.get(halved_name(control), {}).values())


def _shown_s(times_s: Sequence[float | None]) -> str:
    known = [time_s for time_s in times_s if time_s is not None]
    if not times_s or len(known) < len(times_s):
        return f"never in {len(times_s) - len(known)} of {len(times_s)}"
    return f"{mean_of(known).show(2)} s"


def _ratios(a: Mapping[int, float], b: Mapping[int, float]) -> list[float]:
    """Seed by seed."""
    return [a[seed] / b[seed] for seed in sorted(a.keys() & b.keys()) if b[seed] > 0]


def _row(name: str, what: str, goal: Goal, values: Sequence[float | None], detail: str = "") -> Row:
    """The mean over seeds decides; its interval is told."""
    known = [value for value in values if value is not None]
    if not values:
        return not_measured(name, what, goal, "no run completed")
    if len(known) < len(values):
        return missed(name, what, goal, f"never in {len(values) - len(known)} of {len(values)}", detail)
    mean = mean_of(known)
    spread = f"{mean.show(goal.decimals, goal.scale)} {goal.unit}".rstrip()
    figures = {"mean": mean.mean, "half_interval": mean.half_interval, "n": mean.n, "values": known}
    return measured(name, what, goal, mean.mean, f"{spread}; {detail}".removesuffix("; "), **figures)
