"""A rung of a trial: the training up to its steps, and the score of the policy there."""

from __future__ import annotations

import platform
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weir.errors import InputError
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.run_plans import complete_plans
from weir.registry import PRESETS
from weir.simulator.executables import find_simulator
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.media import with_media
from weir.traces.schema.scenario import Scenario
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.configuration.tuning import TuneSettings

# Apart from the seeds of `weir evaluate`, which then judges the best configuration on paths that chose nothing.
FIRST_SEED = 2_000_000


@dataclass(frozen=True)
class Rung:
    """A part of a trial: its training in `folder` up to `steps` of the `configuration`, judged as `tune` has it."""

    trial: int
    number: int
    steps: int
    folder: Path
    configuration: TrainingConfiguration
    tune: TuneSettings

    @property
    def name(self) -> str:
        """For people."""
        return f"trial {self.trial}"


def complete_rung(rung: Rung, on_steps: Callable[[int], None]) -> float:
    """Trains, from the checkpoint in the folder if there is one, and returns the viewer's quality, of 100.

    Raises:
        InputError, SimulatorError: the training or a replay failed.
        KeyboardInterrupt: interrupted, also by `on_steps`; a checkpoint is kept.
    """
    # torch takes seconds to load.
    from weir.trainer.learning.stages import export_run, train_until

    if not rung.folder.parent.is_dir():
        raise InputError(
            f"--out '{rung.folder.parent}': machine {platform.node()} has no such folder; choose one that all share"
        )
    train_until(rung.configuration, rung.folder, rung.steps, lambda state: on_steps(state.steps))
    with tempfile.TemporaryDirectory(prefix="weir-tune-") as judged:
        model = Path(judged, "policy.onnx")
        export_run(rung.folder, model)
        return _viewer_quality(model, rung, Path(judged))


def held_out_scenarios(tune: TuneSettings) -> list[Scenario]:
    """The scenarios that judge every trial of a search: the video of a call on each."""
    seeds = range(FIRST_SEED, FIRST_SEED + tune.scenarios)
    drawn = (random_scenario(seed, split="held_out", duration_s=tune.scenario_duration_s) for seed in seeds)
    return [with_media(scenario, "video") for scenario in drawn]


def _viewer_quality(model: Path, rung: Rung, folder: Path) -> float:
    """The mean over the held-out scenarios, without those in which it is undefined, which are the same for all."""
    environment = rung.configuration.environment
    objective = environment.objective
    if isinstance(objective, str):
        objective = PRESETS["balanced" if objective == "random" else objective]
    plan = ReplayPlan(
        scenarios=held_out_scenarios(rung.tune),
        controllers=["weir-send" if environment.side == "sender" else "weir"],
        objective=objective,
        seeds=[0],
        model=model,
        simulator=find_simulator(),
        series="measured",
    )
    records = complete_plans([plan], folder, processes=1).all_records()
    found = (record.metrics.run["viewer_quality"] for record in records)
    return statistics.fmean(value for value in found if value is not None)
