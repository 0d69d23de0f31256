"""The score of a trial: what viewers would see in calls over held-out random paths."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from weir.errors import InputError
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.replay import replay
from weir.registry import PRESETS
from weir.simulator.executables import find_simulator
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.media import with_media
from weir.traces.schema.scenario import Scenario
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.configuration.tuning import TuneSettings

# Apart from the seeds of `weir evaluate`, which then judges the best configuration on paths that chose nothing.
FIRST_SEED = 2_000_000


class Score(BaseModel):
    """Means over the scenarios after some steps of training, of 100. `viewer_quality` compares trials."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    steps: int
    viewer_quality: float
    challenge: float


def held_out_scenarios(tune: TuneSettings) -> list[Scenario]:
    """The scenarios that judge every trial of a search: the video of a call on each."""
    seeds = range(FIRST_SEED, FIRST_SEED + tune.scenarios)
    drawn = (random_scenario(seed, split="held_out", duration_s=tune.scenario_duration_s) for seed in seeds)
    return [with_media(scenario, "video") for scenario in drawn]


def score_model(
    model: Path, steps: int, tune: TuneSettings, configuration: TrainingConfiguration, folder: Path
) -> Score:
    """Replays a model that was trained for `steps` of a trial's configuration; the records stay in `folder`.

    Raises:
        InputError: a replay failed.
    """
    environment = configuration.environment
    objective = environment.objective
    if isinstance(objective, str):
        objective = PRESETS["balanced" if objective == "random" else objective]
    plan = ReplayPlan(
        scenarios=held_out_scenarios(tune),
        controllers=["weir-send" if environment.side == "sender" else "weir"],
        objective=objective,
        seeds=[0],
        model=model.absolute(),
        simulator=find_simulator(),
        series="measured",
    )
    outcome = replay(plan, folder, processes=1)
    if outcome.failures:
        raise InputError(outcome.failures[0].describe())
    runs = [record.metrics.run for record in outcome.records]
    return Score(
        steps=steps,
        viewer_quality=_mean(run["viewer_quality"] for run in runs),
        challenge=_mean(run["challenge"] for run in runs),
    )


def _mean(values: Iterable[float | None]) -> float:
    """Without the runs in which the measure is undefined, which are the same for all models."""
    return statistics.fmean(value for value in values if value is not None)
