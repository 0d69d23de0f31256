"""The data set of `weir call --record-transitions`: decisions of calls, joined with what was in force after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weir.files.model import read_model
from weir.installation import require
from weir.qoe_eval.json_lines import number, read_objects
from weir.qoe_eval.records import CallRecord
from weir.trainer.offline.transitions import RecordedCall
from weir.trainer.offline.writer import check_model, check_target, write_data_set

# Reasons of an estimate that is not of the policy.
_NOT_DECIDED = ("start", "fallback", "held")


class TransitionRecorder:
    """Writes the decisions of those of the planned calls that are complete and undisturbed.

    Args:
        folder: of the data set.
        model: whose decisions they are.
        exploration: noise of the decisions.
        logs: the log of estimates of each planned call, by its key.

    Raises:
        InputError: the folder holds something else, or the model's decisions cannot be recorded.
        MissingComponent: Minari is not installed.
    """

    def __init__(self, folder: Path, model: Path, exploration: float, logs: Mapping[str, Path]) -> None:
        require("train")
        self._folder = folder
        self._exploration = exploration
        self._logs = logs
        self._model = read_model(model)
        check_model(self._model)
        check_target(folder, set(logs))

    def write(self, records: Sequence[CallRecord]) -> str:
        """Writes the data set, and returns a sentence about it."""
        recorded = []
        for record in records:
            if record.key in self._logs and not record.call.disturbed:
                lines = read_objects(self._logs[record.key])
                recorded.append(recorded_call(record.key, lines, len(self._model.features)))
        steps = write_data_set(self._folder, self._model, self._exploration, recorded)
        return f"\n{self._folder}: {steps:,} transitions of {len(recorded)} undisturbed calls (experimental)"


@dataclass
class _Decision:
    """A line "decision", `target_bps` in force after it, and whether that is what the guard made of its action."""

    time_us: float
    newest: list[float]
    objective: list[float]
    policy_action: float | None
    action: float | None
    is_reset: bool
    target_bps: float
    decided: bool = False


def recorded_call(key: str, lines: Iterable[Mapping[str, Any]], features: int) -> RecordedCall:
    """A call from its log of estimates; lines that are broken are skipped."""
    found: list[_Decision] = []
    in_force = 0.0
    for line in lines:
        kind, time_us = line.get("type", "estimate"), number(line.get("time_us"))
        if kind == "decision":
            newest, objective = _numbers(line.get("observation"), features), _numbers(line.get("objective"), 3)
            if time_us is None or not newest or not objective:
                continue
            wanted, action = number(line.get("policy_action")), number(line.get("action"))
            found.append(_Decision(time_us, newest, objective, wanted, action, line.get("reset") is True, in_force))
        elif kind == "estimate" and (target := number(line.get("target_rate_bps"), 0)) is not None:
            in_force = target
            if found and found[-1].time_us == time_us:
                latest = found[-1]
                latest.target_bps = target
                latest.decided = None not in (latest.policy_action, latest.action)
                latest.decided &= line.get("controller") == "weir" and line.get("reason") not in _NOT_DECIDED
    return RecordedCall(
        key=key,
        newest=np.array([one.newest for one in found], np.float32).reshape(-1, features),
        objectives=np.array([one.objective for one in found]).reshape(-1, 3),
        actions=np.array([one.action or 0.0 for one in found]),
        policy_actions=np.array([one.policy_action or 0.0 for one in found]),
        targets_bps=np.array([one.target_bps for one in found]),
        decided=np.array([one.decided for one in found], bool),
        resets=np.array([one.is_reset for one in found], bool),
    )


def _numbers(values: Any, count: int) -> list[float] | None:
    """A list of so many numbers; None for anything else."""
    if not isinstance(values, list) or len(values) != count:
        return None
    found = [value for one in values if (value := number(one)) is not None]
    return found if len(found) == count else None
