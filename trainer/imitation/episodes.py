"""The aggregated data: what students saw, and what they were told, episode by episode."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import torch


class Episodes:
    """Of N environments, whose episodes begin and end when they will; the oldest finished ones are forgotten.

    Args:
        environments: N.
        most_decisions: how many are remembered in finished episodes.
    """

    def __init__(self, environments: int, most_decisions: int) -> None:
        self._most_decisions = most_decisions
        self._running: list[list[np.ndarray]] = [[] for _ in range(environments)]
        self._finished: deque[torch.Tensor] = deque()
        self.decisions = 0

    def add(self, inputs: np.ndarray, told: np.ndarray) -> None:
        """One decision of every environment: scaled inputs (N, I), and what the teacher would have done, (N,)."""
        # Inputs are within +-3: half precision is finer than what is learned, and takes half of the memory.
        for rows, row in zip(self._running, np.column_stack([inputs, told]).astype(np.float16), strict=True):
            rows.append(row)

    def finish(self, ended: np.ndarray) -> None:
        """The episodes of these environments are over."""
        for index in ended:
            rows, self._running[index] = self._running[index], []
            self._finished.append(torch.from_numpy(np.stack(rows)))
            self.decisions += len(rows)
        while self.decisions > self._most_decisions and len(self._finished) > 1:
            self.decisions -= len(self._finished.popleft())

    def windows(
        self, random: np.random.Generator, episodes: int, steps: int
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Some finished episodes side by side from their beginnings, `steps` decisions at a time: inputs
        (`episodes`, `steps`, I) and what was told (`episodes`, `steps`), float32, not a number beyond an episode's end.
        There must be one.
        """
        chosen = [self._finished[index] for index in random.integers(len(self._finished), size=episodes)]
        padded = torch.nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=float("nan"))
        for first in range(0, padded.shape[1], steps):
            window = padded[:, first : first + steps].float()
            yield window[..., :-1].nan_to_num(0.0), window[..., -1]
