"""The time limit of a training, `--minutes`."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic

from weir_cli.errors import InputError


class TimeLimit:
    """Returns true, when called, once `minutes` have passed since it was made; None: never.

    Args:
        minutes: of wall-clock time, > 0.
        clock: returns seconds.

    Attributes:
        end_s: when it passes, in seconds of the clock; infinite without a limit.

    Raises:
        InputError: the minutes are not above 0.
    """

    def __init__(self, minutes: float | None, clock: Callable[[], float] | None = None) -> None:
        if minutes is not None and not minutes > 0:
            raise InputError(f"--minutes {minutes:g}: must be above 0")
        self._clock = clock or monotonic
        self.end_s = math.inf if minutes is None else self._clock() + 60.0 * minutes

    def __call__(self) -> bool:
        """True once the time has passed."""
        return self.end_s < math.inf and self._clock() >= self.end_s
