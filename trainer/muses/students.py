"""Small trees that do what the teacher does: CART, one for each kind of path and one for all (Muses, section III-E)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from sklearn.tree import DecisionTreeRegressor

# Leaves hold one of so many actions, -1 to 1 at even steps: a byte in the library's packed trees.
LEVELS: Final = np.linspace(-1.0, 1.0, 253)
# What the grid search tries, as CART's own names say; the impurity is a variance of actions.
MIN_SAMPLES_SPLIT: Final = (20, 200, 1000)
MIN_IMPURITY_DECREASE: Final = (0.0, 1e-6)
_CHECKED_SHARE: Final = 0.2


@dataclass(frozen=True)
class Tree:
    """A binary tree: node i goes to `left` where input `feature` is at most `threshold`, else to `right`; a leaf's
    `feature` is -1 and its `value` the action. Arrays of one length, float32 `threshold` and `value`.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    @property
    def splits(self) -> int:
        """How many nodes ask something."""
        return int((self.feature >= 0).sum())

    def decide(self, inputs: np.ndarray) -> np.ndarray:
        """Actions (N,), float32, for float32 inputs (N, inputs)."""
        nodes = np.zeros(len(inputs), dtype=np.int64)
        while (inside := self.feature[nodes] >= 0).any():
            asked = nodes[inside]
            smaller = inputs[inside, self.feature[asked]] <= self.threshold[asked]
            nodes[inside] = np.where(smaller, self.left[asked], self.right[asked])
        return self.value[nodes]


def grow(
    inputs: np.ndarray, actions: np.ndarray, flows: np.ndarray, leaves: int, parameters: Mapping[str, float]
) -> Tree:
    """One tree of at most `leaves` leaves.

    Args:
        inputs: float32 (N, inputs).
        actions: (N,), the teacher's.
        flows: not used by CART; see `fit`.
        leaves: 1 or more.
        parameters: of `DecisionTreeRegressor`.
    """
    found = DecisionTreeRegressor(max_leaf_nodes=max(2, leaves), random_state=1, **parameters).fit(inputs, actions)
    nodes = found.tree_
    # CART compares in double precision: the next smaller float gives every float32 the same answer.
    threshold = nodes.threshold.astype(np.float32)
    threshold = np.where(threshold > nodes.threshold, np.nextafter(threshold, np.float32(-np.inf)), threshold)
    return Tree(
        np.where(nodes.children_left >= 0, nodes.feature, -1),
        threshold.astype(np.float32),
        nodes.children_left,
        nodes.children_right,
        LEVELS[np.abs(nodes.value.reshape(-1, 1) - LEVELS).argmin(axis=1)].astype(np.float32),
    )
