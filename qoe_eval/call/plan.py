"""Which calls a command makes, and which of them are there already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.files.output import file_name
from weir.qoe_eval.call.logs.file_names import RECORD
from weir.qoe_eval.call.settings import CallSettings, ReceiverKind, SenderKind
from weir.qoe_eval.records import CallRecord
from weir.qoe_eval.runs.jobs import member_digests
from weir.qoe_eval.runs.own_controllers import OwnController
from weir.registry import is_pool, uses_model
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.variation import vary

CALLS = "calls"
# Scenarios of up to two minutes are called in full; of longer ones, the first minute.
_LONGEST_DURATION_S = 120.0
_CUT_DURATION_S = 60.0
# Settings that a key has in another form.
_NOT_AS_THEY_ARE = ("scenario", "out", "model", "objective", "own")


@dataclass(frozen=True)
class CallPlan:
    """Calls of every scenario, as each seed varies it (`weir.traces.schema.variation`), under every controller.
    `duration_s` None: `call_duration_s`. `own`: the user's own controller, whose name is among `controllers`. `orders`:
    those of every call.
    """

    scenarios: Sequence[Scenario]
    sender: SenderKind
    controllers: Sequence[str]
    objective: tuple[float, float, float]
    seeds: Sequence[int]
    width: int
    height: int
    codec: str
    max_bitrate_bps: int
    model: Path | None
    duration_s: float | None = None
    own: OwnController | None = None
    orders: tuple[tuple[float, dict[str, Any]], ...] = ()
    receiver: ReceiverKind = "native"


def call_duration_s(scenario: Scenario) -> float:
    """How long a call lasts where nothing else is said: as its scenario, or a minute where that is over two."""
    return scenario.duration_s if scenario.duration_s <= _LONGEST_DURATION_S else _CUT_DURATION_S


def plan_calls(plan: CallPlan, out: Path, programs: Sequence[Path]) -> dict[str, CallSettings]:
    """The calls of a plan by their key, which stands for everything that determines a call, in the order in which they
    are made: seeds outermost, and the controllers of a pair one after the other, so that they see the same machine.

    Args:
        plan: what to call.
        out: the folder that holds a folder for every call.
        programs: executables that take part; another build is another call.
    """
    builds = [_sha256_of_file(program) for program in programs]
    model = _sha256_of_file(plan.model) if plan.model else None
    calls = {}
    for seed in plan.seeds:
        for scenario, variation in (vary(scenario, seed) for scenario in plan.scenarios):
            for controller in plan.controllers:
                own = plan.own if plan.own and plan.own.name == controller else None
                settings = CallSettings(
                    scenario=scenario,
                    sender=plan.sender,
                    receiver=plan.receiver,
                    controller=controller,
                    objective=plan.objective,
                    duration_s=plan.duration_s or call_duration_s(scenario),
                    seed=seed,
                    width=plan.width,
                    height=plan.height,
                    out=out / CALLS / file_name(scenario.name, controller, seed),
                    codec=plan.codec,
                    max_bitrate_bps=plan.max_bitrate_bps,
                    model=plan.model if uses_model(controller) and not own else None,
                    variation=variation,
                    own=own,
                    orders=plan.orders,
                )
                calls[_key(settings, [*builds, model if settings.model else None])] = settings
    return calls


def done_calls(calls: Mapping[str, CallSettings], records: Sequence[CallRecord]) -> dict[str, CallRecord]:
    """The records, by key, of the calls that are complete and whose folder is still there."""
    return {
        record.key: record for record in records if record.key in calls and (calls[record.key].out / RECORD).is_file()
    }


def _key(settings: CallSettings, builds: Sequence[str | None]) -> str:
    document = {name: value for name, value in vars(settings).items() if name not in _NOT_AS_THEY_ARE}
    # Under GCC alone the objective means nothing.
    objective = settings.objective if settings.follows_objective else None
    identity = [settings.scenario.to_dict(), document, objective, builds]
    if is_pool(settings.controller):
        identity.append(member_digests(settings.controller))
    if settings.own:
        identity.append(settings.own.identity)
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


def _sha256_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
