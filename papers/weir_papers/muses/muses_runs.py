"""The replays of `weir paper muses`: plans by set and by who runs it, and their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weir_eval.records.run_record import RunRecord
from weir_eval.runs.jobs import ReplayPlan, SeriesOfPlan
from weir_eval.runs.run_plans import ReplayOutcome
from weir_eval.runs.scenario_sets import ScenarioSet
from weir_eval.runs.store import RunStore
from weir_papers.common import Case, case_of, with_tcp
from weir_papers.muses.sets import CHANGE, CONGESTION_CONTROLS, CROSS_TRAFFIC, FLUCTUATING, SHARING, TABLE_III
from weir_sim.controllers import PRESETS
from weir_traces.schema.scenario import Scenario

MUSES = "weir"
GLOBAL_TREE = "global-tree"
TEACHER = "teacher"
CONTROLLERS = (MUSES, "gcc", "pcc", "nada", "rule", "oracle")
# Models beside the measured one run in these folders of the command's.
FOLDERS = {GLOBAL_TREE: "global", TEACHER: "teacher-runs"}
# Where rows compare fewer.
_FEW = {CHANGE: (MUSES, "gcc", "oracle"), SHARING: (MUSES, "gcc", "oracle"), CROSS_TRAFFIC: (MUSES, "gcc")}
# Table III is drawn as it is: its networks need no seeds that vary them.
_AS_WRITTEN = (0,)
# In these a set's rows read time series.
_SERIES_SETS = (FLUCTUATING, CHANGE, SHARING, CROSS_TRAFFIC)


def muses_plans(
    sets: Mapping[str, ScenarioSet], seeds: Sequence[int], model: Path, simulator: Path
) -> dict[tuple[str, str], ReplayPlan]:
    """By set and who runs it: a congestion control of TCP, or empty for the controllers of RTP."""
    plans = {}
    for name, scenario_set in sets.items():
        varied = seeds if name in (SHARING, CROSS_TRAFFIC) else _AS_WRITTEN
        plans[name, ""] = _plan(scenario_set.scenarios, _FEW.get(name, CONTROLLERS), varied, model, simulator, name)
        controls = CONGESTION_CONTROLS if name in TABLE_III else ("cubic",) if name == SHARING else ()
        for control in controls:
            # The controller of RTP flows, of which there are none.
            alone = [with_tcp(scenario, control) for scenario in scenario_set.scenarios]
            plans[name, control] = _plan(alone, ("rule",), varied, None, simulator, name)
    return plans


def plans_beside(
    sets: Mapping[str, ScenarioSet], controller: str, model: Path, simulator: Path
) -> dict[tuple[str, str], ReplayPlan]:
    """Those of another model in place of the mixture, one of FOLDERS."""
    return {
        (name, controller): _plan(sets[name].scenarios, (MUSES,), _AS_WRITTEN, model, simulator, name)
        for name in (*TABLE_III, CHANGE)
    }


def muses_results(
    sets: Mapping[str, ScenarioSet],
    plans: Mapping[tuple[str, str], ReplayPlan],
    outcome: ReplayOutcome,
    out: Path,
    other_models: Sequence[tuple[Mapping[tuple[str, str], ReplayPlan], ReplayOutcome]] = (),
) -> MusesResults:
    """The records of `muses_plans`, and of the models beside them, by set and by who ran them."""
    records: dict[str, dict[str, list[RunRecord]]] = {name: {} for name in sets}
    by_plan = list(zip(plans, outcome.by_plan, strict=True))
    for others, of_others in other_models:
        by_plan += zip(others, of_others.by_plan, strict=True)
    for (name, controller), found in by_plan:
        for record in found:
            records[name].setdefault(controller or record.controller, []).append(record)
    own, stores = RunStore(out), {controller: RunStore(out / folder) for controller, folder in FOLDERS.items()}
    return MusesResults(sets, records, lambda controller, record: stores.get(controller, own).with_series(record))


def _plan(
    scenarios: Sequence[Scenario], controllers: Sequence[str], seeds: Sequence[int], model: Path | None,
    simulator: Path, set_name: str,
) -> ReplayPlan:  # fmt: skip
    series: SeriesOfPlan = "kept" if set_name in _SERIES_SETS else "measured"
    return ReplayPlan(scenarios, controllers, PRESETS["balanced"], seeds, model, simulator, series)


@dataclass(frozen=True)
class MusesResults:
    """Records by set and by who ran it: a controller, one of FOLDERS (the controller weir with that model), or a
    congestion control of TCP. `with_series` gives a record its series back, by who ran it.
    """

    sets: Mapping[str, ScenarioSet]
    records: Mapping[str, Mapping[str, Sequence[RunRecord]]]
    with_series: Callable[[str, RunRecord], RunRecord]

    def of(self, set_name: str, controller: str) -> Sequence[RunRecord]:
        """Records of a set; empty where there are none."""
        return self.records.get(set_name, {}).get(controller, [])

    def whole(self, set_name: str, controller: str) -> list[RunRecord]:
        """The same with their series."""
        return [self.with_series(controller, record) for record in self.of(set_name, controller)]

    def cases(self, set_name: str) -> dict[str, list[Case]]:
        """Each run of each controller on networks of Table III."""
        return {
            controller: [case for record in records if (case := case_of(record))]
            for controller, records in self.records.get(set_name, {}).items()
        }
