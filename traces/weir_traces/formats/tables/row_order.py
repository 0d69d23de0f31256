"""The order of rows by time."""

from __future__ import annotations

import numpy as np

from weir_traces.formats.tables.rows import RateRows
from weir_traces.formats.validation import Finding


def put_in_order(rows: RateRows) -> None:
    """Reverses rows that run from newest to oldest, merges rows of equal times if the format allows it, and drops other
    rows whose time is not later; adds a finding for each case.
    """
    steps = np.diff(rows.times_s)
    if steps.size > 1 and rows.end_s is None and np.all(steps <= 0) and np.any(steps < 0):
        text = "the rows run from the newest to the oldest"
        rows.findings.append(Finding("unsorted", "warning", rows.source, rows.positions[1], text, "sorted by time"))
        first_s = float(rows.times_s[-1])
        rows.times_s, rows.numbers = rows.times_s[::-1] - first_s, rows.numbers[::-1]
        rows.positions = rows.positions[::-1]
        rows.first_s = None if rows.first_s is None else rows.first_s + first_s
        steps = np.diff(rows.times_s)
    if np.all(steps > 0):
        return
    keep = [0]
    merged = rows.numbers.copy()
    counts = np.ones(merged.size)
    same: list[int] = []
    for index in range(1, rows.times_s.size):
        step = rows.times_s[index] - rows.times_s[keep[-1]]
        if step > 0:
            keep.append(index)
        elif step == 0 and (rows.averages or rows.unit.is_amount):
            merged[keep[-1]] += merged[index]
            counts[keep[-1]] += 0 if rows.unit.is_amount else 1
            same.append(index)
        else:
            now, last = (rows.times_s[each] + (rows.first_s or 0.0) for each in (index, keep[-1]))
            text = f"{now:g} s is not later than {last:g} s"
            position = rows.positions[index]
            rows.findings.append(
                Finding("non_monotone_time", "error", rows.source, position, text, "the entry is dropped")
            )
    if same:
        how = "bytes are added" if rows.unit.is_amount else "rates are averaged"
        text = f"{len(same)} rows have the time of the row before; their {how}"
        rows.findings.append(Finding("same_time", "warning", rows.source, rows.positions[same[0]], text))
    if len(keep) < rows.times_s.size:
        rows.times_s, rows.numbers = rows.times_s[keep], (merged / counts)[keep]
        rows.positions = [rows.positions[index] for index in keep]
