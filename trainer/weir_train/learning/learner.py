"""Learners: the modules of algorithms, Weir's and those of other distributions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from stable_baselines3.common.callbacks import BaseCallback

from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.curriculum import Curriculum
from weir_train.learning.run_record import TrainingRecord
from weir_train.model.file import CHECKPOINT
from weir_train.policies.networks import DeployablePolicy


@dataclass(frozen=True)
class TrainingProgress:
    """Passed to `on_progress` once per update, or once per `STEPS_BETWEEN_RECORDS` steps if updates are short."""

    steps: int
    mean_reward: float
    objectives: tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """A training that `train` has begun in its folder. `sampler` draws the scenarios; `steps_done` is the number of
    steps of the checkpoint that it continues, 0 without one. `held_out` has the scenarios that judge it, empty for
    random paths. The other fields are arguments of `train`.
    """

    configuration: Any
    folder: Path
    record: TrainingRecord
    sampler: ScenarioSampler
    held_out: Sequence[Mapping[str, Any]]
    steps_done: int
    resume: bool
    simulator: str | os.PathLike[str] | None
    on_progress: Callable[[TrainingProgress], None] | None
    evaluate_every_steps: int | None
    curriculum: Curriculum | None
    objective: ObjectiveSource | None
    callbacks: Sequence[BaseCallback]
    is_over: Callable[[], bool] | None
    address: str | None

    @property
    def checkpoint(self) -> Path:
        """The file that the learner writes and continues from."""
        return self.folder / CHECKPOINT


class TrainingOutcome(NamedTuple):
    """Number of environment steps, true if Ctrl-C or a time limit ended it before the last, and mean reward of the
    latest episodes.
    """

    steps: int
    interrupted: bool
    mean_reward: float


class Learner(Protocol):
    """The module of an algorithm. The checkpoint's `algorithm` is the configuration's.

    A module whose policy is no `DeployablePolicy` has a function `export`, with the arguments of
    `weir_train.model.export.export`.
    """

    PACKAGES: Sequence[str]
    """Packages whose versions are recorded."""

    def make_policy(self, configuration: Any) -> DeployablePolicy:
        """Makes an untrained policy without a learner."""

    def train(self, run: TrainingRun) -> TrainingOutcome:
        """Trains and writes the checkpoint; learners from rewards use `reinforce`."""

    def origin(self, configuration: Any) -> dict[str, Any]:
        """Returns the entries of the provenance that are recorded when a run begins."""

    def description(self, configuration: Any, done: str) -> dict[str, Any]:
        """Returns the provenance's `algorithm` and `network`; `done` is the number of steps in words."""


def learner_of(configuration: TrainingConfiguration) -> Learner:
    """Returns the learner of a configuration."""
    return cast(Learner, import_module(configuration.learner))
