"""What a set of calls says: the same `summary.json` as that of a replay, of calls that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.qoe_eval.call.metric_table import CALL_METRICS
from weir.qoe_eval.measures.summary import summarise
from weir.registry import PRESETS

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A call as the report shows it. `case` is its scenario, with what else sets it apart from other calls of the set;
    `controller` its controller, with the objective where the set has several.
    """

    record: Record
    case: str
    controller: str

    @property
    def why_left_out(self) -> list[str]:
        """Why its measures are in no mean: disturbed, or ended before its time. Empty: they are."""
        call = self.record["call"]
        failure = [f"ended before its time: {call['failure']}"] if call.get("failure") else []
        return failure + [f"disturbed: {reason}" for reason in call.get("disturbed") or []]


def read_calls(records: Sequence[Record]) -> list[Call]:
    """The calls of records, each once: of two with the same settings and seed, the later."""
    varied = [name for name in ("sender", "codec", "height") if len({r["call"].get(name) for r in records}) > 1]
    objectives = Counter(tuple(r["objective"]) for r in records if r.get("objective"))
    usual = objectives.most_common(1)[0][0] if objectives else None
    calls: dict[tuple[str, str, int], Call] = {}
    for record in records:
        case = ", ".join([record["scenario"], *(_described(name, record["call"]) for name in varied)])
        objective = tuple(record["objective"]) if record.get("objective") else usual
        controller = record["controller"] + ("" if objective == usual else f"-{_objective_name(objective)}")
        calls[case, controller, record["seed"]] = Call(record, case, controller)
    return list(calls.values())


def summarise_calls(calls: Sequence[Call], run: Mapping[str, Any]) -> dict[str, Any]:
    """`summary.json`: over the calls that neither failed nor were disturbed; `left_out` lists the others, each with
    scenario, controller, seed and `why`.
    """
    compared = [
        {"scenario": c.case, "controller": c.controller, "seed": c.record["seed"], "metrics": c.record["metrics"]}
        for c in calls
        if not c.why_left_out
    ]
    left_out = [
        {"scenario": c.case, "controller": c.controller, "seed": c.record["seed"], "why": c.why_left_out}
        for c in calls
        if c.why_left_out
    ]
    return summarise(compared, run, CALL_METRICS) | {"left_out": left_out}


def _described(name: str, call: Mapping[str, Any]) -> str:
    return f"{call.get('width')}x{call.get('height')}" if name == "height" else str(call.get(name))


def _objective_name(objective: Sequence[float] | None) -> str:
    """A preset's name, else the weights in percent; letters, digits and dashes only."""
    if objective is None:
        return "unknown"
    for name, weights in PRESETS.items():
        if all(abs(a - b) < 1e-6 for a, b in zip(weights, objective, strict=False)):
            return name
    return "-".join(f"{100 * weight:.0f}" for weight in objective)
