"""A rung of a trial: the training up to a number of steps, and the score of the policy there."""

from __future__ import annotations

import platform
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weir_cli.errors import InputError
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_sim.controllers import PRESETS
from weir_sim.executables import find_simulator
from weir_traces.generate.random_domain import random_scenario
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import TrainingConfiguration
from weir_train.configuration.tuning import TuneSettings

# Differs from the seeds of `weir evaluate`, which then judges the best configuration on paths not used to choose it.
FIRST_SEED = 2_000_000


@dataclass(frozen=True)
class Rung:
    """A part of a trial: training `configuration` in `folder` up to `steps`, judged according to `tune`."""

    trial: int
    number: int
    steps: int
    folder: Path
    configuration: TrainingConfiguration
    tune: TuneSettings

    @property
    def name(self) -> str:
        """Name for messages."""
        return f"trial {self.trial}"


_JUDGED = {"receiver": ["weir"], "sender": ["weir-send"], "both": ["weir", "weir-send"]}


def complete_rung(rung: Rung, on_steps: Callable[[int], None]) -> float:
    """Trains, from the checkpoint in the folder if there is one, and returns the call quality, of 100.

    Raises:
        InputError, ComponentFailed: the training or a replay failed.
        KeyboardInterrupt: interrupted, also by `on_steps`; a checkpoint is kept.
    """
    # torch takes seconds to load.
    from weir_train.learning.stages import export_run, train_until

    if not rung.folder.parent.is_dir():
        raise InputError(
            f"--out '{rung.folder.parent}': machine {platform.node()} has no such folder; choose one that all share"
        )
    train_until(rung.configuration, rung.folder, rung.steps, lambda state: on_steps(state.steps))
    with tempfile.TemporaryDirectory(prefix="weir-tune-") as judged:
        model = Path(judged, "policy.onnx")
        export_run(rung.folder, model)
        return _call_quality(model, rung, Path(judged))


def held_out_scenarios(tune: TuneSettings) -> list[Scenario]:
    """Returns the scenarios that judge every trial of a search, each with the video of a call."""
    seeds = range(FIRST_SEED, FIRST_SEED + tune.scenarios)
    scenarios = (random_scenario(seed, split="held_out", duration_s=tune.scenario_duration_s) for seed in seeds)
    return [with_media(scenario, "video") for scenario in scenarios]


def _call_quality(model: Path, rung: Rung, folder: Path) -> float:
    """Returns the mean over held-out scenarios, except those in which it is undefined, the same for all trials."""
    environment = rung.configuration.environment
    objective = environment.objective
    if isinstance(objective, str):
        objective = PRESETS["balanced" if objective == "random" else objective]
    plan = ReplayPlan(
        scenarios=held_out_scenarios(rung.tune),
        controllers=_JUDGED[environment.side],
        objective=objective,
        seeds=[0],
        model=model,
        simulator=find_simulator(),
        series="measured",
    )
    records = complete_plans([plan], folder, processes=1).all_records()
    found = (record.metrics.run["call_quality"] for record in records)
    return statistics.fmean(value for value in found if value is not None)
