"""The search of `weir tune`: Optuna draws trials and prunes them by successive halving.

Files: study.log (Optuna's journal: configuration, trials), trials/0003/ (as `weir train` writes it), best.toml
"""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import optuna
import typer
from optuna.pruners import SuccessiveHalvingPruner
from optuna.samplers import TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, TrialState

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_cli.files.output import alone_in, append, make_folder, refuse_other_results, write_text
from weir_eval.runs.task_processes import TaskFailure, run_tasks
from weir_sim.cluster import connected, core_count
from weir_train.configuration.training import TrainingConfiguration, checked_configuration, load_configuration
from weir_train.configuration.tuning import TuneSettings, setting_of, with_parameters
from weir_train.tune.places import run_on_cluster, work_in_process
from weir_train.tune.ranges import check_ranges
from weir_train.tune.rung import Rung
from weir_train.tune.toml_text import to_toml

STUDY = "study.log"
BEST = "best.toml"
_CONFIGURATION = "configuration"


def run_search(configuration: Path, out: Path, jobs: int | None, address: str | None, *, resume: bool) -> None:
    """Searches, and prints the best trial; the arguments are those of the command.

    Raises:
        InputError: the configuration or the folder cannot be used.
        typer.Exit: status 1, after a message: interrupted, or every trial failed.
    """
    base = load_configuration(configuration)
    if base.tune is None:
        raise InputError(f"{configuration}: has no table [tune]; give it one with [tune.parameters]")
    check_ranges(base)
    if address is not None and base.on_cluster:
        raise InputError(f"--address: a trial of algorithm {base.algorithm} has a cluster of its own; omit it")
    planned = base.tune.trials
    refuse_other_results(out, STUDY)
    make_folder(out / "trials")
    with alone_in(out), nullcontext() if address is None else connected(address):
        search = Search(out.absolute(), base, resume=resume)
        with suppress(KeyboardInterrupt):
            if address is None:
                processes = jobs or max(1, (os.cpu_count() or 1) // base.threads)
                run_tasks(search.begin(processes), work_in_process, processes, lambda rung, steps: None, search.follow)
            else:
                at_once = jobs or max(1, core_count() // base.threads)
                # Ray prints the state of machines to standard output.
                with redirect_stdout(io.StringIO()):
                    run_on_cluster(search.begin(at_once), base.threads, search.follow)
        best = search.write_best(out / BEST)
    if search.over < planned:
        typer.echo(
            f"interrupted after {search.over} of {planned} trials; continue with: "
            f"weir tune {configuration} --out {out} --resume",
            err=True,
        )
    if search.over < planned or best is None:
        raise typer.Exit(1)
    typer.echo(f"{out / BEST}: {best}")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delays Ctrl-C until the end, because an interrupted write of the journal leaves Optuna's lock.

    Raises:
        KeyboardInterrupt: at the end, if there was one.
    """
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupts:
            raise KeyboardInterrupt


class Search:
    """Draws trials, and decides at their rungs which continue. All state is in Optuna's journal and the trials'
    folders.

    Args:
        folder: of the search.
        base: its configuration, with the table `tune`; a resumed search may change `trials`.
        resume: continue the search in the folder.

    Raises:
        InputError: the folder has a search already, none to resume, or one of another configuration.
    """

    def __init__(self, folder: Path, base: TrainingConfiguration, *, resume: bool) -> None:
        assert base.tune is not None
        self._folder, self._tune = folder, base.tune
        self._values = base.model_dump(mode="json", exclude_unset=True, exclude={"tune"})
        self._space = {path: parameter.distribution() for path, parameter in base.tune.parameters.items()}
        self._study = _open_study(folder / STUDY, base, resume=resume)
        self._running: dict[int, Trial] = {}

    @property
    def over(self) -> int:
        """Number of trials that are complete, pruned or failed."""
        return sum(trial.state.is_finished() for trial in self._study.get_trials(deepcopy=False))

    @_uninterrupted()
    def begin(self, at_once: int) -> list[Rung]:
        """Returns the next rung of interrupted trials, and of new ones up to `at_once` in total."""
        # Optuna has no public attribute for the identifier it takes.
        interrupted = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        rungs = [rung for trial in interrupted for rung in self._rung(Trial(self._study, trial._trial_id))]
        while len(rungs) < at_once and (new_rungs := self._draw()):
            rungs += new_rungs
        return rungs

    @_uninterrupted()
    def follow(self, rung: Rung, outcome: float | TaskFailure) -> list[Rung]:
        """Returns the rungs that follow one: the next of its trial, else that of another trial, if one is left."""
        trial = self._running[rung.trial]
        if isinstance(outcome, TaskFailure):
            self._end(trial, TrialState.FAIL, outcome.error)
            return self._draw()
        trial.report(outcome, rung.steps)
        judged = f"call quality {outcome:.2f} after {rung.steps:,} steps"
        if rung.number + 1 == self._tune.rungs:
            self._end(trial, TrialState.COMPLETE, judged, outcome)
        elif trial.should_prune():
            self._end(trial, TrialState.PRUNED, judged)
        else:
            return self._rung(trial, rung.number + 1)
        return self._draw()

    def write_best(self, path: Path) -> str | None:
        """Writes the configuration of the best complete trial, if there is one, and returns its name and score."""
        try:
            best = self._study.best_trial
        except ValueError:
            return None
        write_text(path, to_toml(with_parameters(self._values, _settings(best.params, self._tune))))
        return f"trial {best.number} complete: call quality {best.value:.2f}"

    def _draw(self) -> list[Rung]:
        """Returns the first rung of the next trial with consistent settings; none when all are drawn."""
        while (
            self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,))
            or len(self._study.get_trials(deepcopy=False)) < self._tune.trials
        ):
            if rungs := self._rung(self._study.ask(self._space)):
                return rungs
        return []

    def _rung(self, trial: Trial, number: int | None = None) -> list[Rung]:
        """Returns a rung of a trial, by default the one after its latest; none if its settings are inconsistent."""
        if number is None:
            # Repeats the last rung if a search was killed before its trial ended.
            number = min(len(self._study.trials[trial.number].intermediate_values), self._tune.rungs - 1)
        try:
            configuration = checked_configuration(with_parameters(self._values, _settings(trial.params, self._tune)))
        except InputError as error:
            self._end(trial, TrialState.FAIL, str(error))
            return []
        self._running[trial.number] = trial
        steps = self._tune.rung_steps(configuration.steps)[number]
        folder = self._folder / "trials" / f"{trial.number:04}"
        return [Rung(trial.number, number, steps, folder, configuration, self._tune)]

    def _end(self, trial: Trial, state: TrialState, text: str, value: float | None = None) -> None:
        self._study.tell(trial, value, state=state)
        typer.echo(f"trial {trial.number} {state.name.lower()}: {printable(text)}", err=True)


@_uninterrupted()
def _open_study(journal: Path, base: TrainingConfiguration, *, resume: bool) -> optuna.Study:
    tune = base.tune
    assert tune is not None
    if journal.exists() and not resume:
        raise InputError(f"{journal.parent}: already holds a search; resume it, or give another folder")
    if resume and not journal.is_file():
        raise InputError(f"{journal.parent}: has no {STUDY} to resume from")
    whole, values = base.model_dump(mode="json"), base.model_dump(mode="json", exclude_unset=True)
    values["tune"].pop("trials", None)
    base_settings = {path: setting_of(whole, path) for path in tune.parameters}
    append(journal, b"")
    # Only this search uses the folder: a lock in it is from a killed search; Optuna would wait 30 s for it.
    journal.with_name(journal.name + ".lock").unlink(missing_ok=True)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(
            study_name="weir",
            storage=JournalStorage(JournalFileBackend(str(journal))),
            direction="maximize",
            pruner=SuccessiveHalvingPruner(tune.rung_steps(base.steps)[0], tune.reduction_factor),
            load_if_exists=True,
        )
        known, found = len(study.trials), study.user_attrs.get(_CONFIGURATION)
    except Exception as error:  # a damaged file can cause any error in Optuna
        raise InputError(f"{journal}: is no journal of a search ({error}); choose another folder") from None
    # Each part of a resumed search draws other numbers. Running trials count as bad ones, so that concurrent trials
    # differ.
    study.sampler = TPESampler(seed=base.seed + known, constant_liar=True)
    if found is None:
        ranges = tune.parameters
        study.enqueue_trial(
            {path: ranges[path].as_drawn(value) for path, value in base_settings.items() if ranges[path].has(value)}
        )
        study.set_user_attr(_CONFIGURATION, values)
    elif found != values:
        raise InputError(
            f"{journal.parent}: its search has another configuration; only tune.trials may change. Choose another "
            "folder"
        )
    return study


def _settings(suggested: dict[str, Any], tune: TuneSettings) -> dict[str, Any]:
    """Converts Optuna's values, whose choices are JSON text, to settings."""
    return {
        path: value if tune.parameters[path].choices is None else json.loads(value) for path, value in suggested.items()
    }
