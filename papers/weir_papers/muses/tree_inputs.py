"""The inputs of trees: some fifty numbers instead of the teacher's whole history."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from weir_papers.muses.trees import Size, grow
from weir_sim.controllers import WEIGHTS
from weir_train.gym.scaling import scaled_inputs, scaling_vectors
from weir_train.gym.specification import EnvironmentSpecification

# Samples of a part, at least.
_FEWEST_SAMPLES: Final = 500
# Ridge of least squares, in shares of an input's variance: inputs of neighbouring intervals are nearly the same.
_RIDGE: Final = 1e-3


@dataclass(frozen=True)
class TreeInputs:
    """Fixed sums of the scaled observation.

    `names`: of the inputs; from the first on those about the path, at last the objective's weights. `weight`: float32
    (observation_size + 4, inputs): the answer of `scaled_inputs` times this is the inputs.
    """

    specification: EnvironmentSpecification
    names: tuple[str, ...]
    weight: np.ndarray

    @property
    def state_size(self) -> int:
        """How many inputs are about the path."""
        return len(self.names) - len(WEIGHTS)

    @cached_property
    def _scaling(self) -> dict[str, np.ndarray]:
        return scaling_vectors(self.specification)

    def of(self, observations: np.ndarray) -> np.ndarray:
        """Inputs, float32 (N, inputs), for whole observations, float32 (N, width)."""
        return np.asarray(scaled_inputs(np, self.specification, self._scaling, observations) @ self.weight)


def whole_observation(specification: EnvironmentSpecification) -> TreeInputs:
    """Everything, as the teacher sees it."""
    names = (*specification.observed, "rule_rate", *WEIGHTS)
    return TreeInputs(specification, names, np.eye(len(names), dtype=np.float32))


def tree_inputs(specification: EnvironmentSpecification, lines: np.ndarray) -> TreeInputs:
    """For each feature of the history its newest value and its mean over all intervals, for features of the path the
    newest value, the logarithm of the rule's rate, the objective's weights; and `lines`, further sums, float
    (observation_size + 4, L).
    """
    of_interval, history = specification.interval_features, specification.history
    intervals, whole = len(of_interval), len(specification.observed) + 1 + len(WEIGHTS)
    newest = np.eye(whole, intervals)
    means = np.zeros((whole, intervals))
    means[: intervals * history] = np.tile(np.eye(intervals), (history, 1)) / history
    rest = np.eye(whole)[:, intervals * history :]
    columns = [newest, means, rest[:, : -len(WEIGHTS)], lines, rest[:, -len(WEIGHTS) :]]
    names = (
        *of_interval,
        *(f"{name}_mean" for name in of_interval),
        *specification.path_features,
        "rule_rate",
        *(f"line_{number}" for number in range(1, lines.shape[1] + 1)),
        *WEIGHTS,
    )
    return TreeInputs(specification, names, np.concatenate(columns, axis=1).astype(np.float32))


def fit_lines(inputs: np.ndarray, actions: np.ndarray, parts: int) -> np.ndarray:
    """The teacher's action as a line of the whole observation, by least squares: once over all samples, and, if there
    are more than one, over each of `parts` parts, which a small tree cuts.

    A tree cuts across the axes of its inputs only; with these sums among them it follows what the teacher weighs up
    over many intervals.

    Args:
        inputs: float32 (N, inputs of `whole_observation`).
        actions: float32 (N,).
        parts: 0 for no line at all.

    Returns:
        float64 (inputs, lines).
    """
    lines = [] if parts < 1 else [_line(inputs, actions)]
    if parts > 1:
        answers = grow(inputs, actions, Size(1, parts, _FEWEST_SAMPLES)).decide(inputs)
        lines += [_line(inputs[answers == answer], actions[answers == answer]) for answer in np.unique(answers)]
    return np.stack(lines, axis=1) if lines else np.zeros((inputs.shape[1], 0))


def _line(inputs: np.ndarray, actions: np.ndarray) -> np.ndarray:
    centred = (inputs - inputs.mean(axis=0)).astype(np.float64)
    moments = centred.T @ centred / len(centred)
    moments += np.diag(_RIDGE * np.diag(moments) + 1e-6)
    return np.linalg.solve(moments, centred.T @ (actions - actions.mean()) / len(centred))
