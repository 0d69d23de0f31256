"""Mahimahi traces: one line per delivery opportunity of 1500 bytes, its time in ms; the last is the period.

The reader accepts files made from packet captures: out of order, with fractions, with any start time.

The reader converts deliveries to rates in windows of 200 ms, or of another length: a delivery at ``t`` counts in window
``floor(t / 200)``, one at the very end in the last; a remainder of less than half a window belongs to the window before
it. A window without a delivery has no capacity. Deliveries times 12,000 bits equals the integral of the rates.

The writer places delivery ``k`` where the capacity has carried ``k`` times 12,000 bits, rounded up to a millisecond; it
places the last delivery at the end of the trace, which preserves the length.
"""

from __future__ import annotations

import re

import numpy as np

from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_TEXT_BYTES
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats import ImportedTrace
from weir_traces.formats.validation import Finding, Samples, check
from weir_traces.schema.capacity import CapacityTrace

DELIVERY_BITS = 1500 * 8
# 28 hours in windows of 200 ms.
MOST_WINDOWS = 500_000
# One day; later start times count from another epoch.
LATEST_START_MS = 86_400_000


def read_mahimahi(text: str, source: str, *, window_ms: int = DEFAULT_WINDOW_MS) -> ImportedTrace:
    """A Mahimahi trace; its last time is the trace's period.

    Raises:
        InputError: a line is not a time in milliseconds, the window or trace is empty, or the trace is too long.
    """
    if window_ms < 1:
        raise InputError(f"--mahimahi-window-ms '{window_ms}': must be at least 1 ms")
    times: list[int] = []
    lines: list[int] = []
    fraction = 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if not re.fullmatch(r"\d{1,15}(\.\d*)?", stripped):
            raise InputError(f"{source}: line {number}: {stripped[:40]!r} is no time in milliseconds; fix the line")
        whole, _, rest = stripped.partition(".")
        if rest.strip("0"):
            fraction = fraction or number
        times.append(int(whole))
        lines.append(number)
    ms = np.array(times, dtype=np.int64)
    findings = []
    if fraction:
        text_ = "times have fractions, which are cut"
        findings.append(Finding("fractions", "warning", source, f"line {fraction}", text_))
    if (back := np.flatnonzero(np.diff(ms) < 0)).size:
        position, count = f"line {lines[back[0] + 1]}", f"; {back.size} such lines" if back.size > 1 else ""
        text_ = f"{ms[back[0] + 1]} ms comes after {ms[back[0]]} ms{count}"
        findings.append(Finding("unsorted", "warning", source, position, text_, "the deliveries are sorted by time"))
    order = np.argsort(ms, kind="stable")
    ms = ms[order]
    number_of = np.array(lines)[order]
    if ms[0] > LATEST_START_MS:
        text_ = f"the first time is {ms[0]} ms; all times are shifted so that it becomes 0"
        findings.append(Finding("shifted", "warning", source, f"line {number_of[0]}", text_))
        ms = ms - ms[0]
    length = int(ms[-1])
    if length == 0:
        raise InputError(f"{source}: line {lines[-1]}: the trace ends at 0 ms; its last line must be a later time")
    if length / window_ms > MOST_WINDOWS:
        raise InputError(
            f"{source}: line {number_of[-1]}: the trace ends at {length} ms, over {MOST_WINDOWS:,} windows of "
            f"{window_ms} ms; fix the line, or widen --mahimahi-window-ms"
        )
    edges = np.arange(0, length, window_ms)
    if edges.size > 1 and length - edges[-1] < window_ms / 2:
        edges = edges[:-1]
    window = np.searchsorted(edges, ms, side="right") - 1
    counts = np.bincount(window, minlength=edges.size)
    durations = np.diff(np.append(edges, length)) / 1e3
    first = np.searchsorted(window, np.arange(edges.size), side="left")
    positions = [f"line {number_of[min(i, ms.size - 1)]}" for i in first]
    samples = Samples(source, positions, durations, counts * DELIVERY_BITS / durations)
    found, repaired = check(samples)
    # Use edges rather than sums of durations, so that the period equals the file's exactly.
    trace = CapacityTrace(edges / 1e3, repaired.rates_bps, length / 1e3)
    described = f"ms, {ms.size} deliveries of 1500 bytes"
    return ImportedTrace(source, "mahimahi", trace, findings + found, understood=described)


def write_mahimahi(trace: CapacityTrace) -> str:
    """Text of a Mahimahi trace of a periodic capacity; preserves the integral to one delivery, the length to 1 ms.

    Raises:
        InputError: the trace carries less than one packet, or more packets than a readable file can hold.
    """
    assert trace.period_s is not None, "cut the trace to a duration first"
    edges = np.append(trace.times_s, trace.period_s)
    bits = np.concatenate(([0.0], np.cumsum(trace.rates_bps * np.diff(edges))))
    count = round(bits[-1] / DELIVERY_BITS)
    if count < 1:
        raise InputError("the trace carries less than one packet of 1500 bytes; Mahimahi cannot express it")
    digits = len(str(round(trace.period_s * 1e3)))
    if count * (digits + 1) > LARGEST_TEXT_BYTES:
        raise InputError(
            f"the trace carries {count:,} packets, more than a Mahimahi file of 64 MiB holds; make it shorter or slower"
        )
    wanted = np.arange(1, count + 1) * float(DELIVERY_BITS)
    segment = np.minimum(np.searchsorted(bits, wanted, side="left"), bits.size - 1) - 1
    rate = trace.rates_bps[segment]
    rest = np.divide(wanted - bits[segment], rate, out=np.zeros(count), where=rate > 0)
    length_ms = max(1, round(trace.period_s * 1e3))
    ms = np.clip(np.ceil((edges[segment] + rest) * 1e3 - 1e-6).astype(np.int64), 0, length_ms)
    ms[-1] = length_ms
    return "\n".join(map(str, ms.tolist())) + "\n"
