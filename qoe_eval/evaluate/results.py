"""The records of a suite's runs, by set. All access to the fields of records is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from weir.qoe_eval.call.settings import CallSettings
from weir.qoe_eval.evaluate.scenarios import ScenarioSet
from weir.qoe_eval.evaluate.suite import Settings, base_name
from weir.qoe_eval.measures.flow_series import FlowSeries, read_flow_series

Record = Mapping[str, Any]
Records = Sequence[Record]
RunMeasure = Callable[[Record], float | None]

NO_CALLS = "no calls were made; --calls makes them, as root and with Chromium"


@dataclass(frozen=True)
class Results:
    """What a suite has run.

    Attributes:
        settings: of the command line.
        sets: scenarios by set, of replays and calls.
        replays: records by set.
        calls: records by set; empty where no calls were made.
        called: settings of the calls by key.
        pools: specifications of pools by the suite's names for them.
        with_series: gives a record its time series back.
    """

    settings: Settings
    sets: Mapping[str, ScenarioSet]
    replays: Mapping[str, Records]
    with_series: Callable[[Record], Record] = lambda record: record
    calls: Mapping[str, Records] = field(default_factory=dict)
    called: Mapping[str, CallSettings] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)

    def of(self, *names: str) -> list[Record]:
        """The replays of these sets."""
        return [record for name in names for record in self.replays.get(name, [])]

    def runs(self, name: str, controller: str, *parts: str) -> list[Record]:
        """Replays of a set and a controller, of scenarios whose names have all these parts (between hyphens)."""
        controller = self.pools.get(controller, controller)
        return [
            record
            for record in self.replays.get(name, [])
            if record["controller"] == controller and set(parts) <= set(record["scenario"].split("-"))
        ]

    def by_scenario(self, name: str, controller: str, measure: RunMeasure, *parts: str) -> dict[str, float]:
        """A measure of `runs` by scenario, the mean over seeds; scenarios that do not define it are left out."""
        values: dict[str, list[float]] = {}
        for record in self.runs(name, controller, *parts):
            value = measure(record)
            if value is not None:
                values.setdefault(record["scenario"], []).append(value)
        return {scenario: mean(some) for scenario, some in values.items()}

    def series(self, record: Record) -> FlowSeries | None:
        """The series of the flow under test: the record's first."""
        whole = self.with_series(record)
        return read_flow_series(whole, whole["flows"][0])

    def why_absent(self, names: Iterable[str], other: str = "gcc") -> str:
        """Why sets of these names have no scenario on which weir and another both ran; empty when all have one."""
        reasons = set()
        for name in names:
            ran = [{record["scenario"] for record in self.runs(name, one)} for one in ("weir", other)]
            if not ran[0] & ran[1]:
                reasons.add(self._missing(name) or f"no pair of weir and {other} on {name} completed")
        return "; ".join(sorted(reasons))

    def why_no_run(self, name: str) -> str:
        """Why a set has no run that a measure can use."""
        return self._missing(name) or "no such run"

    def why_no_pair(self, name: str, records: Records) -> str:
        """Why a set has no pair of calls that can be compared."""
        reasons = sorted({reason for record in records for reason in disturbances(record)})
        if reasons:
            return f"no undisturbed pair of calls: {'; '.join(reasons[:3])}"
        return (self._missing(name) or "no complete pair of calls") if self.called else NO_CALLS

    def _missing(self, name: str) -> str:
        return self.sets[name].missing if name in self.sets else f"the set {base_name(name)} was not chosen"


def metric(name: str) -> RunMeasure:
    """A measure that every record has."""

    def value(record: Record) -> float | None:
        found: float | None = record["metrics"]["run"].get(name)
        return found

    return value


def delay_p95_ms(record: Record) -> float | None:
    """95th percentile of the one-way delay of the flow under test."""
    found: float | None = (record["flows"][0].get("one_way_delay_ms") or {}).get("p95")
    return found


def base_delay_ms(record: Record) -> float:
    """The path's own delay for the flow under test."""
    return float(record["flows"][0]["base_one_way_delay_ms"])


def feedback_per_sample(record: Record) -> tuple[Sequence[float], float] | None:
    """Messages that report a rate, in each sample of a record with series, and the samples' length in s."""
    sent = (record["flows"][0].get("series") or {}).get("rate_feedback_sent")
    return None if sent is None else (sent, record["series"]["interval_s"])


def flow_ids(record: Record, kind: str) -> list[str]:
    """The flows of a kind."""
    return [flow["id"] for flow in record["flows"] if flow["kind"] == kind]


def mean_capacity_bps(record: Record) -> float:
    """Of the forward link."""
    return float(record["path"]["mean_capacity_bps"])


def guard_changes(record: Record, rule: str) -> int:
    """Decisions that a rule of the guard changed."""
    return int(record["flows"][0]["guard"][rule])


def decisions(record: Record) -> int:
    """All decisions of the estimator."""
    estimator = record["flows"][0]["estimator"]
    return int(estimator["decisions"] + estimator["fallback_decisions"])


def time_inactive(record: Record) -> float:
    """Share of the decisions, 0 to 1, that a pool's first member did not make."""
    return float(1 - record["flows"][0]["pool"]["members"][0]["pilot_share"])


def active_until_s(record: Record) -> float:
    """When a pool's first member was replaced as the active controller; infinite for never."""
    held: float | None = record["flows"][0]["pool"]["first_pilot_held_s"]
    return float("inf") if held is None else held


def disturbances(record: Record) -> list[str]:
    """What the machine did to a call."""
    return list(record["call"]["disturbed"])


def undisturbed(records: Records) -> list[Record]:
    """The calls whose measures are valid."""
    return [record for record in records if not disturbances(record)]
