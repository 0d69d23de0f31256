"""Muses' students (sections III-E, III-F): decision trees that classify states as the teacher does, one for each kind
of path, and the choice among them while a flow runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from weir_papers.muses.kinds import ACTION_LEVELS, Decomposition, Selector, decompose
from weir_papers.muses.senders import INTERVAL_MS, Flows, Levels

MOST_LEAVES: Final = 500
MOST_KINDS: Final = 15
# A choice of a kind every ten seconds, as in the paper.
SAMPLES: Final = 10_000 // INTERVAL_MS
_EDGES: Final = np.arange(ACTION_LEVELS - 1) + 0.5
_GRID: Final = {"min_samples_split": [2, 20, 100], "min_impurity_decrease": [0.0, 1e-5, 1e-4]}
_MOST_SEARCHED: Final = 20_000


@dataclass(frozen=True)
class Students:
    """`trees`: the tree of all samples, then those of the kinds; `choice` among these. `silhouettes`: the score of each
    number of kinds that was tried.
    """

    trees: Sequence[DecisionTreeClassifier]
    choice: Selector
    decomposition: Decomposition

    @property
    def silhouettes(self) -> dict[int, float]:
        """By number of kinds."""
        return self.decomposition.silhouettes


class OneTree:
    """An agent: one tree for all paths."""

    def __init__(self, tree: DecisionTreeClassifier) -> None:
        self._tree = tree

    def begin(self) -> None:
        """See `Agent`."""

    def __call__(self, states: np.ndarray, labels: Levels) -> Levels:
        """See `Agent`."""
        return np.asarray(self._tree.predict(states))


class TreesByKind:
    """An agent: every SAMPLES decisions the tree of the kind of path whose states these were; before, that of all."""

    def __init__(self, students: Students) -> None:
        self._students = students
        self._states: list[np.ndarray] = []
        self._kinds = np.zeros(0, int)

    def begin(self) -> None:
        """See `Agent`."""
        self._states, self._kinds = [], np.zeros(0, int)

    def __call__(self, states: np.ndarray, labels: Levels) -> Levels:
        """See `Agent`."""
        if not len(self._kinds):
            self._kinds = np.zeros(len(states), int)
        self._states.append(states)
        if len(self._states) == SAMPLES:
            choice = self._students.choice
            self._kinds = choice.choose(choice.axes.histograms(np.stack(self._states, axis=1)))
            self._states = []
        actions = np.empty(len(states), np.int64)
        for kind in np.unique(self._kinds):
            chosen = self._kinds == kind
            actions[chosen] = self._students.trees[kind].predict(states[chosen])
        return actions


def extract(flows: Flows, kinds: Sequence[int], seed: int) -> Students:
    """The students of a teacher's flows, each at least SAMPLES long: each flow is of one kind; the number of kinds, of
    those to try, has the best silhouette.
    """
    decomposition = decompose(flows.states, flows.actions, kinds, seed=seed, action_edges=_EDGES)
    joint = decomposition.joint(flows.states, flows.actions)
    kind_of = decomposition.nearest(joint)[:, 0]
    choice = Selector.fitted(decomposition, flows.states, joint, SAMPLES)
    settings = _best_settings(flows, seed)

    def grown(chosen: np.ndarray) -> DecisionTreeClassifier:
        states, actions = flows.states[chosen], flows.actions[chosen]
        return _tree(seed, **settings).fit(states.reshape(-1, states.shape[-1]), actions.ravel())

    everything = np.ones(len(flows.actions), bool)
    return Students(
        [grown(everything), *(grown(kind_of == kind) for kind in range(choice.kinds))], choice, decomposition
    )


def among_two_nearest(students: Students, flows: Flows) -> float:
    """The share of flows whose kind, chosen from states alone, is among the two nearest to states and actions."""
    nearest = students.decomposition.nearest(students.decomposition.joint(flows.states, flows.actions))[:, :2] + 1
    chosen = students.choice.choose(students.choice.axes.histograms(flows.states))
    return float((nearest == chosen[:, None]).any(axis=1).mean())


def _best_settings(flows: Flows, seed: int) -> dict[str, Any]:
    """Those of the grid whose tree predicts best, of every n-th sample."""
    states, actions = flows.states.reshape(-1, flows.states.shape[-1]), flows.actions.ravel()
    step = max(1, len(actions) // _MOST_SEARCHED)
    search = GridSearchCV(_tree(seed), dict(_GRID), cv=3).fit(states[::step], actions[::step])
    return dict(search.best_params_)


def _tree(seed: int, **settings: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=MOST_LEAVES, random_state=seed, **settings)
