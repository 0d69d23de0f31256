"""MOCC's requirement replay (section 4.3): old objectives among the episodes of the new one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.errors import InputError
from weir.registry import PRESETS
from weir.trainer.gym.episode import checked_objective, random_objective
from weir.trainer.gym.specification import ObjectiveSource


class RequirementReplay:
    """Draws the objective of an episode: one seen before with the probability `share`, else the new one.

    With a share of one half this is MOCC Eq. 6 in expectation, 1/2 (L(new) + L(old)): every update learns from the
    episodes of all environments, and the surrogate loss is a mean over them.

    Args:
        new: weights of the new objective.
        old: objectives seen before, each as likely; "random" stands for `random_objective`.
        share: 0 to 1; 0 replays nothing.

    Raises:
        InputError: the share is out of range, or there is nothing to replay.
    """

    def __init__(self, new: Sequence[float], old: Sequence[ObjectiveSource], share: float = 0.5) -> None:
        if not 0.0 <= share < 1.0:
            raise InputError(f"replay share {share:g}: must be 0 or more and below 1")
        if share > 0 and not old:
            raise InputError("there are no old objectives to replay: give a replay share of 0")
        self.new = checked_objective(new)
        self.old = tuple(old)
        self.share = share

    def __call__(self, generator: np.random.Generator) -> Sequence[float]:
        """The objective of the next episode."""
        if generator.random() >= self.share:
            return self.new
        source = self.old[int(generator.integers(len(self.old)))]
        if isinstance(source, str):
            return random_objective(generator) if source == "random" else PRESETS[source]
        return source(generator) if callable(source) else source
