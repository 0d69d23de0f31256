"""Parses a user's objectives: the weights of throughput, latency and loss, or a preset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from weir_cli.errors import InputError, unknown
from weir_sim.controllers import PRESETS

MINIMUM_WEIGHT: Final = 0.05
"""Smallest weight of a random objective: MOCC's landmarks exclude the rim, where policies make no sense for any
application.
"""


def checked_objective(weights: str | Sequence[float]) -> tuple[float, float, float]:
    """Returns three positive weights divided by their sum, or those of a preset.

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


def parse_objective(text: str) -> tuple[float, float, float]:
    """Parses the value of `--objective`: weights of throughput, latency and loss as `T,L,P` (divided by their sum), or
    the name of a preset.

    Raises:
        InputError: it is neither.
    """
    try:
        weights = checked_objective(text if text in PRESETS else [float(part) for part in text.split(",")])
    except ValueError:
        raise InputError(
            f"--objective '{text}': give three weights above 0 such as 0.4,0.5,0.1, or a preset; "
            f"{unknown(text, PRESETS)}"
        ) from None
    # Rounds, so that 4,5,1 and 0.4,0.5,0.1 are the same run.
    throughput, latency, loss = (round(weight, 6) for weight in weights)
    return throughput, latency, loss
