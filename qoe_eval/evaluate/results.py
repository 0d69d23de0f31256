"""The records of a suite's runs, by set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from weir.qoe_eval.call.plan import CallSettings
from weir.qoe_eval.evaluate.scenario_sets import ScenarioSet, Settings, base_name
from weir.qoe_eval.measures.flow_series import FlowSeries, read_flow_series
from weir.qoe_eval.records import CallRecord, Record, RunRecord
from weir.registry import POLICY

RunMeasure = Callable[[RunRecord], float | None]

NOT_CHOSEN = "was not chosen"
NO_CALLS = "no calls were made; --calls makes them, with Chromium"


@dataclass(frozen=True)
class Results:
    """The runs of a suite.

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
    replays: Mapping[str, Sequence[RunRecord]]
    with_series: Callable[[RunRecord], RunRecord] = lambda record: record
    calls: Mapping[str, Sequence[CallRecord]] = field(default_factory=dict)
    called: Mapping[str, CallSettings] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)

    def of(self, *names: str) -> list[RunRecord]:
        """The replays of these sets."""
        return [record for name in names for record in self.replays.get(name, [])]

    def runs(self, name: str, controller: str, *parts: str) -> list[RunRecord]:
        """Replays of a set and a controller, of scenarios whose names have all these parts (between hyphens)."""
        controller = self.pools.get(controller, controller)
        return [
            record
            for record in self.replays.get(name, [])
            if record.controller == controller and set(parts) <= set(record.scenario.split("-"))
        ]

    def by_scenario(self, name: str, controller: str, measure: RunMeasure, *parts: str) -> dict[str, float]:
        """A measure of `runs` by scenario, the mean over seeds; scenarios that do not define it are left out."""
        values: dict[str, list[float]] = {}
        for record in self.runs(name, controller, *parts):
            value = measure(record)
            if value is not None:
                values.setdefault(record.scenario, []).append(value)
        return {scenario: mean(some) for scenario, some in values.items()}

    def series(self, record: RunRecord) -> FlowSeries | None:
        """The series of the flow under test: the record's first."""
        whole = self.with_series(record)
        return read_flow_series(whole, whole.flows[0])

    def why_absent(self, names: Iterable[str], other: str = "gcc", own: str = POLICY) -> str:
        """Why sets of these names have no scenario on which both ran; empty when all have one."""
        reasons = set()
        for name in names:
            ran = [{record.scenario for record in self.runs(name, one)} for one in (own, other)]
            if not ran[0] & ran[1]:
                absent = next((one for one in (own, other) if not self.runs(name, one)), None)
                what = (
                    f"no run of {absent} on {name}" if absent else f"no pair of {own} and {other} on {name} completed"
                )
                reasons.add(self._missing(name) or what)
        return "; ".join(sorted(reasons))

    def why_any_absent(self, name: str, others: Iterable[str], own: str = POLICY) -> str:
        """Why a set has no scenario on which it and one of the others both ran; empty when it has for all."""
        return "; ".join(why for other in others if (why := self.why_absent([name], other, own)))

    def why_no_run(self, name: str) -> str:
        """Why a set has no run that a measure can use."""
        return self._missing(name) or "no such run"

    def why_no_pair(self, name: str, records: Sequence[CallRecord]) -> str:
        """Why a set has no pair of calls that can be compared."""
        reasons = sorted({reason for record in records for reason in record.call.disturbed})
        if reasons:
            return f"no undisturbed pair of calls: {'; '.join(reasons[:3])}"
        return (self._missing(name) or "no complete pair of calls") if self.called else NO_CALLS

    def _missing(self, name: str) -> str:
        return self.sets[name].missing if name in self.sets else f"the set {base_name(name)} {NOT_CHOSEN}"


def metric(name: str) -> Callable[[Record], float | None]:
    """A measure of the run or call as a whole."""
    return lambda record: record.measures.get(name)


def delay_p95_ms(record: RunRecord) -> float | None:
    """95th percentile of the one-way delay of the flow under test."""
    return record.flows[0].delay_ms.get("p95")


def undisturbed(records: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls whose measures are valid."""
    return [record for record in records if not record.call.disturbed]
