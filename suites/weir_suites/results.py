"""The records of a suite's runs, by set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from weir_eval.records.call_record import CallRecord
from weir_eval.records.record import Record
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.scenario_sets import ScenarioSet, Settings, base_name
from weir_sim.controllers import POLICY
from weir_traces.schema.scenario import Scenario

Metric = str | Callable[[Any], float | None]
"""The name of a measure, or a function of a record, which then includes its series."""
By = Literal["scenario", "run", "set", "call"]
"""The unit of a value: a scenario (mean over its seeds), a run, a set (mean over its scenarios), or a real call."""
Among = Callable[[Scenario], bool]
Run = tuple[str, int]
"""Scenario and seed."""
Values = dict[Run, float]
"""Values by scenario or set and by seed, which is 0 for means."""

NOT_CHOSEN = "was not chosen"
NO_CALLS = "no calls were made; --calls makes them, with Chromium"
_REASONS = 3

if TYPE_CHECKING:
    from weir_calls.call.plan import CallSettings


@dataclass(frozen=True)
class Results:
    """The runs of a suite.

    Attributes:
        settings: settings of the command line.
        sets: scenarios by set, of replays and calls.
        replays: records of replays by set.
        calls: records of calls by set; empty if no calls were made.
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

    def of(self, *names: str) -> list[RunRecord]:
        """The replays of these sets."""
        return [record for name in names for record in self.replays.get(name, [])]

    def values(
        self,
        name: str,
        controller: str,
        metric: Metric,
        by: By = "scenario",
        among: Among | None = None,
        runs: Collection[Run] | None = None,
    ) -> Values:
        """A metric of a controller on a set, without undefined values.

        Args:
            name: name of the set.
            controller: its name, or a suite's name for a pool.
            metric: metric of replays, or of undisturbed calls.
            by: unit of a value.
            among: condition on scenarios; None: all.
            runs: the runs to use, by scenario and seed; None: all.
        """
        records: Sequence[Record] = undisturbed(self.calls.get(name, [])) if by == "call" else self.of(name)
        chosen = {scenario.name for scenario in self.scenarios(name) if among(scenario)} if among else None
        found: dict[Run, list[float]] = {}
        for record in records:
            if (
                record.controller == self.pools.get(controller, controller)
                and (chosen is None or record.scenario in chosen)
                and (runs is None or (record.scenario, record.seed) in runs)
                and (value := self._value(record, metric)) is not None
            ):
                seed = record.seed if by in ("run", "call") else 0
                found.setdefault((record.scenario, seed), []).append(value)
        values = {key: fmean(some) for key, some in found.items()}
        return {(name, 0): fmean(values.values())} if values and by == "set" else values

    def scenarios(self, name: str) -> Sequence[Scenario]:
        """The scenarios of a set; empty for a set that was not chosen."""
        return self.sets[name].scenarios if name in self.sets else ()

    def why_absent(self, names: Iterable[str], own: str = POLICY, others: Sequence[str] = ()) -> str:
        """Why sets have no scenario on which a controller and each of the others ran; empty if all have one."""
        reasons = set()
        for name in names:
            own_ran = self._ran(name, own)
            for other in others or (own,):
                ran = self._ran(name, other)
                if not own_ran & ran:
                    absent = own if not own_ran else other if not ran else ""
                    pair = f"no pair of {own} and {other} on {name} completed"
                    reasons.add(self._missing(name) or (f"no run of {absent} on {name}" if absent else pair))
        return "; ".join(sorted(reasons)[:_REASONS])

    def why_no_pair(self, names: Sequence[str]) -> str:
        """Why sets of calls have no comparable pair."""
        disturbed = {why for name in names for record in self.calls.get(name, []) for why in record.call.disturbed}
        if disturbed:
            return f"no undisturbed pair of calls: {'; '.join(sorted(disturbed)[:_REASONS])}"
        first = next((name for name in names if name in self.sets), names[0])
        return (self._missing(first) or "no complete pair of calls") if self.called else NO_CALLS

    def _value(self, record: Record, metric: Metric) -> float | None:
        if isinstance(metric, str):
            return record.measures.get(metric)
        return metric(self.with_series(record) if isinstance(record, RunRecord) else record)

    def _ran(self, name: str, controller: str) -> set[str]:
        wanted = self.pools.get(controller, controller)
        return {record.scenario for record in self.of(name) if record.controller == wanted}

    def _missing(self, name: str) -> str:
        return self.sets[name].missing if name in self.sets else f"the set {base_name(name)} {NOT_CHOSEN}"


def delay_p95_ms(record: RunRecord) -> float | None:
    """95th percentile of the one-way delay of the flow under test."""
    return record.flows[0].delay_ms.get("p95")


def undisturbed(records: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls whose measures are valid."""
    return [record for record in records if not record.call.disturbed]
