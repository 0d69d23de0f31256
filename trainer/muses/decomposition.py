"""Which kinds of path there are: what states and actions flows have, compared (Muses, section III-E)."""

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
# Segments lie between these percentiles; those at the ends have the rest: by outliers most would be empty.
_OUTER_PERCENTILES: Final = (0.5, 99.5)
_MOST_STATES: Final = 200_000
_MOST_WINDOWS: Final = 3000
_COMPARED_WINDOWS: Final = 1000


@dataclass(frozen=True)
class StateAxes:
    """Where on AXES axes a state lies, in which of SEGMENTS segments of each.

    `weight`: float32 (states, AXES). `edges`: float32 (AXES, SEGMENTS - 1), rising; a segment ends at its edge.
    """

    weight: np.ndarray
    edges: np.ndarray

    @classmethod
    def fitted(cls, states: np.ndarray) -> StateAxes:
        """The principal components of states (N, states), each of the same weight, float32."""
        deviation = states.std(axis=0, dtype=np.float64)
        # What never changes says nothing.
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


def decompose(states: np.ndarray, actions: np.ndarray, kinds: Sequence[int], *, seed: int) -> Decomposition:
    """K-means over the joint histograms of windows; of several numbers of kinds that with the best silhouette.

    Args:
        states: float32 (N, samples, states).
        actions: float (N, samples), the teacher's.
        kinds: numbers of kinds to try; 1: no division.
        seed: of K-means.
    """
    generator = np.random.default_rng(seed)
    flat = states.reshape(-1, states.shape[-1])
    axes = StateAxes.fitted(flat[generator.permutation(len(flat))[:_MOST_STATES]])
    edges = np.quantile(actions, np.arange(1, ACTION_LEVELS) / ACTION_LEVELS)
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
