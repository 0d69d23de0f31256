"""Teachers: the actions that a student should have taken, decision by decision."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from weir_cli.errors import InputError
from weir_eval.model_file import ModelFile
from weir_papers.imitation.batch_policy import BatchPolicy
from weir_train.gym.specification import EnvironmentSpecification

ORACLE = "oracle"


class Teacher(Protocol):
    """Observes the same as N students, interval by interval."""

    def __call__(self, observations: np.ndarray, optimal_bps: np.ndarray) -> np.ndarray:
        """The actions in [-1, 1] that it would take, float32 of shape (N,); NaN where it has none.

        Args:
            observations: (N, width), of the interval that has just ended.
            optimal_bps: (N,), the oracle's rate; NaN at the beginning of a call.
        """

    def forget(self, ended: np.ndarray) -> None:
        """The episodes at these indices are over."""


class OracleTeacher:
    """Has the true capacity: the rate of `optimal_bps` of `weir_train.gym.step.STEP_FIELDS`."""

    def __init__(self, specification: EnvironmentSpecification) -> None:
        self._specification = specification

    def __call__(self, observations: np.ndarray, optimal_bps: np.ndarray) -> np.ndarray:
        """See `Teacher`."""
        return self._specification.actions_for(optimal_bps, observations)

    def forget(self, ended: np.ndarray) -> None:
        """Has no state."""


class ModelTeacher:
    """A model file, with a state for each student where the model has one.

    Raises:
        InputError: the file is no model, or does not see what the student sees.
    """

    def __init__(self, path: str | os.PathLike[str], specification: EnvironmentSpecification) -> None:
        self._policy = BatchPolicy(path)
        _check(self._policy.model, specification)
        self._specification = specification
        self._states = self._no_states(0)

    def __call__(self, observations: np.ndarray, optimal_bps: np.ndarray) -> np.ndarray:
        """See `Teacher`."""
        if len(self._states) != len(observations):
            self._states = self._no_states(len(observations))
        size = self._specification.observation_size
        seen, objectives = observations[:, :size], observations[:, size : size + 3]
        rates_bps, self._states = self._policy.decide(seen, objectives, self._states)
        return self._specification.actions_for(rates_bps[:, 0], observations)

    def forget(self, ended: np.ndarray) -> None:
        """Resets their states to zeros."""
        self._states[ended[ended < len(self._states)]] = 0.0

    def _no_states(self, students: int) -> np.ndarray:
        return np.zeros((students, self._policy.state_size), dtype=np.float32)


class MeanTeacher:
    """The mean action of several: models that are trained alike err in different places."""

    def __init__(self, teachers: Sequence[Teacher]) -> None:
        self._teachers = teachers

    def __call__(self, observations: np.ndarray, optimal_bps: np.ndarray) -> np.ndarray:
        """See `Teacher`."""
        return np.mean([teacher(observations, optimal_bps) for teacher in self._teachers], axis=0)

    def forget(self, ended: np.ndarray) -> None:
        """See `Teacher`."""
        for teacher in self._teachers:
            teacher.forget(ended)


def make_teacher(names: Sequence[str | Path], specification: EnvironmentSpecification) -> Teacher:
    """The mean of what is named: "oracle", or a model file.

    Raises:
        InputError: one of them is neither.
    """
    teachers: list[Teacher] = [
        OracleTeacher(specification) if str(name) == ORACLE else ModelTeacher(name, specification) for name in names
    ]
    return teachers[0] if len(teachers) == 1 else MeanTeacher(teachers)


def _check(model: ModelFile, specification: EnvironmentSpecification) -> None:
    found = model.features, model.history, model.interval_ms, model.action_kind
    wanted = list(specification.features), specification.history, specification.interval_ms, "rate_bps"
    for name, own, needed in zip(("features", "history", "interval", "action"), found, wanted, strict=True):
        if own != needed:
            raise InputError(f"{model.path}: its {name} is {own}, the student's {needed}: a teacher needs the same")
