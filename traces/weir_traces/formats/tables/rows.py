"""Rows of times and rates, as a table has them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weir_traces.formats import TraceFormat
from weir_traces.formats.reading import RateHolds
from weir_traces.formats.units import RateUnit
from weir_traces.formats.validation import Finding
from weir_traces.schema.capacity import MAX_RATE_BPS


@dataclass
class RateRows:
    """Rows of a table, in order.

    Args:
        times_s: [n], s, relative to the first row.
        numbers: [n], in ``unit``; ``positions`` locate them in messages.
        described: columns and units, for people.
        first_s: time of the first row on the file's clock; None for dates.
        end_s: end of the last rate, if the file has it.
        usual_step_s: step of the rows, s, if some of them are missing; None: that of ``times_s``.
        holds: the side of a row on which its rate holds, if the format defines it.
        usual_bps: a median above it is doubtful.
        averages: rows of equal times are merged to their mean. Amounts are always merged, to their sum.
    """

    source: str
    format: TraceFormat
    times_s: NDArray[np.float64]
    numbers: NDArray[np.float64]
    unit: RateUnit
    positions: list[str]
    described: str
    first_s: float | None = 0.0
    end_s: float | None = None
    usual_step_s: float | None = None
    holds: RateHolds | None = None
    usual_bps: float = MAX_RATE_BPS
    averages: bool = False
    findings: list[Finding] = field(default_factory=list)
