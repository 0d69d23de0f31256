"""Optuna's study of a search, rebuilt from the records of its trials, which alone hold its state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import InputError
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.configuration.tuning import TuneSettings, setting_of
from weir.trainer.tune.trial import TRIALS, TrialRecord, read_trials, trial_file

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

NAME = "weir"


def distributions(tune: TuneSettings) -> dict[str, BaseDistribution]:
    """The search space. Optuna's choices are scalars: they are JSON texts here."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    space: dict[str, BaseDistribution] = {}
    for path, values in tune.parameters.items():
        if values.choices is not None:
            space[path] = CategoricalDistribution([json.dumps(choice) for choice in values.choices])
        elif values.is_whole:
            low, high = values.bounds
            space[path] = IntDistribution(int(low), int(high), log=values.log)
        else:
            space[path] = FloatDistribution(*values.bounds, log=values.log)
    return space


def to_parameters(tune: TuneSettings, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """The values that Optuna has drawn, with the choices themselves."""
    return {
        path: value if tune.parameters[path].choices is None else json.loads(value) for path, value in drawn.items()
    }


def make_study(search: Path, base: TrainingConfiguration) -> optuna.Study:
    """A study in memory of the trials so far, with their numbers; those that are not over are drawn again first. The
    first trial of all has the settings of the configuration itself, where they are in the space.

    Optuna's own journal would leave a trial that was killed in the state "running" for ever.

    Raises:
        InputError: the records do not belong to this search.
    """
    import optuna

    tune = base.tune
    assert tune is not None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    records = read_trials(search)
    if [record.number for record in records] != list(range(len(records))):
        raise InputError(f"{search / TRIALS}: a trial is missing; begin again in another folder")
    study = optuna.create_study(
        direction="maximize",
        study_name=NAME,
        storage=optuna.storages.InMemoryStorage(),
        # Each part of a resumed search draws numbers of its own. Trials that run count as bad ones, so that trials at
        # the same time are not alike.
        sampler=optuna.samplers.TPESampler(seed=base.seed + len(records), constant_liar=True),
    )
    space = distributions(tune)
    if not records:
        values = base.model_dump(mode="json")
        own = {path: setting_of(values, path) for path in tune.parameters}
        study.enqueue_trial(_drawn(tune, {path: one for path, one in own.items() if tune.parameters[path].has(one)}))
    for record in records:
        try:
            drawn = _drawn(tune, record.parameters)
            if record.state == "running":
                study.enqueue_trial(drawn)
            else:
                study.add_trial(_finished(record, drawn, space))
        except (KeyError, ValueError) as error:
            raise InputError(f"{trial_file(search, record.number)}: is no trial of this search: {error}") from None
    return study


def _drawn(tune: TuneSettings, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as Optuna has them."""
    return {
        path: value if tune.parameters[path].choices is None else json.dumps(value)
        for path, value in parameters.items()
    }


def _finished(
    record: TrialRecord, drawn: Mapping[str, Any], space: Mapping[str, BaseDistribution]
) -> optuna.trial.FrozenTrial:
    from optuna.trial import TrialState, create_trial

    states = {"complete": TrialState.COMPLETE, "pruned": TrialState.PRUNED, "failed": TrialState.FAIL}
    return create_trial(
        state=states[record.state],
        value=record.viewer_quality if record.state == "complete" else None,
        params=dict(drawn),
        distributions=dict(space),
        intermediate_values={score.steps: score.viewer_quality for score in record.scores},
    )
