"""Numbers as a progress display shows them."""

from __future__ import annotations

import math


def reward_text(mean_reward: float) -> str:
    """A mean reward a step; before the first episode has ended there is none."""
    return f"reward {mean_reward:.4f}" if math.isfinite(mean_reward) else "no episode has ended yet"
