"""Goals on what follows a fault of the path: how soon a call is back at its rate of before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from weir.qoe_eval.experiments.robust.measures import recovery_s
from weir.qoe_eval.experiments.robust.results import COMPARED, Measure, Record, RobustResults
from weir.qoe_eval.report.goal_table import Goal, Row, measured, missed, not_measured
from weir.traces.generate.families.faults import FAULT_BEGINS_S, FAULT_LENGTHS_S

_CONTROLLERS = (*COMPARED, "rule")
_WORDS = {
    "feedback50": "half of the feedback lost for 5 s",
    "feedback100": "all feedback lost for 5 s",
    "feedback100half": "all feedback lost for 5 s, at half the rate",
    "outage": "outage of 10 s",
    "queue1packet": "half the rate for 10 s, queue of one packet",
    "queue5s": "half the rate for 10 s, queue of 5 s",
}


def recovery_rows(results: RobustResults) -> Iterator[Row]:
    """A row for each fault, whose slowest scenario decides; the others beside it."""
    goal = Goal("at most", 5.0, "s", decimals=1)
    for fault, length_s in FAULT_LENGTHS_S.items():
        name, what = f"recovery_{fault}", f"{_WORDS[fault]}: recovered after, slowest scenario"
        found = {
            controller: results.by_scenario("fault", controller, _recovery(results, FAULT_BEGINS_S + length_s), fault)
            for controller in _CONTROLLERS
        }
        if not found["weir"]:
            yield not_measured(name, what, goal, "no such run")
            continue
        detail = "; ".join(f"{controller}: {_shown(values)}" for controller, values in found.items() if values)
        slowest_s = max(found["weir"].values())
        if math.isinf(slowest_s):
            yield missed(name, what, goal, "not within the call", detail)
        else:
            yield measured(name, what, goal, slowest_s, detail)


def _recovery(results: RobustResults, fault_ends_s: float) -> Measure:
    def recovery(record: Record) -> float | None:
        series = results.series_of(record)
        if series is None:
            return None
        return recovery_s(series, FAULT_BEGINS_S, fault_ends_s, record["flows"][0]["base_one_way_delay_ms"])

    return recovery


def _shown(by_scenario: Mapping[str, float]) -> str:
    """By rate and media: 4M-video 1.2 s."""
    return ", ".join(
        f"{'-'.join(scenario.split('-')[-2:])} {'never' if math.isinf(time_s) else f'{time_s:.1f} s'}"
        for scenario, time_s in by_scenario.items()
    )
