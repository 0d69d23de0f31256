"""A search on a Ray cluster that is joined: Ray Tune runs the trials, on machines that share the search's folder.

A trial whose machine is lost goes on elsewhere from the checkpoint in its folder. The trials decide themselves at their
rungs who goes on, as on one machine, by the records of all, which a resumed search has too.
"""

from __future__ import annotations

import io
import os
import platform
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ray import tune
from ray.tune import Callback, FailureConfig, RunConfig, TuneConfig, Tuner
from ray.tune.search.optuna import OptunaSearch

from weir.errors import InputError
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.tune.score import Score
from weir.trainer.tune.study import NAME, distributions, make_study, to_parameters
from weir.trainer.tune.trial import TrialRecord, begin_trial, read_trial, read_trials, run_trial, trial_file

_METRIC = "viewer_quality"
# Failures of one trial: its machine is lost, or its former process has not yet ended.
_FAILURES = 10
_LONGEST_FAULT = 300


def search_on_cluster(
    search: Path,
    base: TrainingConfiguration,
    at_once: int | None,
    on_steps: Callable[[int, int], None],
    on_trial: Callable[[TrialRecord], None],
) -> str:
    """Runs the trials that are missing, `at_once` at a time, by default as many as there are cores; the callbacks are
    those of `LocalSearch`. Returns early at Ctrl-C. Returns a fault of a machine, if there was one, which matters where
    trials are not over.
    """
    assert base.tune is not None
    search = search.absolute()
    missing = base.tune.trials - sum(record.state != "running" for record in read_trials(search))
    if missing <= 0:
        return ""
    os.environ |= {"TUNE_DISABLE_STRICT_METRIC_CHECKING": "1", "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"}
    trainable = tune.with_parameters(_run, search=search, base=base)
    # Tune prints tables of its own.
    with tempfile.TemporaryDirectory(prefix="weir-tune-") as folder, redirect_stdout(io.StringIO()):
        results = Tuner(
            tune.with_resources(trainable, {"cpu": base.threads}),
            tune_config=TuneConfig(
                search_alg=_Searcher(search, base),
                num_samples=missing,
                max_concurrent_trials=at_once,
            ),
            run_config=RunConfig(
                name=NAME,
                storage_path=folder,
                failure_config=FailureConfig(max_failures=_FAILURES),
                callbacks=[_Progress(search, on_steps, on_trial)],
                verbose=0,
            ),
        ).fit()
    lines = str(results.errors[0]).split("\n") if results.errors else [""]
    return lines[-1][:_LONGEST_FAULT]


class _Searcher(OptunaSearch):
    """Gives each trial its number, by which its folder is found, and begins its record."""

    def __init__(self, search: Path, base: TrainingConfiguration) -> None:
        assert base.tune is not None
        study, settings = make_study(search, base), base.tune
        # Neither Optuna shows the storage of a study, nor Ray the trial of an identifier.
        super().__init__(
            distributions(settings), _METRIC, "max", sampler=study.sampler, study_name=NAME, storage=study._storage
        )
        self._search, self._tune = search, settings

    def suggest(self, trial_id: str) -> dict[str, Any] | None:
        """The number of the next trial."""
        drawn = super().suggest(trial_id)
        number = self._ot_trials[trial_id].number
        begin_trial(self._search, number, to_parameters(self._tune, drawn))
        return {"number": number}


class _Progress(Callback):
    """Tells the command about rungs and trials."""

    def __init__(
        self, search: Path, on_steps: Callable[[int, int], None], on_trial: Callable[[TrialRecord], None]
    ) -> None:
        self._search, self._on_steps, self._on_trial = search, on_steps, on_trial

    def __getstate__(self) -> dict[str, Any]:
        """Nothing: Ray keeps a copy for a resume of its own, and a progress bar cannot be copied."""
        return {}

    def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: dict[str, Any], **info: Any) -> None:
        """After a rung."""
        self._on_steps(trial.config["number"], result["steps"])

    def on_trial_complete(self, iteration: int, trials: Any, trial: Any, **info: Any) -> None:
        """Complete, pruned or failed."""
        self._on_trial(read_trial(trial_file(self._search, trial.config["number"])))


def _run(config: dict[str, Any], search: Path, base: TrainingConfiguration) -> None:
    """On a machine of the cluster."""

    def report(score: Score) -> None:
        tune.report({_METRIC: score.viewer_quality, "steps": score.steps})

    if not search.is_dir():
        raise InputError(f"--out '{search}': machine {platform.node()} has no such folder; choose one that all share")
    run_trial(search, base, config["number"], lambda steps: None, report)
