"""The time limit of a training, `--minutes`."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from weir_cli.errors import InputError


class TimeLimit:
    """Returns true, when called, once `minutes` have passed since it was made; None: never.

    Args:
        minutes: of wall-clock time, > 0.
        clock: returns seconds.

    Raises:
        InputError: the minutes are not above 0.
    """

    def __init__(self, minutes: float | None, clock: Callable[[], float] | None = None) -> None:
        if minutes is not None and not minutes > 0:
            raise InputError(f"--minutes {minutes:g}: must be above 0")
        self._clock = clock or monotonic
        self._end_s = None if minutes is None else self._clock() + 60.0 * minutes

    def __call__(self) -> bool:
        """True once the time has passed."""
        return self._end_s is not None and self._clock() >= self._end_s
