"""Refuses rows that have the time of writing: a buffered writer stamps many rows at once, then none for long.

The times of such rows say nothing about their rates, which are usually at an even step. Rows are in bursts if SHORT of
their steps are below SHORT_STEPS mean steps. Rows of one second on a clock of whole seconds are no burst unless some
seconds pass without a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError

SHORT = 2 / 3
SHORT_STEPS = 0.1
_FEWEST_ROWS, _FEWEST_BURSTS = 10, 3
_COARSE_S = 2.0


def refuse_bursts(times_s: NDArray[np.float64], *, is_coarse: bool, source: str, positions: list[str]) -> None:
    """Refuses times that are those of writing.

    Args:
        times_s: [n], as in the file.
        is_coarse: the clock has whole seconds.
        source: the file.
        positions: of the rows, for messages.

    Raises:
        InputError: they are; the message has the step at which the rows are even.
    """
    steps = np.abs(np.diff(times_s))
    if times_s.size < _FEWEST_ROWS:
        return
    is_long = steps > max(SHORT_STEPS * float(np.mean(steps)), _COARSE_S if is_coarse else 0.0)
    starts = np.flatnonzero(is_long) + 1
    if starts.size + 1 < _FEWEST_BURSTS or np.mean(~is_long) < SHORT:
        return
    # The first burst may have begun before the log, and the last may be cut.
    rows = np.diff(starts, prepend=0)
    wait_s, per_burst = float(np.median(steps[is_long])), float(np.median(rows))
    first = int(starts[0])
    raise InputError(
        f"{source}: the rows come in bursts of {per_burst:g}, as if stamped by a buffered writer; {positions[first]} "
        f"comes {steps[first - 1]:.4g} s after the row before it, and most rows come at once. Choose one:\n"
        f"  --step {wait_s / per_burst:.4g}: the rows are at an even step (correct this estimate if another is known)\n"
        "  --rate-holds before or --rate-holds after: the times are right"
    )
