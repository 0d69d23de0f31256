"""The kind of a path from its states alone, while a call runs (Muses, section III-F)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.trainer.muses.decomposition import Decomposition, StateAxes


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
