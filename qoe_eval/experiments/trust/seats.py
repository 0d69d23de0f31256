"""Goals for pools in their seats: how soon a broken model leaves, how pools share a path, how an objective steers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Any, Final

from weir.qoe_eval.experiments.trust.experiment import (
    BY_OBJECTIVE,
    HEALTHY,
    MAX_WITH_RULE,
    Records,
    TrustResults,
)
from weir.qoe_eval.measures.fairness import settled_jain_index, settled_media_share
from weir.qoe_eval.measures.steering import steering_of
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

_SOON_S: Final = 3.0
_SOON: Final = Goal("at least", 0.95, "%", scale=100, decimals=1)
_SOON_MODELS: Final = ("maximum", "shuffled")
_NO_RUN: Final = "no run completed"


def leaving_rows(results: TrustResults) -> Iterator[Row]:
    """The share of random paths on which a broken model has lost its seat within 3 s of the call's start."""
    for model in _SOON_MODELS:
        name, what = f"{model}_leaves", f"model {model}: seat lost within 3 s, share of random paths"
        runs = results.runs("random", results.lines[model])
        if not runs:
            yield not_measured(name, what, _SOON, _NO_RUN)
            continue
        held_s = sorted(_held_s(run) for run in runs)
        share = sum(one <= _SOON_S for one in held_s) / len(held_s)
        never = sum(one == float("inf") for one in held_s)
        detail = f"median {held_s[len(held_s) // 2]:.1f} s; never on {never} of {len(held_s)}"
        staying = {run["scenario"] for run in runs if _held_s(run) > _SOON_S}
        there = TrustResults(
            results.lines, {"random": [r for r in results.records["random"] if r["scenario"] in staying]}
        )
        for ratio in there.against_better(results.lines[model]).values():
            detail += f"; where it stays longer the score is {ratio:+.1%} against the better of nada and rule"
        yield measured(name, what, _SOON, share, detail)


def sharing_rows(results: TrustResults, records: Records) -> Iterator[Row]:
    """RFC 8867: flows with pools among themselves, against flows with the model alone; and `max` with the rule against
    TCP.

    Args:
        results: for the healthy model's line.
        records: of the cases, with their series.
    """
    for case in ("5.4", "5.5"):
        alone, pool = (
            [settled_jain_index(run) for run in _of(records, controller, f"rfc8867-{case}")]
            for controller in ("weir", results.lines[HEALTHY])
        )
        yield _less(f"jain_{case}", f"RFC 8867 {case}: Jain's index of flows with pools, less of flows without",
                    Goal("at least", 0.0, decimals=3, signed=True), pool, alone, ".3f")  # fmt: skip
    own, alone = (
        [settled_media_share(run) for run in _of(records, controller, "rfc8867-5.6")]
        for controller in (MAX_WITH_RULE, "weir")
    )
    what = "RFC 8867 5.6, against TCP Cubic: own share under max {weir, rule}"
    goal = Goal("at least", 0.2, "%", scale=100, decimals=1)
    known, without = ([value for value in some if value is not None] for some in (own, alone))
    if not known:
        yield not_measured("tcp_own_share", what, goal, _NO_RUN)
        return
    detail = f"the model alone {mean(without):.1%}, mean of both queues" if without else ""
    yield measured("tcp_own_share", what, goal, mean(known), detail)


def objective_rows(records: Mapping[str, Records]) -> Iterator[Row]:
    """The pool by objective: whether presets steer, and what `latency` costs. `records` are by preset."""
    goal = Goal("at least", 0.9, "%", scale=100, decimals=1)
    what = "by_objective: presets move utilisation and p95 delay the right way, share of scenarios"
    pool, alone = (steering_of(records, controller) for controller in (BY_OBJECTIVE, "weir"))
    if pool.right is None:
        yield not_measured("by_objective_steering", what, goal, _NO_RUN)
    else:
        detail = f"the model alone {alone.right:.1%}" if alone.right is not None else ""
        yield measured("by_objective_steering", what, goal, pool.right, f"{detail}; {pool.scenarios} scenarios")
    goals = {"p95_queueing_delay_ms": Goal("at most", 0.9), "utilisation": Goal("at least", 0.97)}
    for name, goal in goals.items():
        what = f"by_objective under latency: mean {name.replace('_', ' ')} by the model's alone"
        own, other = (_metric(records.get("latency", []), c, name) for c in (BY_OBJECTIVE, "weir"))
        if own is None or not other:
            yield not_measured(f"by_objective_{name}", what, goal, _NO_RUN)
        else:
            yield measured(f"by_objective_{name}", what, goal, own / other, f"pool {own:.2f}, model {other:.2f}")


def _held_s(run: Mapping[str, Any]) -> float:
    held: float | None = run["flows"][0]["pool"]["first_pilot_held_s"]
    return float("inf") if held is None else held


def _of(records: Records, controller: str, prefix: str) -> Records:
    return [r for r in records if r["controller"] == controller and r["scenario"].startswith(prefix)]


def _less(name: str, what: str, goal: Goal, own: list[float | None], other: list[float | None], form: str) -> Row:
    known, others = ([value for value in some if value is not None] for some in (own, other))
    if not known or not others:
        return not_measured(name, what, goal, _NO_RUN)
    detail = f"pools {format(mean(known), form)}, the model alone {format(mean(others), form)}"
    return measured(name, what, goal, mean(known) - mean(others), detail)


def _metric(records: Records, controller: str, name: str) -> float | None:
    values = [
        value
        for record in records
        if record["controller"] == controller and (value := record["metrics"]["run"].get(name)) is not None
    ]
    return mean(values) if values else None
