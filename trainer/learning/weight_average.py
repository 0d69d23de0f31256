"""The moving average of a policy's weights over its updates: steadier than the policy of the last one, and better."""

from __future__ import annotations

from pathlib import Path

import torch
from stable_baselines3.common.callbacks import BaseCallback

from weir.trainer.learning.algorithms import load_policy, save_checkpoint
from weir.trainer.learning.run_record import AVERAGED


class WeightAverage(BaseCallback):
    """Exponential moving average: after every update, average = decay * average + (1 - decay) * weights.

    Args:
        decay: in (0, 1).
        folder: of the run. `save` writes the average there, as a checkpoint that `load_policy` reads; where there is
            one, the average goes on from it.

    Raises:
        InputError: the average in the folder is damaged.
    """

    def __init__(self, decay: float, folder: Path) -> None:
        super().__init__()
        self._decay = decay
        self._file = folder / AVERAGED
        self._weights: dict[str, torch.Tensor] = {}
        if self._file.is_file():
            self._weights = dict(load_policy(self._file).state_dict())

    def _on_rollout_start(self) -> None:
        """After every update, since a rollout follows; before the first there is nothing to average."""
        now = self.model.policy.state_dict()
        if not self._weights:
            self._weights = {name: weight.detach().clone() for name, weight in now.items()}
        for name, weight in now.items():
            self._weights[name].lerp_(weight.detach(), 1.0 - self._decay)

    def _on_step(self) -> bool:
        return True

    def save(self) -> None:
        """Writes the average; the model stays as it is."""
        if not self._weights:
            return
        now = {name: weight.detach().clone() for name, weight in self.model.policy.state_dict().items()}
        self.model.policy.load_state_dict(self._weights)
        try:
            save_checkpoint(self.model, self._file)
        finally:
            self.model.policy.load_state_dict(now)
