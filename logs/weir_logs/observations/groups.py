"""Compares the connections that Weir was in charge of with those that the other estimator was in charge of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weir_eval.measures.statistics import independent_interval
from weir_logs.observations.observation_log import ObservedConnection

Value = Callable[[ObservedConnection], float | None]


@dataclass(frozen=True)
class GroupMeasure:
    """A number of a connection. `value` returns None if the host did not report it."""

    key: str
    label: str
    value: Value
    more_is_better: bool = False


def _minutes(one: ObservedConnection) -> float:
    return max(len(one), 1) / 60


MEASURES = (
    GroupMeasure("freezes_per_minute", "Freezes per minute",
                 lambda one: None if one.freezes is None else one.freezes / _minutes(one)),
    GroupMeasure("frozen_percent", "Frozen, % of time",
                 lambda one: None if one.frozen_s is None else 100 * one.frozen_s / (60 * _minutes(one))),
    GroupMeasure("received_kbps", "Received, kbps", lambda one: 1e-3 * float(one.numbers["received_bps"].mean()), True),
    GroupMeasure("queueing_delay_ms", "Queueing delay, mean, ms",
                 lambda one: float(one.numbers["queueing_delay_ms"].mean())),
    GroupMeasure("queueing_delay_ms_p95", "Queueing delay, p95 of seconds, ms",
                 lambda one: float(np.percentile(one.numbers["queueing_delay_ms"], 95))),
    GroupMeasure("lost_percent", "Lost, %", lambda one: 100 * float(one.numbers["loss_ratio"].mean())),
)  # fmt: skip


@dataclass(frozen=True)
class GroupRow:
    """A measure in both groups: means over connections, and the difference with its 95 % interval, (None, None) for
    few connections.
    """

    measure: GroupMeasure
    other: float
    weir: float
    interval: tuple[float | None, float | None]
    connections: tuple[int, int]

    @property
    def difference(self) -> float:
        """Weir's mean minus the other's."""
        return self.weir - self.other


class Groups:
    """The values of both groups, without connections in which it changed who was in charge."""

    def __init__(self) -> None:
        self.changed = 0
        self._values: dict[str, tuple[list[float], list[float]]] = {m.key: ([], []) for m in MEASURES}
        self.sizes = [0, 0]

    def add(self, one: ObservedConnection) -> None:
        """Adds a connection."""
        weir = bool(one.weir_in_charge[0])
        if (one.weir_in_charge != weir).any():
            self.changed += 1
            return
        self.sizes[weir] += 1
        for measure in MEASURES:
            value = measure.value(one)
            if value is not None:
                self._values[measure.key][weir].append(value)

    def rows(self) -> Sequence[GroupRow]:
        """The measures that both groups have."""
        rows = []
        for measure in MEASURES:
            other, weir = (np.array(values) for values in self._values[measure.key])
            if len(other) and len(weir):
                interval = independent_interval(weir, other)
                sizes = (len(other), len(weir))
                rows.append(GroupRow(measure, float(other.mean()), float(weir.mean()), interval, sizes))
        return rows
