"""Small trees that do what the teacher does: CART, for each kind of path and for all (Muses, section III-E).

Regression trees: most actions are near the rule's rate, where seven classes would be too coarse. A student may be a sum
of several, each of which learns what those before it leave: with as many leaves in all it is nearer to the teacher.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

# Leaves hold one of so many actions, -1 to 1 at even steps: a byte in the library's packed trees. What corrects other
# trees holds half of one.
LEVELS: Final = np.linspace(-1.0, 1.0, 253)
# Values to try for the samples of a leaf, at least.
FEWEST_SAMPLES: Final = (20, 80)
_GRID_FLOWS: Final = 400
_UNSEEN_SHARE: Final = 0.2
# Learning rate times number of trees: each tree of a sum learns a part of the residual.
_STEPS: Final = 5.0
_SMALLEST_STEP: Final = 0.1


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
            active = nodes[inside]
            smaller = inputs[inside, self.feature[active]] <= self.threshold[active]
            nodes[inside] = np.where(smaller, self.left[active], self.right[active])
        return self.value[nodes]


@dataclass(frozen=True)
class Student:
    """Decides on paths of one kind: the sum of its trees, clipped to -1 and 1."""

    trees: tuple[Tree, ...]

    @property
    def splits(self) -> int:
        """Splits of all trees."""
        return sum(tree.splits for tree in self.trees)

    def decide(self, inputs: np.ndarray) -> np.ndarray:
        """Actions (N,), float32, for float32 inputs (N, inputs)."""
        first, *others = (tree.decide(inputs) for tree in self.trees)
        return np.clip(sum(others, first), -1.0, 1.0)


@dataclass(frozen=True)
class Size:
    """The size of a student. `leaves`: of a tree, at most. `fewest_samples`: of a leaf, at least."""

    trees: int
    leaves: int
    fewest_samples: int = FEWEST_SAMPLES[0]


def fit(
    inputs: np.ndarray, actions: np.ndarray, kinds: np.ndarray, count: int, trees: int, leaves: int
) -> tuple[list[Student], int]:
    """Student 0 of all samples and students 1 to `count` of those of their kind.

    Args:
        inputs: float32 (flows, intervals, inputs).
        actions: float32 (flows, intervals), the teacher's.
        kinds: integers (flows, intervals), 0 before a kind is known.
        count: K; 0: one student alone.
        trees: of a student.
        leaves: at most, of a tree.

    Returns:
        The students, and which of `FEWEST_SAMPLES` is best.
    """
    size = _best_size(inputs, actions, trees, leaves)
    students = [grow(inputs.reshape(-1, inputs.shape[-1]), actions.reshape(-1), size)]
    for kind in range(1, count + 1):
        chosen = kinds == kind
        # A kind with too few samples is decided by what is known of all.
        enough = chosen.sum() >= 2 * size.fewest_samples
        students.append(grow(inputs[chosen], actions[chosen], size) if enough else students[0])
    return students, size.fewest_samples


def grow(inputs: np.ndarray, actions: np.ndarray, size: Size) -> Student:
    """Grows each tree by the split that reduces the squared error most."""
    # A round of boosting is CART over 255 bins of each input, in a small part of DecisionTreeRegressor's time.
    learner = HistGradientBoostingRegressor(
        max_iter=size.trees,
        learning_rate=1.0 if size.trees == 1 else max(_SMALLEST_STEP, _STEPS / size.trees),
        max_leaf_nodes=size.leaves,
        min_samples_leaf=size.fewest_samples,
        early_stopping=False,
        random_state=1,
    )
    # Its threads all set the process's warning filters; what they leave would make the next fit warn of itself.
    with warnings.catch_warnings():
        found = learner.fit(inputs, actions)
    first, *others = (predictor.nodes for (predictor,) in found._predictors)
    baseline = found._baseline_prediction.item()
    corrections = (_tree(nodes, nodes["value"], LEVELS / 2) for nodes in others)
    return Student((_tree(first, first["value"] + baseline, LEVELS), *corrections))


def _tree(nodes: np.ndarray, values: np.ndarray, levels: np.ndarray) -> Tree:
    """Converts scikit-learn's nodes, with `values` for their leaves, each rounded to the nearest of `levels`."""
    answers = levels[np.abs(values[:, None] - levels).argmin(axis=1)].astype(np.float32)
    if len(nodes) == 1:
        # A tree without a split is none in ONNX.
        left, right = np.array([1, 0, 0]), np.array([2, 0, 0])
        return Tree(np.array([0, -1, -1]), np.zeros(3, np.float32), left, right, np.repeat(answers, 3))
    # Thresholds are doubles there: the float below gives every float32 the same answer.
    threshold = nodes["num_threshold"].astype(np.float32)
    threshold = np.where(threshold > nodes["num_threshold"], np.nextafter(threshold, np.float32(-np.inf)), threshold)
    return Tree(
        np.where(nodes["is_leaf"], -1, nodes["feature_idx"]),
        threshold,
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        answers,
    )


def _best_size(inputs: np.ndarray, actions: np.ndarray, trees: int, leaves: int) -> Size:
    """With that of FEWEST_SAMPLES which gives the smallest squared error, of a student of all samples of four fifths of
    some flows, on the others.
    """
    flows = np.linspace(0, len(inputs) - 1, min(len(inputs), _GRID_FLOWS)).astype(int)
    seen, unseen = np.split(flows, [int(len(flows) * (1 - _UNSEEN_SHARE))])

    def error(size: Size) -> float:
        student = grow(inputs[seen].reshape(-1, inputs.shape[-1]), actions[seen].reshape(-1), size)
        answers = student.decide(inputs[unseen].reshape(-1, inputs.shape[-1]))
        return float(np.mean((answers - actions[unseen].reshape(-1)) ** 2))

    return min((Size(trees, leaves, fewest) for fewest in FEWEST_SAMPLES), key=error)
