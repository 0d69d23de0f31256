"""What `weir experiment policy` has run, and the comparisons that several of its rows need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.qoe_eval.experiments.policy.sets import COMPARED_SETS, ScenarioSet
from weir.qoe_eval.measures.summary import Means
from weir.qoe_eval.records import RunRecord

Records = Sequence[RunRecord]


@dataclass(frozen=True)
class PolicyResults:
    """`records` by set, objective balanced; `presets` the compared sets again, by preset, of the controller weir;
    `with_series` gives a record its series back.
    """

    sets: Mapping[str, ScenarioSet]
    records: Mapping[str, Records]
    presets: Mapping[str, Records]
    with_series: Callable[[Mapping[str, Any]], Mapping[str, Any]]

    def compared(self) -> Records:
        """The records of all compared sets together."""
        return [record for name in COMPARED_SETS for record in self.records.get(name, [])]

    def absent(self, names: Iterable[str] = COMPARED_SETS) -> str:
        """Why sets of these names have no scenario on which weir and gcc both ran; empty when all have one."""
        reasons = {
            self.sets[name].missing or f"no pair of weir and gcc on {name} completed"
            for name in names
            if not _scenarios(self.records.get(name, []), "weir") & _scenarios(self.records.get(name, []), "gcc")
        }
        return "; ".join(sorted(reasons))

    def of(self, set_name: str, controller: str, scenario_prefix: str = "") -> list[Mapping[str, Any]]:
        """Records of a set and a controller with their series, of scenarios whose names begin so."""
        return [
            self.with_series(record)
            for record in self.records.get(set_name, [])
            if record["controller"] == controller and record["scenario"].startswith(scenario_prefix)
        ]


def _scenarios(records: Records, controller: str) -> set[str]:
    return {record["scenario"] for record in records if record["controller"] == controller}


def distance_closed(means: Means) -> float | None:
    """The part of the way from gcc to oracle that weir goes: sum(weir - gcc) / sum(oracle - gcc) of the challenge score
    over scenarios. 0 is gcc, 1 the oracle; nothing where the oracle is not ahead of gcc.
    """
    complete = [
        {name: by[name]["challenge"] for name in ("weir", "gcc", "oracle")}
        for by in means.values()
        if all("challenge" in by.get(name, {}) for name in ("weir", "gcc", "oracle"))
    ]
    whole = sum(one["oracle"] - one["gcc"] for one in complete)
    return sum(one["weir"] - one["gcc"] for one in complete) / whole if whole > 0 else None
