"""What the JSON of an experiment of replays says under `run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.jobs import ReplayPlan, model_description
from weir.qoe_eval.runs.replay import ReplayOutcome


def replay_record(
    started_s: float, plan: ReplayPlan, outcome: ReplayOutcome, failures: Sequence[str]
) -> dict[str, Any]:
    """The command (`command_record`), how many runs, their seeds, model and versions, and what failed.

    Args:
        started_s: of `time.monotonic`.
        plan: any of the experiment's that has its seeds and its model.
        outcome: of all its plans.
        failures: as sentences.
    """
    model = model_description(plan)
    return {
        **command_record(started_s),
        "runs": len(outcome.records),
        "seeds": list(plan.seeds),
        "model": model.model_dump() if model else {},
        "versions": outcome.records[0].versions if outcome.records else {},
        "failures": list(failures),
    }
