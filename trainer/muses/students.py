"""Small trees that do what the teacher does: CART, one for each kind of path and one for all (Muses, section III-E).

Regression trees: most actions are near the rule's rate, where seven classes would be too coarse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

# Leaves hold one of so many actions, -1 to 1 at even steps: a byte in the library's packed trees.
LEVELS: Final = np.linspace(-1.0, 1.0, 253)
# Of a leaf: what is tried.
FEWEST_SAMPLES: Final = (20, 80)
_GRID_FLOWS: Final = 400
_UNSEEN_SHARE: Final = 0.2


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


def fit(inputs: np.ndarray, actions: np.ndarray, kinds: np.ndarray, count: int, leaves: int) -> tuple[list[Tree], int]:
    """Tree 0 of all samples and trees 1 to `count` of those of their kind.

    Args:
        inputs: float32 (flows, intervals, inputs).
        actions: float32 (flows, intervals), the teacher's.
        kinds: integers (flows, intervals), 0 before a kind is known.
        count: K; 0: one tree alone.
        leaves: at most, of a tree.

    Returns:
        The trees, and which of `FEWEST_SAMPLES` is best.
    """
    fewest = _best_fewest_samples(inputs, actions, leaves)
    trees = [grow(inputs.reshape(-1, inputs.shape[-1]), actions.reshape(-1), leaves, fewest)]
    for kind in range(1, count + 1):
        chosen = kinds == kind
        # A kind with too few samples is decided by what is known of all.
        enough = chosen.sum() >= 2 * fewest
        trees.append(grow(inputs[chosen], actions[chosen], leaves, fewest) if enough else trees[0])
    return trees, fewest


def grow(inputs: np.ndarray, actions: np.ndarray, leaves: int, fewest_samples: int) -> Tree:
    """One tree: the split that takes most of the squared error off comes first, wherever it is.

    Args:
        inputs: float32 (N, inputs).
        actions: (N,), the teacher's.
        leaves: at most, 2 or more.
        fewest_samples: of a leaf.
    """
    # One round of boosting is CART over 255 bins of each input, in a small part of DecisionTreeRegressor's time.
    found = HistGradientBoostingRegressor(
        max_iter=1,
        learning_rate=1.0,
        max_leaf_nodes=leaves,
        min_samples_leaf=fewest_samples,
        early_stopping=False,
        random_state=1,
    ).fit(inputs, actions)
    nodes = found._predictors[0][0].nodes
    values = nodes["value"] + found._baseline_prediction.item()
    # Thresholds are doubles there: the float below gives every float32 the same answer.
    threshold = nodes["num_threshold"].astype(np.float32)
    threshold = np.where(threshold > nodes["num_threshold"], np.nextafter(threshold, np.float32(-np.inf)), threshold)
    return Tree(
        np.where(nodes["is_leaf"], -1, nodes["feature_idx"]),
        threshold,
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        LEVELS[np.abs(values[:, None] - LEVELS).argmin(axis=1)].astype(np.float32),
    )


def _best_fewest_samples(inputs: np.ndarray, actions: np.ndarray, leaves: int) -> int:
    """Of FEWEST_SAMPLES the one with the smallest squared error, of a tree of all samples of four fifths of some flows,
    on the others.
    """
    flows = np.linspace(0, len(inputs) - 1, min(len(inputs), _GRID_FLOWS)).astype(int)
    seen, unseen = np.split(flows, [int(len(flows) * (1 - _UNSEEN_SHARE))])
    errors = {}
    for fewest in FEWEST_SAMPLES:
        tree = grow(inputs[seen].reshape(-1, inputs.shape[-1]), actions[seen].reshape(-1), leaves, fewest)
        answers = tree.decide(inputs[unseen].reshape(-1, inputs.shape[-1]))
        errors[fewest] = float(np.mean((answers - actions[unseen].reshape(-1)) ** 2))
    return min(errors, key=lambda fewest: errors[fewest])
