"""A line that describes how a file was interpreted, so that the user notices a misreading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir_traces.formats import ImportedTrace
from weir_traces.formats.plain_trace import run_length_s

LOW_BPS = 100e3


@dataclass(frozen=True)
class Understood:
    """The interpretation of a file.

    ``length_s`` is None for an endless constant rate; then ``low_s``, the time below LOW_BPS, has no meaning. A run
    lasts ``run_s`` and repeats a shorter trace.
    """

    reading: str
    mean_bps: float
    lowest_bps: float
    low_s: float
    length_s: float | None
    run_s: float

    def __str__(self) -> str:
        if self.length_s is None:
            return f"{self.reading}; {_rate(self.mean_bps)} without end"
        repeated = f", repeated for {self.run_s:.6g} s" if self.run_s > self.length_s else ""
        return (
            f"{self.reading}; mean {_rate(self.mean_bps)}, lowest {_rate(self.lowest_bps)}, "
            f"{self.low_s:.4g} s below 100 kbps, {self.length_s:.6g} s long{repeated}"
        )


def understood(imported: ImportedTrace) -> Understood | None:
    """The summary of a trace after repairs; None for an unlimited link."""
    trace = imported.capacity
    if trace is None:
        return None
    length_s = trace.period_s
    run_s = run_length_s(trace) if imported.scenario is None else imported.scenario.duration_s
    if length_s is None and imported.scenario is not None:
        length_s = run_s
    if length_s is None:
        rate = float(trace.rates_bps[0])
        return Understood(imported.understood, rate, rate, 0.0, None, run_s)
    inside = trace.times_s < length_s
    steps, rates = np.diff(np.append(trace.times_s[inside], length_s)), trace.rates_bps[inside]
    low_s = float(np.sum(steps[rates < LOW_BPS]))
    return Understood(imported.understood, trace.mean_bps(length_s), float(rates.min()), low_s, length_s, run_s)


def _rate(bps: float) -> str:
    return f"{bps / 1e6:.4g} Mbps" if bps >= 1e6 else f"{bps / 1e3:.4g} kbps"
