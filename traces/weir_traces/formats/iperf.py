"""Logs of iperf3, as text, with ``--json`` and with ``--json-stream``: the rate of each interval.

Summaries and intervals that ``-O`` omits are ignored. Parallel streams are represented by their sum. The server's
output takes precedence where a client's log includes it. With ``--bidir`` the direction from the client is the trace,
the other one the return path. Text and CSV (``-y C``) of iperf2 are read likewise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.opennetlab import entry_number
from weir_traces.formats.validation import Finding, Samples, check
from weir_traces.schema.capacity import CapacityTrace

_LABEL = r"\[ *(?P<stream>\d+|SUM)\](?:\[(?P<side>[TR]X-[CS])\])? +"
_ROW = re.compile(
    _LABEL + r"(?P<start>\d+\.\d+)- *(?P<end>\d+\.\d+) +sec +\d+(?:\.\d+)? [KMGT]?Bytes +"
    r"(?P<rate>\d+(?:\.\d+)?) (?P<unit>[KMGT]?)(?P<of>bits|Bytes)/sec(?P<rest>.*)"
)
_CSV_ROW = re.compile(
    r"^\d{14}(?:\.\d+)?(?:,[^,\n]*){4},(?P<stream>-?\d+),(?P<start>\d+\.\d+)-(?P<end>\d+\.\d+),\d+,(?P<rate>\d+)"
    r"(?P<rest>)(?P<side>)(?P<unit>)(?P<of>)(?:,|$)",
    re.MULTILINE,
)
_START = re.compile(rf"(?:{_LABEL}|\[ ID\] ).", re.DOTALL)
_CLIENT = re.compile(r"(?:Connecting to host|Client connecting to) ")
_TITLE = re.compile(rf"^(?:Server listening on |{_CLIENT.pattern})", re.MULTILINE)
# Some versions write this line above the JSON.
_PREFACE = re.compile(r"\A\s*Control connection MSS \d+\s*(?=\{)")
_SEARCHED = 100_000
# iperf counts bits in powers of 1000 and bytes in powers of 1024.
_UNITS = {"bits": (1.0, 1000), "Bytes": (8.0, 1024)}
_NOT_COUNTED = re.compile(r"\b(?:sender|receiver)\s*$|\(omitted\)")
_BACK = ("RX-C", "TX-S")
# Ignores the near-empty interval with which a test may end.
_SHORTEST_S = 0.005
_ANOTHER = "another test begins; keep the rows of one in a file"
_SENT = "a UDP test at its sender: what was sent, not what arrived; take the server's output, or add -R to the client"


@dataclass(frozen=True)
class _Interval:
    """The mean rate between two times of a test; ``position`` locates it in messages."""

    position: str
    start_s: float
    end_s: float
    bps: float


def is_iperf_text(text: str) -> bool:
    """True for a text with a row or a title line of iperf near its beginning."""
    return any(pattern.search(text, 0, _SEARCHED) for pattern in (_ROW, _CSV_ROW, _TITLE))


def without_preface(text: str) -> str:
    """The JSON of a test without the line of text above it."""
    return _PREFACE.sub("\n", text, count=1)


def is_no_json(text: str) -> bool:
    """True for a text that begins with a row of iperf, whose bracket does not start JSON."""
    return bool(_START.match(text))


def is_iperf(data: Any) -> bool:
    """True for parsed JSON of iperf3."""
    return isinstance(data, dict) and isinstance(data.get("intervals"), list)


def joined_events(text: str) -> dict[str, Any] | None:
    """The JSON of a test from the lines of ``--json-stream``; None for other texts."""
    if not re.match(r'\s*\{"event":\s*"start"', text):
        return None
    found: dict[str, Any] = {"start": {}, "intervals": []}
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("event") == "interval":
            found["intervals"].append(event.get("data"))
        elif isinstance(event, dict) and event.get("event") in ("start", "server_output_json"):
            found[event["event"]] = event.get("data")
    return found


def read_iperf(data: Mapping[str, Any], source: str) -> ImportedTrace:
    """The trace of a test from parsed JSON.

    Raises:
        InputError: it has no interval, or one is invalid.
    """
    server = data.get("server_output_json")
    if isinstance(server, dict) and is_iperf(server) and server["intervals"]:
        data = server
    if not data["intervals"]:
        fault = data.get("error")
        raise InputError(f"{source}: a test of iperf3 without intervals{f' ({fault!s:.80})' if fault else ''}; run it")
    first = data["intervals"][0]
    is_bidir = isinstance(first, dict) and "sum_bidir_reverse" in first
    back = _json_intervals(data, "sum_bidir_reverse", source) if is_bidir else []
    test = data.get("start")
    test = test.get("test_start") if isinstance(test, dict) else None
    is_udp = isinstance(test, dict) and test.get("protocol") == "UDP"
    is_sender = isinstance(first, dict) and isinstance(first.get("sum"), dict) and first["sum"].get("sender") is True
    return _trace(_json_intervals(data, "sum", source), back, source, is_sent=is_udp and is_sender)


def read_iperf_text(text: str, source: str) -> ImportedTrace:
    """The trace of a test from its text.

    Raises:
        InputError: it has no interval, contains several tests, or has several streams without their sum.
    """
    rows: dict[bool, dict[str, list[_Interval]]] = {False: {}, True: {}}
    header = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if rows[False] and _CLIENT.search(line):
            raise InputError(f"{source}: line {number}: {_ANOTHER}")
        if line.strip().startswith("Server output"):
            rows, header = {False: {}, True: {}}, ""
        if "Transfer" in line:
            header = header or line
        found = _ROW.search(line) or _CSV_ROW.search(line)
        if not found or _NOT_COUNTED.search(found["rest"]):
            continue
        bits, base = _UNITS[found["of"] or "bits"]
        bps = float(found["rate"]) * bits * base ** " KMGT".index(found["unit"] or " ")
        interval = _Interval(f"line {number}", float(found["start"]), float(found["end"]), bps)
        rows[found["side"] in _BACK].setdefault(found["stream"], []).append(interval)
    is_sent = "Total Datagrams" in header and "Lost/" not in header
    return _trace(
        _stream_intervals(rows[False], source), _stream_intervals(rows[True], source), source, is_sent=is_sent
    )


def _json_intervals(data: Mapping[str, Any], key: str, source: str) -> list[_Interval]:
    found = []
    for index, entry in enumerate(data["intervals"]):
        at = f"intervals[{index}].{key}"
        total = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(total, dict):
            raise InputError(f"{source}: {at} must be an object with start, end and bits_per_second")
        start_s, end_s, bps = (entry_number(total, key, source, at) for key in ("start", "end", "bits_per_second"))
        if start_s is None or end_s is None or bps is None:
            raise InputError(f"{source}: {at} must have start, end and bits_per_second")
        if not total.get("omitted"):
            found.append(_Interval(at, start_s, end_s, bps))
    return found


def _stream_intervals(rows: Mapping[str, list[_Interval]], source: str) -> list[_Interval]:
    """The intervals of all streams together, without unlabeled summary rows."""
    total = rows.get("SUM") or rows.get("-1")
    if len(rows) > 1 and not total:
        first = next(iter(rows.values()))[0].position
        raise InputError(f"{source}: {first}: rows of {len(rows)} streams without [SUM]; keep those of one in a file")
    found = total or next(iter(rows.values()), [])
    # A UDP client appends two summary rows: its own and the server's.
    while len(found) > 2 and found[-1].start_s == found[0].start_s and found[-1].end_s >= found[-2].end_s - 1:
        found = found[:-1]
    return found


def _trace(intervals: list[_Interval], back: list[_Interval], source: str, *, is_sent: bool) -> ImportedTrace:
    intervals = [interval for interval in intervals if not 0 <= interval.end_s - interval.start_s < _SHORTEST_S]
    # An interrupted server writes its last row twice.
    if len(intervals) > 1 and replace(intervals[-1], position="") == replace(intervals[-2], position=""):
        intervals = intervals[:-1]
    if not intervals:
        raise InputError(f"{source}: a test of iperf without intervals but its summary; run it with -i 1")
    for before, now in pairwise([intervals[0], *intervals]):
        step_s = now.end_s - now.start_s
        if now.start_s < before.start_s:
            raise InputError(f"{source}: {now.position}: {_ANOTHER}")
        if step_s <= 0 or (now is not before and abs(now.start_s - before.end_s) > 0.5 * step_s):
            raise InputError(
                f"{source}: {now.position}: {now.start_s:g} to {now.end_s:g} s comes after {before.start_s:g} to "
                f"{before.end_s:g} s; add the rows between, or keep those after it"
            )
    edges = np.array([intervals[0].start_s, *(interval.end_s for interval in intervals)])
    edges = np.round(edges - edges[0], 9)
    positions = [interval.position for interval in intervals]
    found, repaired = check(
        Samples(source, positions, np.diff(edges), np.array([interval.bps for interval in intervals]))
    )
    if is_sent:
        found = [Finding("sent", "warning", source, positions[0], _SENT), *found]
    trace = CapacityTrace(edges[:-1], repaired.rates_bps, float(edges[-1]))
    reverse = _trace(back, [], source, is_sent=False) if back else None
    described = "the rate of each interval" + (", and the return path's" if reverse else "")
    found += [] if reverse is None else reverse.findings
    return ImportedTrace(source, "iperf3", trace, found, reverse=reverse, understood=described)
