"""The summary of the comparable calls of a set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weir_calls.call.plan import unusual
from weir_calls.call.user_changes import same_cuts
from weir_eval.measures.run_causes import summarise_causes
from weir_eval.measures.summary import summarise
from weir_eval.records.call_record import CallDetails, CallRecord
from weir_eval.records.summary import ExcludedCall, RunAbout, Summary
from weir_sim.controllers import PRESETS

UNEQUAL = "unequal paths: the user cut the link at other times than in the calls it is compared with"


@dataclass(frozen=True)
class Call:
    """A call in the report. `case`: its scenario and the settings that vary in the set. `controller`: its name, with
    objective, decision delay and negotiation if these vary in the set.
    `unequal`: why its path differs from that of the calls with the same case and seed; empty if it does not.
    """

    record: CallRecord
    case: str
    controller: str
    unequal: str = ""

    @property
    def exclusion_reasons(self) -> list[str]:
        """Why means exclude its measures: disturbed, stopped, ended early, or on another path than its pair."""
        call = self.record.call
        failure = [f"ended early: {call.failure}"] if call.failure else []
        stopped = [self.record.stopped] if self.record.stopped else []
        unequal = [self.unequal] if self.unequal else []
        return failure + stopped + unequal + [f"disturbed: {reason}" for reason in call.disturbed]


def read_calls(records: Sequence[CallRecord]) -> list[Call]:
    """The calls of records; of two with the same settings and seed, the later one."""
    varied = [name for name in ("sender", "codec", "height") if len({getattr(r.call, name) for r in records}) > 1]
    objectives = Counter(r.objective for r in records if r.objective)
    usual = objectives.most_common(1)[0][0] if objectives else None
    labels = defaultdict[str, set[str]](set)
    for record in records:
        labels[record.controller].add(_label(record.call))
    calls: dict[tuple[str, str, int], Call] = {}
    for record in records:
        case = ", ".join([record.scenario, *(_described(name, record.call) for name in varied)])
        objective = record.objective or usual
        controller = record.controller + ("" if objective == usual else f"-{_objective_name(objective)}")
        if len(labels[record.controller]) > 1:
            controller += _label(record.call)
        calls[case, controller, record.seed] = Call(record, case, controller)
    pairs = defaultdict[tuple[str, int], list[CallRecord]](list)
    for (case, _, seed), call in calls.items():
        if not call.exclusion_reasons:
            pairs[case, seed].append(call.record)
    return [
        call if same_cuts(pairs[case, seed]) else replace(call, unequal=UNEQUAL)
        for (case, _, seed), call in calls.items()
    ]


def compared_records(calls: Iterable[Call]) -> list[CallRecord]:
    """The records of the calls that nothing ended early or disturbed, with their names in the report."""
    return [
        call.record.model_copy(update={"scenario": call.case, "controller": call.controller})
        for call in calls
        if not call.exclusion_reasons
    ]


def summarise_calls(calls: Sequence[Call], run: RunAbout) -> Summary:
    """`summary.json` of the calls that nothing ended early or disturbed; `left_out` lists the others."""
    excluded = [
        ExcludedCall(scenario=c.case, controller=c.controller, seed=c.record.seed, why=c.exclusion_reasons)
        for c in calls
        if c.exclusion_reasons
    ]
    compared = compared_records(calls)
    more = {"left_out": excluded, "causes": summarise_causes(compared)}
    return summarise(compared, run, "call").model_copy(update=more)


def _described(name: str, call: CallDetails) -> str:
    return f"{call.width}x{call.height}" if name == "height" else str(getattr(call, name))


def _label(call: CallDetails) -> str:
    """The suffix of a controller's name; empty for a call with default settings."""
    return "".join(f"-{part}" for part in unusual(call)).lower().replace(" ", "-")


def _objective_name(objective: Sequence[float] | None) -> str:
    """A preset's name, else the weights in percent; letters, digits and dashes only."""
    if objective is None:
        return "unknown"
    for name, weights in PRESETS.items():
        if all(abs(a - b) < 1e-6 for a, b in zip(weights, objective, strict=False)):
            return name
    return "-".join(f"{100 * weight:.0f}" for weight in objective)
