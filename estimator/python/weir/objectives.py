"""Objectives that a user gives: the weights of throughput, latency and loss, or a preset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from weir.errors import InputError
from weir.registry import PRESETS

MINIMUM_WEIGHT: Final = 0.05
"""No weight of a random objective is smaller: MOCC's landmarks exclude the rim, where policies make no sense for any
application.
"""


def checked_objective(weights: str | Sequence[float]) -> tuple[float, float, float]:
    """Three positive weights, divided by their sum; or those of a preset.

    Raises:
        InputError: an unknown preset, or weights that are not three positive numbers.
    """
    if isinstance(weights, str):
        if weights not in PRESETS:
            raise InputError(
                f"objective {weights!r}: one of {', '.join(PRESETS)}, random, or three weights "
                "(throughput, latency, loss)"
            )
        return PRESETS[weights]
    values = [float(weight) for weight in weights]
    if len(values) != 3 or not all(math.isfinite(value) and value > 0 for value in values):
        raise InputError(f"objective {list(values)}: three weights (throughput, latency, loss), each above 0")
    total = sum(values)
    return (values[0] / total, values[1] / total, values[2] / total)
