"""Cuts a scenario in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from weir_cli.errors import InputError
from weir_traces.schema.links import BernoulliLoss, Capacity, Link
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.values_over_time import DelayOverTime, RatioOverTime

_OverTime = TypeVar("_OverTime", Capacity, DelayOverTime, RatioOverTime)


def time_window(scenario: Scenario, start_s: float, end_s: float) -> Scenario:
    """The scenario of the time from `start_s` to `end_s`, with the same name.

    Capacity, delay and loss are those of that time. Flows start anew at the beginning of the window, at the times
    that they have in the scenario.

    Raises:
        InputError: not 0 <= start_s < end_s <= the scenario's duration.
    """
    if not 0.0 <= start_s < end_s <= scenario.duration_s:
        raise InputError(
            f"scenario {scenario.name}: has no time from {start_s:g} to {end_s:g} s in its {scenario.duration_s:g} s"
        )
    if start_s == 0.0:
        return scenario.model_copy(update={"duration_s": end_s})
    links = {
        side: link_starting_at(_periodic_link(link, scenario.duration_s), start_s)
        for side, link in (("forward", scenario.forward), ("reverse", scenario.reverse))
    }
    return scenario.model_copy(update={**links, "duration_s": round(end_s - start_s, 6)})


def link_starting_at(link: Link, start_s: float) -> Link:
    """The link with its periodic values shifted, so that those of `start_s` hold at 0."""

    def shifted(values: _OverTime) -> _OverTime:
        if not isinstance(values, Capacity):
            return values.starting_at(start_s)
        return values if values.period_s is None else Capacity.from_trace(values.trace().starting_at(start_s))

    return _with_values(link, shifted)


def _periodic_link(link: Link, duration_s: float) -> Link:
    """The link with a period for values that have none, after the end of the scenario, so that they can be shifted."""
    return _with_values(link, lambda values: _periodic(values, duration_s))


def _with_values(link: Link, changed: Callable[[Any], Any]) -> Link:
    """The link with `changed` applied to its capacity, and to its delay and loss ratio if they change over time."""
    delay, loss, capacity = link.one_way_delay_ms, link.loss, link.capacity
    if isinstance(delay, DelayOverTime):
        delay = changed(delay)
    if isinstance(loss, BernoulliLoss) and isinstance(loss.ratio, RatioOverTime):
        loss = loss.model_copy(update={"ratio": changed(loss.ratio)})
    if capacity is not None:
        capacity = changed(capacity)
    return link.model_copy(update={"capacity": capacity, "one_way_delay_ms": delay, "loss": loss})


def _periodic(values: _OverTime, duration_s: float) -> _OverTime:
    if values.period_s is not None:
        return values
    return values.model_copy(update={"period_s": max(duration_s, values.times_s[-1] + 1.0)})
