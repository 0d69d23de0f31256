"""The kinds of path, from the states and actions of flows (Muses, section III-E), and the choice among them from states
alone while a call runs (section III-F).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

AXES: Final = 3
SEGMENTS: Final = 10
ACTION_LEVELS: Final = 7
# Segments divide the range between these percentiles; the outer two hold the rest, or outliers would leave most empty.
_OUTER_PERCENTILES: Final = (0.5, 99.5)
_MOST_STATES: Final = 200_000
_MOST_WINDOWS: Final = 3000
_COMPARED_WINDOWS: Final = 1000


@dataclass(frozen=True)
class StateAxes:
    """Divides states into SEGMENTS segments on each of AXES axes.

    `weight`: float32 (states, AXES). `edges`: float32 (AXES, SEGMENTS - 1), rising; a segment ends at its edge.
    """

    weight: np.ndarray
    edges: np.ndarray

    @classmethod
    def fitted(cls, states: np.ndarray) -> StateAxes:
        """The principal components of states (N, states), each of the same weight, float32."""
        deviation = states.std(axis=0, dtype=np.float64)
        # A constant state carries no information.
        scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 1e-9)
        found = PCA(AXES, svd_solver="covariance_eigh").fit(states * scale)
        weight = (found.components_ * scale).T.astype(np.float32)
        low, high = np.percentile(states @ weight, _OUTER_PERCENTILES, axis=0)
        return cls(weight, np.linspace(low, high, SEGMENTS + 1)[1:-1].T.astype(np.float32))

    def segments(self, states: np.ndarray) -> np.ndarray:
        """int64 (..., AXES) for states (..., states)."""
        places = states @ self.weight
        return (places[..., None] > self.edges).sum(axis=-1)

    def histograms(self, states: np.ndarray, actions: np.ndarray | None = None) -> np.ndarray:
        """Shares of the samples, float64 (N, AXES * SEGMENTS) for states (N, samples, states); with the samples' action
        levels, integers (N, samples), joint with these: (N, AXES * SEGMENTS * ACTION_LEVELS).
        """
        cells = self.segments(states) + SEGMENTS * np.arange(AXES)
        levels = 1
        if actions is not None:
            levels = ACTION_LEVELS
            cells = cells * levels + actions[..., None]
        flat = cells.reshape(len(cells), -1) + (np.arange(len(cells)) * AXES * SEGMENTS * levels)[:, None]
        counts = np.bincount(flat.ravel(), minlength=len(cells) * AXES * SEGMENTS * levels)
        return counts.reshape(len(cells), -1) / states.shape[1]


@dataclass(frozen=True)
class Decomposition:
    """Kinds of path. `action_edges`: float64 (ACTION_LEVELS - 1,), between levels of the teacher's action.

    `centres`: float64 (K, AXES * SEGMENTS * ACTION_LEVELS), the mean joint histogram of each kind. `silhouettes`: the
    score of every number of kinds that was tried.
    """

    axes: StateAxes
    action_edges: np.ndarray
    centres: np.ndarray
    silhouettes: dict[int, float]

    def joint(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Joint histograms of windows: states (N, samples, states), actions (N, samples)."""
        return self.axes.histograms(states, np.digitize(actions, self.action_edges))

    def nearest(self, joint: np.ndarray) -> np.ndarray:
        """The kinds of joint histograms, nearest first: integers (N, K)."""
        return np.argsort(((joint[:, None] - self.centres) ** 2).sum(axis=2), axis=1)


@dataclass(frozen=True)
class Selector:
    """Every `samples` intervals the kind with the highest score of the state histogram since the last choice.

    The nearest centre c_k of the joint histogram Q p, which a state histogram p stands for, is the largest of
    2 (c_k Q) p - |c_k|^2: linear in p, so that neither Q nor the centres are kept.

    `weight`: float32 (AXES * SEGMENTS, K), of a histogram in shares; `bias`: float32 (K,).
    """

    axes: StateAxes
    weight: np.ndarray
    bias: np.ndarray
    samples: int

    @property
    def kinds(self) -> int:
        """K; kind 0, before the first choice, is not one of them."""
        return len(self.bias)

    @classmethod
    def fitted(cls, decomposition: Decomposition, states: np.ndarray, joint: np.ndarray, samples: int) -> Selector:
        """Q by least squares.

        Args:
            decomposition: whose centres are meant.
            states: float32 (N, samples, states), windows.
            joint: float64 (N, joint histogram), what each window's state histogram stands for.
            samples: of a window.
        """
        centres = decomposition.centres
        matrix = np.linalg.lstsq(decomposition.axes.histograms(states), joint, rcond=None)[0]
        weight = 2.0 * matrix @ centres.T
        return cls(decomposition.axes, weight.astype(np.float32), -(centres**2).sum(axis=1).astype(np.float32), samples)

    def choose(self, histograms: np.ndarray) -> np.ndarray:
        """Kinds, integers from 1 on, (N,), for state histograms in shares."""
        return np.argmax(histograms @ self.weight + self.bias, axis=1) + 1

    def kinds_of(self, states: np.ndarray) -> np.ndarray:
        """The kind in force at each interval of flows: int64 (N, intervals) for states (N, intervals, states)."""
        kinds = np.zeros(states.shape[:2], dtype=np.int64)
        # The choice is made with the last sample, and decides from that interval on.
        for end in range(self.samples, states.shape[1] + 1, self.samples):
            chosen = self.choose(self.axes.histograms(states[:, end - self.samples : end]))
            kinds[:, end - 1 :] = chosen[:, None]
        return kinds


def decompose(
    states: np.ndarray,
    actions: np.ndarray,
    kinds: Sequence[int],
    *,
    seed: int,
    action_edges: np.ndarray | None = None,
) -> Decomposition:
    """K-means over the joint histograms of windows; of several numbers of kinds that with the best silhouette. Levels
    of the action have these edges, or are equally frequent.
    """
    generator = np.random.default_rng(seed)
    flat = states.reshape(-1, states.shape[-1])
    axes = StateAxes.fitted(flat[generator.permutation(len(flat))[:_MOST_STATES]])
    edges = np.quantile(actions, np.arange(1, ACTION_LEVELS) / ACTION_LEVELS) if action_edges is None else action_edges
    joint = axes.histograms(states, np.digitize(actions, edges))
    some = joint[generator.permutation(len(joint))[:_MOST_WINDOWS]]
    silhouettes, centres = {}, joint.mean(axis=0, keepdims=True)
    for count in kinds:
        if count < 2:
            continue
        found = KMeans(count, n_init=2, random_state=seed).fit(some)
        compared = min(len(some), _COMPARED_WINDOWS)
        silhouettes[count] = float(silhouette_score(some, found.labels_, sample_size=compared, random_state=seed))
        if silhouettes[count] == max(silhouettes.values()):
            centres = found.cluster_centers_
    return Decomposition(axes, edges, centres, silhouettes)
