"""The records of a suite's runs, by set, and why a set has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from weir_eval.measures.run_values import Metric, Run, run_values
from weir_eval.records.call_record import CallRecord
from weir_eval.records.record import Record
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.scenario_sets import ScenarioSet, Settings, base_name
from weir_sim.controllers import POLICY
from weir_traces.schema.scenario import Scenario

NOT_CHOSEN = "was not chosen"
NO_CALLS = "no calls were made; --calls makes them, with Chromium"
_REASONS = 3

if TYPE_CHECKING:
    from weir_calls.call.plan import CallSettings


@dataclass
class CalledSets:
    """Calls that were made: records by set, settings by key of the call, reports by kind of call, and failures."""

    by_set: dict[str, list[CallRecord]] = field(default_factory=dict)
    settings: dict[str, CallSettings] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    pages: dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """The runs of a suite.

    Attributes:
        settings: settings of the command line.
        sets: scenarios by set, of replays and calls.
        replays: records of replays by set.
        calls: records of calls by set, under other names than those of replays; empty if no calls were made.
        called: settings of the calls by key.
        pools: specifications of pools by the suite's names for them.
        with_series: loads the time series of a record.
    """

    settings: Settings
    sets: Mapping[str, ScenarioSet]
    replays: Mapping[str, Sequence[RunRecord]]
    with_series: Callable[[RunRecord], RunRecord] = lambda record: record
    calls: Mapping[str, Sequence[CallRecord]] = field(default_factory=dict)
    called: Mapping[str, CallSettings] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)

    def replays_of(self, *names: str) -> list[RunRecord]:
        """The replays of these sets."""
        return [record for name in names for record in self.replays.get(name, [])]

    def run_values(
        self, name: str, controller: str, metric: Metric, where: Callable[[Scenario], bool] | None = None
    ) -> dict[Run, float]:
        """A metric of a controller's replays or undisturbed calls of a set, without undefined values.

        Args:
            name: name of the set.
            controller: its name, or a suite's name for a pool.
            metric: name of a measure, or a function of a record with its series.
            where: condition on scenarios; None: all.
        """
        records: Sequence[Record] = (
            self.replays[name] if name in self.replays else undisturbed(self.calls.get(name, []))
        )
        if where is not None:
            chosen = {scenario.name for scenario in self.scenarios(name) if where(scenario)}
            records = [record for record in records if record.scenario in chosen]
        return run_values(records, self.pools.get(controller, controller), self._reading_series(metric))

    def scenarios(self, name: str) -> Sequence[Scenario]:
        """The scenarios of a set; empty for a set that was not chosen."""
        return self.sets[name].scenarios if name in self.sets else ()

    def why_absent(self, names: Iterable[str], controller: str = POLICY, others: Sequence[str] = ()) -> str:
        """Why sets have no scenario on which a controller and each of the others ran; empty if all have one."""
        reasons = set()
        for name in names:
            completed = self._completed(name, controller)
            for other in others or (controller,):
                of_other = self._completed(name, other)
                if not completed & of_other:
                    absent = controller if not completed else other if not of_other else ""
                    pair = f"no pair of {controller} and {other} on {name} completed"
                    reasons.add(self._missing(name) or (f"no run of {absent} on {name}" if absent else pair))
        return "; ".join(sorted(reasons)[:_REASONS])

    def why_no_pair(self, names: Sequence[str]) -> str:
        """Why sets of calls have no comparable pair."""
        disturbed = {why for name in names for record in self.calls.get(name, []) for why in record.call.disturbed}
        if disturbed:
            return f"no undisturbed pair of calls: {'; '.join(sorted(disturbed)[:_REASONS])}"
        first = next((name for name in names if name in self.sets), names[0])
        return (self._missing(first) or "no complete pair of calls") if self.called else NO_CALLS

    def _reading_series(self, metric: Metric) -> Metric:
        if isinstance(metric, str):
            return metric
        return lambda record: metric(self.with_series(record) if isinstance(record, RunRecord) else record)

    def _completed(self, name: str, controller: str) -> set[str]:
        """The scenarios of a set on which a replay of a controller completed."""
        wanted = self.pools.get(controller, controller)
        return {record.scenario for record in self.replays_of(name) if record.controller == wanted}

    def _missing(self, name: str) -> str:
        return self.sets[name].missing if name in self.sets else f"the set {base_name(name)} {NOT_CHOSEN}"


def delay_p95_ms(record: RunRecord) -> float | None:
    """95th percentile of the one-way delay of the flow under test."""
    return record.flows[0].delay_ms.get("p95")


def undisturbed(records: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls whose measures are valid."""
    return [record for record in records if not record.call.disturbed]
