"""Statements of a user about a file of rows, where the file itself leaves doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weir.traces.formats.units import RateUnit

RateHolds = Literal["after", "before"]
"""The side of its row on which a rate holds: until the next row, or since the row before."""


@dataclass(frozen=True)
class Reading:
    """Statements about the rows of a file; None leaves one to the file.

    ``time_column`` and ``rate_column`` are names in the header, or numbers of columns from 1 on. ``time_unit_s`` is the
    unit of times in seconds. ``step_s``: each row lasts that many seconds, and no column has times.
    """

    time_column: str | None = None
    rate_column: str | None = None
    time_unit_s: float | None = None
    rate_unit: RateUnit | None = None
    step_s: float | None = None
    rate_holds: RateHolds | None = None


AS_WRITTEN = Reading()
