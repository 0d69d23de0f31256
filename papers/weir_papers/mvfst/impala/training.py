"""IMPALA as an algorithm of `weir train`; see `Learner`. Export needs no Ray, so only a training imports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from stable_baselines3.common.base_class import BaseAlgorithm

from weir_papers.mvfst.impala.configuration import ImpalaConfiguration
from weir_sim.cluster import connected
from weir_train.learning.callbacks import STEPS_BETWEEN_RECORDS
from weir_train.learning.learner import TrainingOutcome, TrainingRun
from weir_train.learning.ppo import make_policy
from weir_train.learning.reinforcement import description_with_library, reinforce

__all__ = ["PACKAGES", "description", "make_policy", "origin", "train"]

PACKAGES: Final = ("ray", "torch", "gymnasium")


def train(run: TrainingRun) -> TrainingOutcome:
    """Trains until all steps are done.

    Raises:
        InputError: there is no such cluster, or it has fewer cores than the configuration runners.
        MissingComponent: Ray is not installed.
        ClusterError: a runner failed, or the training stands still; its checkpoint is written first.
    """
    return reinforce(
        run,
        _learner(run),
        weight_average_decay=run.configuration.impala.weight_average_decay,
        steps_between_records=STEPS_BETWEEN_RECORDS,
    )


@contextmanager
def _learner(run: TrainingRun) -> Iterator[BaseAlgorithm]:
    with connected(run.address):
        from weir_papers.mvfst.impala.algorithm import Impala

        yield Impala(run.configuration, run.folder, sampler=run.sampler, objective=run.objective)


def origin(configuration: ImpalaConfiguration) -> dict[str, Any]:
    """See `Learner`."""
    return {}


def description(configuration: ImpalaConfiguration, done: str) -> dict[str, Any]:
    """See `Learner`."""
    return description_with_library(configuration, "RLlib", done)
