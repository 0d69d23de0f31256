"""The user's statements about a file of rows that is ambiguous by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weir_traces.formats.units import RateUnit
from weir_traces.formats.validation import Finding

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

    def without_effect(self, source: str, kind: str) -> list[Finding]:
        """A warning that names the options without effect on ``source``, which is of ``kind``; none without options."""
        unit = self.rate_unit if self.time_unit_s is None else self.time_unit_s
        options = {
            "--time-column": self.time_column, "--rate-column": self.rate_column, "--unit": unit, "--step": self.step_s,
            "--rate-holds": self.rate_holds,
        }  # fmt: skip
        stated = ", ".join(name for name, value in options.items() if value is not None)
        text = f"{stated}: without effect; {kind} has columns and units of its own"
        return [Finding("ignored", "warning", source, "options", text)] if stated else []


AS_WRITTEN = Reading()
