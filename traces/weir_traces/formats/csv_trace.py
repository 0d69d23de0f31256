"""Weir's CSV: a header ``time_s,rate_bps`` (or ``time_ms``, ``rate_kbps``, ``rate_mbps``), then one row per change.

A rate holds until the next row. A last row with an empty rate marks the end; without it, the last rate holds for the
median step. The rate of a single row holds forever. Empty lines and lines that begin with ``#`` are skipped, and other
columns are ignored. ``tables.headers`` defines how other headers are read.
"""

from __future__ import annotations

from weir_traces.schema.capacity import CapacityTrace


def write_csv(trace: CapacityTrace) -> str:
    """Text of a CSV trace; reading it returns the same trace, bit for bit."""
    rows = [f"{time!r},{rate!r}" for time, rate in zip(trace.times_s.tolist(), trace.rates_bps.tolist(), strict=True)]
    if trace.period_s is not None:
        rows.append(f"{trace.period_s!r},")
    return "\n".join(["time_s,rate_bps", *rows]) + "\n"
