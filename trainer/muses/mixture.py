"""What is extracted from a teacher: a student for each kind of path, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.trainer.muses.decomposition import AXES, SEGMENTS
from weir.trainer.muses.inputs import TreeInputs
from weir.trainer.muses.selector import Selector
from weir.trainer.muses.students import Student

HISTOGRAM = AXES * SEGMENTS


@dataclass(frozen=True)
class Mixture:
    """Students 1 to K decide on paths of their kind, student 0 as long as none is known; or one alone, without
    selector. All have as many trees.

    What it keeps of a call, as the exported model does (`weir.trainer.muses.graph`): float32 (N, HISTOGRAM + 2), how
    often each segment was seen since the last choice, how many samples that are, the kind.
    """

    inputs: TreeInputs
    selector: Selector | None
    students: Sequence[Student]

    @property
    def splits(self) -> int:
        """Of all trees, and of the choice among them, which each of a student's trees begins with."""
        choice = (len(self.students) - 1) * len(self.students[0].trees)
        return sum(student.splits for student in self.students) + choice

    def decide(self, inputs: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Actions (N,) and the next state for inputs (N, inputs) and state (N, HISTOGRAM + 2)."""
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


class MixturePilot:
    """A mixture as `weir.trainer.muses.flows.Pilot`."""

    def __init__(self, mixture: Mixture) -> None:
        self._mixture = mixture
        self._state = np.zeros((0, HISTOGRAM + 2), dtype=np.float32)

    def reset(self, flows: int) -> None:
        """See `Pilot`."""
        self._state = np.zeros((flows, HISTOGRAM + 2), dtype=np.float32)

    def decide(self, inputs: np.ndarray) -> np.ndarray:
        """See `Pilot`."""
        actions, self._state = self._mixture.decide(inputs, self._state)
        return actions
