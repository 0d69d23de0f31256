"""Logs of Mahimahi's mm-link: the times in ms of delivery opportunities (#); other events do not describe capacity.

``T # BYTES`` is an opportunity, ``T + BYTES`` an arrival, ``T - BYTES DELAY`` a departure, ``T d PACKETS BYTES`` a
drop; derived emulators write more numbers and other events. Each opportunity is read as one delivery of the trace that
mm-link replayed; times are relative to ``# base timestamp``.
"""

from __future__ import annotations

import re
from dataclasses import replace

from weir_cli.errors import InputError
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats import ImportedTrace
from weir_traces.formats.mahimahi import read_mahimahi
from weir_traces.formats.tables.splitting import content_lines

_EVENT = re.compile(r"(\d{1,15}) ([#+a-z-])(?: \d+)+")
_BASE = re.compile(r"^# base timestamp: (\d{1,15})\s*$", re.MULTILINE)


def is_mm_link(first: str) -> bool:
    """True for the first event of a log."""
    found = _EVENT.fullmatch(first)
    return found is not None and found[2] in "#+-d"


def read_mm_link(text: str, source: str, *, window_ms: int = DEFAULT_WINDOW_MS) -> ImportedTrace:
    """The trace that an mm-link emulated while it logged.

    Raises:
        InputError: a line is not an event, or no event is an opportunity.
    """
    base = _BASE.search(text)
    base_ms = int(base[1]) if base else 0
    times = []
    for number, line in content_lines(text):
        found = _EVENT.fullmatch(line)
        if not found:
            raise InputError(f"{source}: line {number}: {line[:40]!r} is no event of mm-link; fix the line")
        if found[2] == "#":
            times.append(max(int(found[1]) - base_ms, 0))
    if not times:
        raise InputError(f"{source}: no delivery opportunity (#) in this log of mm-link")
    # mm-link logs the opportunities of an idle link late and out of order.
    trace = read_mahimahi("\n".join(map(str, sorted(times))), source, window_ms=window_ms)
    findings = [replace(finding, position="an opportunity near " + finding.position) for finding in trace.findings]
    return replace(trace, format="mm-link", findings=findings, understood="ms, an opportunity of 1500 bytes for each #")
