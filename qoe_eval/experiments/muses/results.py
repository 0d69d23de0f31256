"""What `weir experiment muses` has run, and what every run on a network of Table III says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from weir.qoe_eval.evaluate.scenario_sets import ScenarioSet

Record = Mapping[str, Any]
MUSES = "weir"
GLOBAL_TREE = "global-tree"


@dataclass(frozen=True)
class MusesResults:
    """Records by set and by who ran it: a controller, GLOBAL_TREE (the controller weir with that model), or a
    congestion control of TCP. `with_series` gives a record its series back, by who ran it.
    """

    sets: Mapping[str, ScenarioSet]
    records: Mapping[str, Mapping[str, Sequence[Record]]]
    with_series: Callable[[str, Record], Record]

    def of(self, set_name: str, who: str) -> Sequence[Record]:
        """Records of a set; empty where there are none."""
        return self.records.get(set_name, {}).get(who, [])

    def whole(self, set_name: str, who: str) -> list[Record]:
        """The same with their series."""
        return [self.with_series(who, record) for record in self.of(set_name, who)]

    def cases(self, set_name: str) -> dict[str, list[Case]]:
        """Each run of each who on networks of Table III."""
        return {
            who: [case for record in records if (case := case_of(record))]
            for who, records in self.records.get(set_name, {}).items()
        }


@dataclass(frozen=True)
class Case:
    """One flow alone on one network: shares are 0 to 1.

    Unlike the metric of replays, utilisation is of the whole capacity: what TCP queues in an outage counts.
    """

    utilisation: float
    p95_queueing_delay_ms: float
    loss_ratio: float


def case_of(record: Record) -> Case | None:
    """The record's only flow; None: nothing arrived."""
    flow = record["flows"][0]
    delay_ms, capacity_bps = flow["one_way_delay_ms"], record["path"]["mean_capacity_bps"]
    if not delay_ms or not capacity_bps:
        return None
    return Case(
        8 * flow["bytes_received"] / (capacity_bps * record["duration_s"]),
        max(0.0, delay_ms["p95"] - flow["base_one_way_delay_ms"]),
        flow["packets_lost"] / flow["packets_sent"],
    )


def mean_case(cases: Sequence[Case]) -> Case:
    """The mean of at least one."""
    return Case(
        mean(case.utilisation for case in cases),
        mean(case.p95_queueing_delay_ms for case in cases),
        mean(case.loss_ratio for case in cases),
    )
