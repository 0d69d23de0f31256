"""A mixture of trees: a student for each kind of path, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir_papers.muses.kinds import AXES, SEGMENTS, Selector
from weir_papers.muses.tree_inputs import TreeInputs
from weir_papers.muses.trees import Student

HISTOGRAM = AXES * SEGMENTS
STATE_SIZE = HISTOGRAM + 2


@dataclass(frozen=True)
class Mixture:
    """Students 1 to K decide on paths of their kind, student 0 as long as none is known; or one alone, without
    selector. All have as many trees.

    The state of a call, as in the exported model (`weir_papers.muses.onnx_model`), is float32 (N, STATE_SIZE):
    counts of each segment since the last choice, the number of samples since then, the kind.
    """

    inputs: TreeInputs
    selector: Selector | None
    students: Sequence[Student]

    @property
    def splits(self) -> int:
        """Splits of all trees, and of the choice among them, with which each of a student's trees begins."""
        choice = (len(self.students) - 1) * len(self.students[0].trees)
        return sum(student.splits for student in self.students) + choice

    def decide(self, inputs: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Actions (N,) and the next state for inputs (N, inputs) and state (N, STATE_SIZE)."""
        if self.selector is None:
            return self.students[0].decide(inputs), state
        next_state = state.copy()
        segments = self.selector.axes.segments(inputs[:, : self.inputs.state_size])
        rows = np.arange(len(inputs))[:, None]
        next_state[rows, segments + SEGMENTS * np.arange(AXES)] += 1
        next_state[:, HISTOGRAM] += 1
        full = next_state[:, HISTOGRAM] >= self.selector.samples
        if full.any():
            next_state[full, -1] = self.selector.choose(next_state[full, :HISTOGRAM] / self.selector.samples)
            next_state[full, : HISTOGRAM + 1] = 0
        actions = np.zeros(len(inputs), dtype=np.float32)
        for kind, student in enumerate(self.students):
            flows = next_state[:, -1] == kind
            actions[flows] = student.decide(inputs[flows])
        return actions, next_state


def no_state(flows: int) -> np.ndarray:
    """The state of calls that begin."""
    return np.zeros((flows, STATE_SIZE), dtype=np.float32)
