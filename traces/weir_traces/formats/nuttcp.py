"""Interval reports of nuttcp (``-i``), as text and with ``-fparse``: the rate of each interval.

A row has the megabytes, seconds and rate of an interval. The summary has other words (%TX or tx_cpu, the load of the
sender's CPU), and a running total follows an interval in its row; both are ignored. A client receives the rows of its
server, so UDP rows are what arrived.
"""

from __future__ import annotations

import re

import numpy as np

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.validation import Samples, check
from weir_traces.schema.capacity import CapacityTrace

_NUMBER = r"(\d{1,12}(?:\.\d{1,9})?)"
_ROW = re.compile(rf"{_NUMBER} [KMG]?B / {{1,12}}{_NUMBER} sec = {{1,12}}{_NUMBER} ([KMG])bps")
_PARSABLE = re.compile(rf"\bmegabytes={_NUMBER} real_sec(?:onds)?={_NUMBER} rate_([KMG])bps={_NUMBER}")
_SUMMARY = re.compile(r"%TX|\btx_cpu=")
_TITLE = re.compile(r"^nuttcp-[rt]: ", re.MULTILINE)
_SEARCHED = 100_000
_SCALES = {"K": 1e3, "M": 1e6, "G": 1e9}


def is_nuttcp(text: str) -> bool:
    """True for a text with a row or a title line of nuttcp near its beginning."""
    return any(pattern.search(text, 0, _SEARCHED) for pattern in (_ROW, _PARSABLE, _TITLE))


def read_nuttcp(text: str, source: str) -> ImportedTrace:
    """The trace of a test.

    Raises:
        InputError: it has no interval, contains several tests, or an interval has no length.
    """
    seconds: list[float] = []
    rates: list[float] = []
    positions: list[str] = []
    summary = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if (found := _ROW.search(line)) is not None:
            length, rate, scale = found[2], found[3], found[4]
        elif (found := _PARSABLE.search(line)) is not None:
            length, rate, scale = found[2], found[4], found[3]
        else:
            continue
        if _SUMMARY.search(line):
            summary = number
            continue
        if summary and rates:
            raise InputError(f"{source}: line {number}: another test begins; keep the rows of one in a file")
        if not float(length) > 0:
            raise InputError(f"{source}: line {number}: an interval of {length} s; fix or delete the row")
        seconds.append(float(length))
        rates.append(float(rate) * _SCALES[scale])
        positions.append(f"line {number}")
    if not rates:
        raise InputError(f"{source}: a test of nuttcp without intervals; run it with -i 1")
    findings, repaired = check(Samples(source, positions, np.array(seconds), np.array(rates)))
    trace = CapacityTrace.from_durations(np.array(seconds), repaired.rates_bps)
    return ImportedTrace(source, "nuttcp", trace, findings, understood="the rate of each interval")
