"""Goals on how the policy starts, drains a queue, and shares a path: from time series."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import mean
from typing import Any

from weir.qoe_eval.experiments.policy.measures import (
    recovery_time_s,
    share_before_step,
    start_time_s,
)
from weir.qoe_eval.experiments.policy.results import PolicyResults
from weir.qoe_eval.experiments.policy.sets import HALVED_AT_S, START_BPS
from weir.qoe_eval.measures.fairness import settled_jain_index, settled_media_share
from weir.qoe_eval.measures.flow_series import FlowSeries, read_flow_series
from weir.qoe_eval.report.goal_table import Goal, Row, measured, missed, not_measured

_CONTROLLERS = ("weir", "gcc", "rule", "oracle")


def dynamics_rows(results: PolicyResults) -> Iterator[Row]:
    """Start and halved link."""
    yield _start(results)
    yield from _halved(results)


def sharing_rows(results: PolicyResults) -> Iterator[Row]:
    """RFC 8867 5.4, 5.5 and 5.6."""
    cases = (("5.4", "3 flows on one link", 0.95), ("5.5", "5 round trip times", 0.85))
    for case, words, limit in cases:
        goal = Goal("at least", limit, decimals=3)
        what = f"RFC 8867 {case}, {words}: Jain's index"
        found = _by_controller(results, "rfc8867", settled_jain_index, f"rfc8867-{case}")
        yield _value_row(f"jain_{case}", what, goal, found, 3)
    yield from _tcp(results)


def _start(results: PolicyResults) -> Row:
    goal = Goal("at most", 3.0, "s")
    what = "start: from 300 kbps to 90 % of a 5 Mbps link"

    def time_s(record: Mapping[str, Any]) -> float | None:
        series = _only_flow(record)
        return None if series is None else start_time_s(series, START_BPS)

    return _time_row("start", what, goal, _by_controller(results, "start", time_s))


def _halved(results: PolicyResults) -> Iterator[Row]:
    goal = Goal("at most", 1.5, "s")
    sooner = Goal("at most", 0.0, "s", strict=True, signed=True)
    what = "halved link, 2.5 to 1.25 Mbps: until back under 50 ms of queueing"
    what_sooner = "halved link: that time, less gcc's"

    def time_s(record: Mapping[str, Any]) -> float | None:
        series = _only_flow(record)
        base_ms = record["flows"][0]["base_one_way_delay_ms"]
        return None if series is None else recovery_time_s(series, base_ms, HALVED_AT_S)

    def used(record: Mapping[str, Any]) -> float | None:
        series = _only_flow(record)
        return None if series is None else share_before_step(series, HALVED_AT_S)

    found = _by_controller(results, "halved", time_s)
    used_before = {name: _all_or_none(values) for name, values in _by_controller(results, "halved", used).items()}
    shares = ", ".join(f"{name} {100 * value:.0f} %" for name, value in used_before.items() if value is not None)
    yield _time_row("halved", what, goal, found, f"; used of the link before the step: {shares}")
    own, other = (_all_or_none(found[name]) for name in ("weir", "gcc"))
    if not found["weir"] or not found["gcc"]:
        yield not_measured("halved_against_gcc", what_sooner, sooner, "no run completed")
    elif own is None:
        yield missed("halved_against_gcc", what_sooner, sooner, "weir never is")
    elif other is None:
        yield Row("halved_against_gcc", what_sooner, sooner, None, "gcc never is", True)
    else:
        yield measured("halved_against_gcc", what_sooner, sooner, own - other)


def _tcp(results: PolicyResults) -> Iterator[Row]:
    """The smaller share of the two cases (queues of 300 and 1000 ms) decides."""
    goal = Goal("at least", 0.2, "%", strict=True, scale=100, decimals=1)
    shares = {
        queue: [v for v in _by_controller(results, "rfc8867", settled_media_share, case)["weir"] if v is not None]
        for queue, case in (("300 ms", "rfc8867-5.6-queue300"), ("1000 ms", "rfc8867-5.6-queue1000"))
    }
    means = {queue: mean(values) for queue, values in shares.items() if values}
    for name, who in (("tcp_own_share", "Weir"), ("tcp_left_share", "TCP")):
        what = f"RFC 8867 5.6, against one TCP Cubic flow: {who}'s share"
        if len(means) < len(shares):
            yield not_measured(name, what, goal, "no run completed")
            continue
        parts = {queue: value if who == "Weir" else 1 - value for queue, value in means.items()}
        detail = ", ".join(f"queue of {queue} {100 * value:.1f} %" for queue, value in parts.items())
        yield measured(name, what, goal, min(parts.values()), detail, **parts)


def _by_controller(
    results: PolicyResults,
    set_name: str,
    measure: Callable[[Mapping[str, Any]], float | None],
    scenario_prefix: str = "",
) -> dict[str, list[float | None]]:
    """The measure in each run."""
    return {
        controller: [measure(record) for record in results.of(set_name, controller, scenario_prefix)]
        for controller in _CONTROLLERS
    }


def _only_flow(record: Mapping[str, Any]) -> FlowSeries | None:
    return read_flow_series(record, record["flows"][0])


def _all_or_none(values: list[float | None]) -> float | None:
    """The mean over runs; nothing when in any of them it never happened."""
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _value_row(name: str, what: str, goal: Goal, found: Mapping[str, list[float | None]], decimals: int) -> Row:
    means = {controller: value for controller, values in found.items() if (value := _all_or_none(values)) is not None}
    if "weir" not in means:
        return not_measured(name, what, goal, "no run completed")
    others = ", ".join(
        f"{controller} {value:.{decimals}f}" for controller, value in means.items() if controller != "weir"
    )
    return measured(name, what, goal, means["weir"], others, **means)


def _time_row(name: str, what: str, goal: Goal, found: Mapping[str, list[float | None]], more: str = "") -> Row:
    if not found["weir"]:
        return not_measured(name, what, goal, "no run completed")
    means = {controller: _all_or_none(values) for controller, values in found.items() if values}
    others = ", ".join(
        f"{controller} {'never' if value is None else f'{value:.2f} s'}"
        for controller, value in means.items()
        if controller != "weir"
    )
    own = means["weir"]
    if own is None:
        never = sum(value is None for value in found["weir"])
        return missed(name, what, goal, f"not at all in {never} of {len(found['weir'])}", others + more, **means)
    return measured(name, what, goal, own, others + more, **means)
