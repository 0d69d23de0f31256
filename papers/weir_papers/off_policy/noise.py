"""Ornstein-Uhlenbeck noise of several environments, which continues when a training is resumed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise, VectorizedActionNoise


class WanderingNoise(VectorizedActionNoise):
    """Noise of each environment with the standard deviation `sigma` of its steps, before scaling with time."""

    def __init__(self, sigma: float, environments: int) -> None:
        super().__init__(OrnsteinUhlenbeckActionNoise(np.zeros(1), np.full(1, sigma)), environments)
        self._restored = False

    def state(self) -> np.ndarray:
        """The latest noise, float64 of shape (environments, 1)."""
        return np.array([noise.noise_prev for noise in self._wandering()])

    def restore(self, state: np.ndarray) -> None:
        """Sets the state, which the next reset keeps: that at the start of `learn`.

        Raises:
            ValueError: it is of other environments.
        """
        if state.shape != self.state().shape:
            raise ValueError(f"noise of shape {state.shape}, not {self.state().shape}")
        for noise, latest in zip(self._wandering(), state, strict=True):
            noise.noise_prev = latest
        self._restored = True

    def reset(self, indices: Iterable[int] | None = None) -> None:
        """See the base."""
        if not self._restored:
            super().reset(indices)
        self._restored = False

    def _wandering(self) -> list[OrnsteinUhlenbeckActionNoise]:
        return [noise for noise in self.noises if isinstance(noise, OrnsteinUhlenbeckActionNoise)]
