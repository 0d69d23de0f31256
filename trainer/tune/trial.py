"""One trial of a search: its record in its folder, and the training between its rungs.

    trials/0003/trial.json, training/ (as `weir train` writes it), 1500000/ (policy and replays of that rung)

The folder has the whole state of a trial: whoever runs it, here or on another machine, goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from weir.errors import InputError
from weir.files.output import alone_in, make_folder, write_text
from weir.qoe_eval.records import read_document
from weir.trainer.configuration.training import TrainingConfiguration, checked_configuration
from weir.trainer.configuration.tuning import with_parameters
from weir.trainer.tune.score import Score, score_model

TRIALS = "trials"
FILE = "trial.json"
TRAINING = "training"
POLICY = "policy.onnx"

OnScore = Callable[[Score], None]


class TrialRecord(BaseModel):
    """The scores of a trial so far. `parameters`: by their paths; `wall_s`: training and replays, of all parts."""

    model_config = ConfigDict(extra="forbid")

    number: int
    parameters: dict[str, JsonValue]
    scores: list[Score] = []
    state: Literal["running", "complete", "pruned", "failed"] = "running"
    error: str = ""
    wall_s: float = 0.0

    @property
    def name(self) -> str:
        """For people."""
        return f"trial {self.number}"

    @property
    def viewer_quality(self) -> float | None:
        """The latest."""
        return self.scores[-1].viewer_quality if self.scores else None


def trial_file(search: Path, number: int) -> Path:
    """The record of a trial, in its folder."""
    return search / TRIALS / f"{number:04}" / FILE


def save_trial(search: Path, record: TrialRecord) -> None:
    """Writes the record of a trial."""
    file = trial_file(search, record.number)
    make_folder(file.parent)
    write_text(file, record.model_dump_json(indent=1) + "\n")


def begin_trial(search: Path, number: int, parameters: dict[str, JsonValue]) -> None:
    """Writes the record of a trial unless it is there."""
    if not trial_file(search, number).is_file():
        save_trial(search, TrialRecord(number=number, parameters=parameters))


def read_trial(path: Path) -> TrialRecord:
    """The record in a file.

    Raises:
        InputError: it is none.
    """
    return read_document(path, TrialRecord, "record of a trial")


def read_trials(search: Path) -> list[TrialRecord]:
    """The records of a search, by number."""
    records = {path: read_trial(path) for path in sorted((search / TRIALS).glob(f"*/{FILE}"))}
    for path, record in records.items():
        if path != trial_file(search, record.number):
            raise InputError(f"{path}: is the record of another trial, {record.number}")
    return list(records.values())


def trial_configuration(base: TrainingConfiguration, record: TrialRecord) -> TrainingConfiguration:
    """The configuration of a trial, without the table `tune`.

    Raises:
        InputError: its settings contradict each other.
    """
    values = base.model_dump(mode="json", exclude_unset=True, exclude={"tune"})
    return checked_configuration(with_parameters(values, record.parameters))


def run_trial(
    search: Path, base: TrainingConfiguration, number: int, on_steps: Callable[[int], None], on_score: OnScore
) -> TrialRecord:
    """Trains and judges a trial, from where it is, until it is complete, pruned or failed.

    Args:
        search: the folder of the search.
        base: its configuration, with the table `tune`.
        number: of the trial, whose record is there.
        on_steps: called often with the steps so far; may raise KeyboardInterrupt.
        on_score: called after each rung.

    Raises:
        InputError: another process runs it, or its record cannot be written.
        KeyboardInterrupt: interrupted; the next call goes on.
    """
    file = trial_file(search, number)
    with alone_in(file.parent):
        record = read_trial(file)
        while record.state == "running":
            try:
                _complete_rung(search, base, record, on_steps)
            except Exception as error:
                record.state, record.error = "failed", str(error)
                save_trial(search, record)
            else:
                on_score(record.scores[-1])
    return record


def _complete_rung(
    search: Path, base: TrainingConfiguration, record: TrialRecord, on_steps: Callable[[int], None]
) -> None:
    # torch takes seconds to load.
    from weir.trainer.learning.stages import export_run, train_until

    started = time.monotonic()
    assert base.tune is not None
    configuration, folder = trial_configuration(base, record), trial_file(search, record.number).parent
    rung = len(record.scores)
    steps = base.tune.rung_steps(base.steps)[rung]
    train_until(configuration, folder / TRAINING, steps, lambda state: on_steps(state.steps))
    judged = folder / str(steps)
    make_folder(judged)
    export_run(folder / TRAINING, judged / POLICY)
    record.scores.append(score_model(judged / POLICY, steps, base.tune, configuration, judged))
    record.wall_s = round(record.wall_s + time.monotonic() - started, 1)
    if rung == base.tune.rungs - 1:
        record.state = "complete"
    elif not is_promoted(search, record, base.tune.reduction_factor):
        record.state = "pruned"
    save_trial(search, record)


def is_promoted(search: Path, record: TrialRecord, reduction_factor: int) -> bool:
    """Asynchronous successive halving: True for the best of every `reduction_factor` trials that have come so far."""
    rung = len(record.scores) - 1
    rivals = [
        other.scores[rung].viewer_quality
        for other in read_trials(search)
        if len(other.scores) > rung and other.number != record.number
    ]
    better = sum(rival > record.scores[rung].viewer_quality for rival in rivals)
    return better < max(1, (len(rivals) + 1) // reduction_factor)
