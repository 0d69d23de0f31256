"""The programs of Weir and the clusters that run them, for the bench and for training."""

from typing import Final

MAX_DECISION_DELAY_MS: Final = 10_000.0
"""The longest time that `weir-sim` lets a decision take."""
