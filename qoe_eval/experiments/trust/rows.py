"""The goals of trust, set against what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Final

from weir.qoe_eval.experiments.trust.experiment import HEALTHY, TrustResults
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

TRAINED_60S: Final = "trained-60s"
_NOT_BELOW: Final = Goal("at least", -0.05, "%", scale=100, decimals=1, signed=True)
_SEAT: Final = Goal("at most", 0.01, "%", strict=True, scale=100, decimals=2)
_SCORE: Final = Goal("at least", -0.3, signed=True)


def trust_rows(results: TrustResults) -> list[Row]:
    """Every goal, in order."""
    broken = [_broken(results, name) for name in results.lines if name != HEALTHY]
    if TRAINED_60S not in results.lines:
        reason = "name its file with --trained-60s"
        broken.append(not_measured(TRAINED_60S, _what(TRAINED_60S), _NOT_BELOW, reason))
    return [*broken, *_healthy(results)]


def _what(name: str) -> str:
    return f"model {name}: score against the better of nada and rule, worst set"


def _broken(results: TrustResults, name: str) -> Row:
    line = results.lines[name]
    ratios, unseen = results.against_better(line), results.unseen().against_better(line)
    if not ratios:
        return not_measured(name, _what(name), _NOT_BELOW, "no run completed")
    detail = ", ".join(f"{in_set} {_NOT_BELOW.show(ratio)}" for in_set, ratio in ratios.items())
    if unseen:
        worst = min(unseen, key=lambda in_set: unseen[in_set])
        detail += f"; of scenarios that trust was not fitted on, worst {worst} {_NOT_BELOW.show(unseen[worst])}"
    return measured(name, _what(name), _NOT_BELOW, min(ratios.values()), detail, **ratios)


def _healthy(results: TrustResults) -> Iterator[Row]:
    line = results.lines[HEALTHY]
    lost = {s: share for s in results.records if (share := results.seat_lost(s, line)) is not None}
    what = "healthy model: seat lost, mean over sets"
    if lost:
        detail = ", ".join(f"{in_set} {_SEAT.show(share)}" for in_set, share in lost.items())
        yield measured("healthy_seat", what, _SEAT, mean(lost.values()), detail, **lost)
    else:
        yield not_measured("healthy_seat", what, _SEAT, "no run completed")
    gains = {}
    for in_set in results.records:
        pool, alone = results.score(in_set, line), results.score(in_set, "weir")
        if pool is not None and alone is not None:
            gains[in_set] = pool - alone
    what = "healthy model: score in the pool against alone, worst set"
    if gains:
        detail = ", ".join(f"{in_set} {_SCORE.show(gain)}" for in_set, gain in gains.items())
        yield measured("healthy_score", what, _SCORE, min(gains.values()), detail, **gains)
    else:
        yield not_measured("healthy_score", what, _SCORE, "no run completed")
