"""The user's statements about a file of rows that is ambiguous by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weir_traces.formats.units import RateUnit

RateHolds = Literal["after", "before", "step"]
"""The time to which a rate applies: until the next row (after), since the previous row (before), or for one step, with
no capacity in time without a row (step).
"""


@dataclass(frozen=True)
class Reading:
    """Statements about the rows of a file; None infers the value from the file.

    ``time_column`` and ``rate_column`` are header names or column numbers, counted from 1. ``time_unit_s`` is the
    unit of times in seconds. ``step_s``: each row lasts that many seconds, and no column has times.
    """

    time_column: str | None = None
    rate_column: str | None = None
    time_unit_s: float | None = None
    rate_unit: RateUnit | None = None
    step_s: float | None = None
    rate_holds: RateHolds | None = None


AS_WRITTEN = Reading()
