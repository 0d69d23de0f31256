"""Reads traces of any known format, told apart by content: OpenNetLab, Mahimahi, CSV, columns, Weir scenario; gzip."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from weir.errors import InputError
from weir.files.input import LARGEST_TEXT_BYTES, decoded, parse_json, printable, read_bytes
from weir.traces.bounds import DEFAULT_WINDOW_MS
from weir.traces.formats import ImportedTrace, TraceFormat
from weir.traces.formats.csv_trace import read_columns, read_csv
from weir.traces.formats.mahimahi import read_mahimahi
from weir.traces.formats.opennetlab import read_opennetlab
from weir.traces.formats.validation import Finding
from weir.traces.schema.scenario import SCHEMA, Scenario

_SHOWN_ERRORS = 5
_MOST_MEMBERS = 64
_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"


def detect_format(text: str, source: str) -> TraceFormat:
    """The format of a file's text, by its content.

    Raises:
        InputError: it is none of the known ones; the message describes these.
    """
    stripped = text.lstrip()
    if stripped.startswith(("{", "[")):
        data = parse_json(text, source)
        if isinstance(data, dict):
            if "uplink" in data:
                return "opennetlab"
            if "schema" in data or {"forward", "flows"} & data.keys():
                return "scenario"
        raise InputError(
            f'{source}: JSON, but neither a scenario ("schema": "{SCHEMA}") nor an OpenNetLab trace '
            '("uplink": {"trace_pattern": [...]}); add the missing key'
        )
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    first = lines[0].strip() if lines else ""
    if re.fullmatch(rf"{_NUMBER}\s+{_NUMBER}", first):
        return "columns"
    if "," in first:
        return "csv"
    if re.fullmatch(_NUMBER, first):
        return "mahimahi"
    raise InputError(
        f"{source}: line 1: neither JSON, nor CSV with a header such as time_s,rate_bps, nor two columns (seconds and "
        "Mbps), nor Mahimahi (milliseconds, one delivery a line); convert it to one of these"
    )


def _unpacked(content: bytes, source: str) -> bytes:
    """The content of gzip, up to a bound; other content as it is."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    found = bytearray()
    try:
        for _ in range(_MOST_MEMBERS):
            member = zlib.decompressobj(wbits=31)
            found += member.decompress(content, LARGEST_TEXT_BYTES + 1 - len(found))
            if len(found) > LARGEST_TEXT_BYTES:
                raise InputError(f"{source}: unpacks to over {LARGEST_TEXT_BYTES >> 20} MiB, more than is read")
            if not member.eof:
                raise zlib.error("it ends too early")
            content = member.unused_data
            if not content:
                return bytes(found)
    except zlib.error as error:
        raise InputError(f"{source}: is damaged gzip ({error}); pack it again") from None
    raise InputError(f"{source}: is gzip of over {_MOST_MEMBERS} members; pack it anew as one")


def inspect_trace(path: str | Path, *, window_ms: int = DEFAULT_WINDOW_MS) -> ImportedTrace:
    """Reads a file of any known format and finds its faults, without refusing repairable ones.

    Raises:
        InputError: it cannot be read or parsed; the message names file and line or entry.
    """
    source = printable(path)
    text = decoded(_unpacked(read_bytes(path), source), source)
    kind = detect_format(text, source)
    if kind == "scenario":
        return _inspect_scenario(Scenario.from_json(text, source), source)
    try:
        if kind == "opennetlab":
            return read_opennetlab(parse_json(text, source), source)
        if kind == "mahimahi":
            return read_mahimahi(text, source, window_ms=window_ms)
        return read_columns(text, source) if kind == "columns" else read_csv(text, source)
    except InputError as error:
        # A capacity does not know its file.
        if source in str(error):
            raise
        raise InputError(f"{source}: {error}") from None


def _inspect_scenario(scenario: Scenario, source: str) -> ImportedTrace:
    capacity = scenario.forward.capacity
    trace = None if capacity is None else capacity.trace()
    findings = []
    if trace is not None and not trace.integrate(0.0, scenario.duration_s) > 0:
        text = f"the link has no capacity in all of the {scenario.duration_s:g} s"
        findings.append(Finding("all_zero", "error", source, "forward.capacity", text))
    return ImportedTrace(source, "scenario", trace, findings, scenario=scenario)


def read_trace(
    path: str | Path, *, repair: bool = False, strict: bool = False, window_ms: int = DEFAULT_WINDOW_MS
) -> ImportedTrace:
    """Reads a file of any known format.

    Args:
        path: the file.
        repair: accept faults that can be repaired; the findings say what was done.
        strict: refuse what is else repaired with a warning.
        window_ms: averaging window for Mahimahi files, ms.

    Raises:
        InputError: unreadable, unparsable, or faulty and not (to be) repaired.
    """
    imported = inspect_trace(path, window_ms=window_ms)
    refused = imported.refused(repair=repair, strict=strict)
    if refused:
        shown = "\n".join(f"  {finding.located()}" for finding in refused[:_SHOWN_ERRORS])
        more = f"\n  and {len(refused) - _SHOWN_ERRORS} more" if len(refused) > _SHOWN_ERRORS else ""
        remedy = "add --repair to accept the repairs, or fix the file"
        if any(finding.severity == "warning" for finding in refused):
            remedy = "omit --strict to accept the repairs, or fix the file"
        if not all(finding.repair for finding in refused):
            remedy = "this cannot be repaired; fix the file"
        count = f"{len(refused)} fault{'s' if len(refused) > 1 else ''}"
        raise InputError(f"{imported.source}: {count}; {remedy}:\n{shown}{more}")
    return imported
