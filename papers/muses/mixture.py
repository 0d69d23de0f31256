"""A mixture of trees: a student for each kind of path, and the choice among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weir.papers.muses.flows import Flows, windows
from weir.papers.muses.kinds import AXES, SEGMENTS, Selector
from weir.papers.muses.tree_inputs import TreeInputs
from weir.papers.muses.trees import Student

HISTOGRAM = AXES * SEGMENTS
_EXAMPLES: Final = 4
_LISTED: Final = 5


@dataclass(frozen=True)
class Mixture:
    """Students 1 to K decide on paths of their kind, student 0 as long as none is known; or one alone, without
    selector. All have as many trees.

    The state of a call, as in the exported model (`weir.papers.muses.onnx_model`), is float32 (N, HISTOGRAM + 2):
    counts of each segment since the last choice, the number of samples since then, the kind.
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
    """A mixture as `weir.papers.muses.flows.Pilot`."""

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


def describe_kinds(mixture: Mixture, flows: Flows) -> list[dict[str, Any]]:
    """Describes each student, from 0 on, for the provenance of the model.

    Returns:
        Per student `kind`, `splits` and `asks` (the inputs of most splits, with their share of its splits); with kinds
        also `share` (of windows of `flows` under `balanced`), `differs` (the inputs whose mean differs most from that
        of all windows, in standard deviations of the windows' means) and `examples` (names of paths of this kind).
    """
    found = [{"kind": kind} | _asks(mixture, student) for kind, student in enumerate(mixture.students)]
    if mixture.selector is None:
        return found
    samples, size = mixture.selector.samples, mixture.inputs.state_size
    states = windows(flows.inputs[::2, :, :size], samples)
    chosen = mixture.selector.choose(mixture.selector.axes.histograms(states))
    means = states.mean(axis=1)
    spread = np.maximum(means.std(axis=0), 1e-9)
    by_flow = chosen.reshape(len(flows.paths[::2]), -1)
    for kind, entry in enumerate(found[1:], start=1):
        of_kind = chosen == kind
        entry["share"] = float(of_kind.mean())
        if not of_kind.any():
            continue
        differences = (means[of_kind].mean(axis=0) - means.mean(axis=0)) / spread
        largest = np.argsort(-np.abs(differences))[:_LISTED]
        entry["differs"] = {mixture.inputs.names[index]: round(float(differences[index]), 2) for index in largest}
        often = (by_flow == kind).mean(axis=1)
        order = np.argsort(-often, kind="stable")[:_EXAMPLES]
        entry["examples"] = [flows.paths[::2][index] for index in order if often[index] > 0]
    return found


def _asks(mixture: Mixture, student: Student) -> dict[str, Any]:
    names = mixture.inputs.names
    asked = Counter(names[feature] for tree in student.trees for feature in tree.feature[tree.feature >= 0])
    shares = {name: round(count / student.splits, 3) for name, count in asked.most_common(_LISTED)}
    return {"splits": student.splits, "asks": shares}
