"""A search on this machine: Optuna draws the trials, each of which runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weir.errors import InputError
from weir.qoe_eval.runs.simulator_worker import die_with_parent
from weir.qoe_eval.runs.task_processes import Report, run_tasks
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.tune.study import distributions, make_study, to_parameters
from weir.trainer.tune.trial import (
    TrialRecord,
    begin_trial,
    read_trial,
    run_trial,
    save_trial,
    trial_configuration,
    trial_file,
)

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class TrialTask:
    """A trial to run in a process."""

    search: Path
    base: TrainingConfiguration
    number: int

    @property
    def name(self) -> str:
        """For people."""
        return f"trial {self.number}"


class LocalSearch:
    """Draws, runs and records the trials of a search.

    Args:
        search: its folder.
        base: its configuration, with the table `tune`.
        on_steps: called with the number of a trial and its steps so far.
        on_trial: called with the record of each trial that is over.
    """

    def __init__(
        self,
        search: Path,
        base: TrainingConfiguration,
        on_steps: Callable[[int, int], None],
        on_trial: Callable[[TrialRecord], None],
    ) -> None:
        assert base.tune is not None
        self._search = search
        self._base = base
        self._tune = base.tune
        self._on_steps = on_steps
        self._on_trial = on_trial
        self._study = make_study(search, base)
        self._space = distributions(self._tune)
        self._drawn: dict[int, optuna.Trial] = {}

    def run(self, processes: int) -> None:
        """Runs the trials that are missing, `processes` at once.

        Raises:
            KeyboardInterrupt: the records and checkpoints of the trials so far are kept.
        """
        # A process that is killed is not replaced before the others have come to the end.
        while tasks := [task for _ in range(processes) for task in self._next()]:
            failures = run_tasks(
                tasks, _work, processes, lambda task, steps: self._on_steps(task.number, steps), self._finish
            )
            for failure in failures:
                self._fail(int(failure.name.removeprefix("trial ")), failure.error)

    def _next(self) -> list[TrialTask]:
        """The next trial, if one is left."""
        from optuna.trial import TrialState

        while (
            self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,))
            or len(self._study.get_trials(deepcopy=False)) < self._tune.trials
        ):
            drawn = self._study.ask(self._space)
            self._drawn[drawn.number] = drawn
            begin_trial(self._search, drawn.number, to_parameters(self._tune, drawn.params))
            try:
                trial_configuration(self._base, read_trial(trial_file(self._search, drawn.number)))
            except InputError as error:
                self._fail(drawn.number, str(error))
            else:
                return [TrialTask(self._search, self._base, drawn.number)]
        return []

    def _fail(self, number: int, error: str) -> None:
        record = read_trial(trial_file(self._search, number))
        save_trial(self._search, record.model_copy(update={"state": "failed", "error": error}))
        self._conclude(number)

    def _finish(self, task: TrialTask) -> list[TrialTask]:
        self._conclude(task.number)
        return self._next()

    def _conclude(self, number: int) -> None:
        from optuna.trial import TrialState

        record, drawn = read_trial(trial_file(self._search, number)), self._drawn.pop(number)
        for score in record.scores:
            drawn.report(score.viewer_quality, score.steps)
        if record.state == "complete":
            self._study.tell(drawn, record.viewer_quality)
        else:
            self._study.tell(drawn, state=TrialState.PRUNED if record.state == "pruned" else TrialState.FAIL)
        self._on_trial(record)


def _work(task: TrialTask, report: Report) -> None:
    # A search that is resumed at once finds none of its trials at work.
    die_with_parent()
    run_trial(task.search, task.base, task.number, report, lambda score: None)
