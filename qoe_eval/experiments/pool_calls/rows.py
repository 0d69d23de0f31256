"""The goals of pools in real calls, set against what was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any, Final

from weir.qoe_eval.experiments.calls.goals import undisturbed, why_no_pair, worst_row
from weir.qoe_eval.experiments.pool_calls.broken_pilot import AfterBreak
from weir.qoe_eval.experiments.pool_calls.experiment import ALONE, BY_TRUST, WITH_GCC
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

Records = Sequence[Mapping[str, Any]]
Value = Callable[[Mapping[str, Any]], float | None]

_BITRATE: Final = Goal("at least", 0.97, "times")
_NOT_ABOVE_MS: Final = Goal("at most", 0.0, "ms", signed=True, decimals=1)
_NOT_ABOVE_S: Final = Goal("at most", 0.0, "s", signed=True)
_GOES_ON: Final = Goal("at least", 1.0, "%", scale=100, decimals=0)
_DELAY: Final = Goal("at most", 1.25, "times")
_SEAT_S: Final = Goal("at most", 3.0, "s")


def pool_call_rows(scenarios: Sequence[str], records: Records, after: Mapping[str, AfterBreak]) -> list[Row]:
    """Every goal, in order.

    Args:
        scenarios: the names of those that were called.
        records: of all complete calls.
        after: by key, what became of each call from the break on; of the others, from the same time on.
    """
    return [*_with_gcc(scenarios, records), *_broken(scenarios, records, after)]


def _with_gcc(scenarios: Sequence[str], records: Records) -> Iterator[Row]:
    controllers, why = (WITH_GCC, *ALONE), why_no_pair(records)
    rates = _means(records, controllers, _metric("received_bitrate_bps"))
    yield worst_row(
        "bitrate",
        f"`{WITH_GCC}`: received bitrate against weir's, worst scenario",
        _BITRATE,
        {name: by[WITH_GCC] / by["weir"] for name, by in rates.items() if by["weir"] > 0},
        {name: _text(by, 1e-3, "kbps") for name, by in rates.items()},
        scenarios,
        why,
    )
    for name, what, metric, goal in (
        ("delay", "p95 network delay", "network_delay_ms_p95", _NOT_ABOVE_MS),
        ("end_to_end", "p95 end-to-end delay", "end_to_end_delay_ms_p95", _NOT_ABOVE_MS),
        ("frozen", "time frozen in a call", "total_freezes_duration_s", _NOT_ABOVE_S),
    ):
        values = _means(records, controllers, _metric(metric))
        yield worst_row(
            name,
            f"the same: {what}, less the better of weir's and gcc's, worst scenario",
            goal,
            {one: by[WITH_GCC] - min(by[alone] for alone in ALONE) for one, by in values.items()},
            {one: _text(by, 1.0, goal.unit) for one, by in values.items()},
            scenarios,
            why,
        )


def _broken(scenarios: Sequence[str], records: Records, after: Mapping[str, AfterBreak]) -> Iterator[Row]:
    what = f"`{BY_TRUST}`, the pilot's model replaced by a constant maximum in the call: calls that go on to their end"
    of_pool = [record for record in records if record["controller"] == BY_TRUST]
    ends = {(record["scenario"], record["seed"]) for record in records if record["controller"] == "gcc"}
    went_on = sum((record["scenario"], record["seed"]) in ends for record in of_pool)
    if ends:
        detail = f"{went_on} of the {len(ends)} on whose path gcc's call did, too"
        yield measured("goes_on", what, _GOES_ON, went_on / len(ends), detail)
    else:
        yield not_measured("goes_on", what, _GOES_ON, "no such call")
    what = "the same: p95 network delay from then on against gcc's in that time, worst scenario"
    delays = _means(records, (BY_TRUST, "gcc"), lambda record: after[record["key"]].network_delay_ms_p95)
    yield worst_row(
        "broken_delay",
        what,
        _DELAY,
        {name: by[BY_TRUST] / by["gcc"] for name, by in delays.items() if by["gcc"] > 0},
        {name: _text(by, 1.0, "ms") for name, by in delays.items()},
        scenarios,
        why_no_pair(records),
    )
    what = "the same: time until the model has lost the seat, the longest"
    lost = [after[record["key"]].seat_lost_s for record in of_pool]
    known = [seconds for seconds in lost if seconds is not None]
    if not lost:
        yield not_measured("broken_seat", what, _SEAT_S, "no such call")
    elif len(known) < len(lost):
        yield Row("broken_seat", what, _SEAT_S, None, f"never in {len(lost) - len(known)} of {len(lost)}", False)
    else:
        yield measured("broken_seat", what, _SEAT_S, max(known), f"{len(known)} calls")


def _means(records: Records, controllers: Sequence[str], value: Value) -> dict[str, dict[str, float]]:
    """By scenario and controller: means over the seeds with which the calls of all these controllers were undisturbed
    and define the measure.
    """
    by: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for record in undisturbed(records):
        found = value(record) if record["controller"] in controllers else None
        if found is not None:
            by[record["scenario"], record["seed"]][record["controller"]] = found
    whole = [(scenario, values) for (scenario, _), values in by.items() if len(values) == len(controllers)]
    return {
        scenario: {one: mean(values[one] for name, values in whole if name == scenario) for one in controllers}
        for scenario in dict.fromkeys(name for name, _ in whole)
    }


def _metric(name: str) -> Value:
    return lambda record: record["metrics"]["run"].get(name)


def _text(by: Mapping[str, float], factor: float, unit: str) -> str:
    short = {WITH_GCC: "pool", BY_TRUST: "pool"}
    return ", ".join(f"{short.get(name, name)} {factor * value:,.4g} {unit}" for name, value in by.items())
