"""Reads traces of any known format, plain or gzip, detects the format by content, and refuses faulty traces."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from pathlib import Path

from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_TEXT_BYTES, decoded, printable, read_bytes
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.formats import ImportedTrace
from weir_traces.formats.reading import AS_WRITTEN, Reading
from weir_traces.formats.recognize import Content, recognized
from weir_traces.formats.tables.comments import with_header

_SHOWN_ERRORS = 5
_MOST_MEMBERS = 64
_CAPTURE = (
    "a packet capture has no capacity of a link; write its packets as text, and give that with --unit s,bytes: tshark "
    "-r FILE -T fields -e frame.time_relative -e frame.len"
)
_NO_TEXT = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"),
    (b"BZh", "packed with bzip2; unpack it, or pack it with gzip"),
    (b"\xfd7zXZ\x00", "packed with xz; unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it, or pack it with gzip"),
    (b"\xd4\xc3\xb2\xa1", _CAPTURE),
    (b"\xa1\xb2\xc3\xd4", _CAPTURE),
    (b"\x4d\x3c\xb2\xa1", _CAPTURE),
    (b"\xa1\xb2\x3c\x4d", _CAPTURE),
    (b"\x0a\x0d\x0d\x0a", _CAPTURE),
)
# The first line that spreadsheets write to name the separator.
_SEPARATOR_LINE = re.compile(r"\A\s*\"?sep=.\"?[ \t]*(?=\n)", re.IGNORECASE)


def _unpacked(content: bytes, source: str) -> bytes:
    """Decompressed gzip content, up to a bound; other content unchanged."""
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


def _plain(text: str) -> str:
    """The text with newlines as the only line ends and a spreadsheet's separator line blank; keeps line numbers."""
    return _SEPARATOR_LINE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"), count=1)


def inspect_trace(
    path: str | Path, *, window_ms: int = DEFAULT_WINDOW_MS, reading: Reading = AS_WRITTEN
) -> ImportedTrace:
    """Reads a file of any known format and finds its faults, without refusing repairable ones.

    Raises:
        InputError: it cannot be read or parsed, or is ambiguous; the message names the file and the line or entry.
    """
    source = printable(path)
    packed = _unpacked(read_bytes(path), source)
    for magic, how in _NO_TEXT:
        if packed.startswith(magic):
            raise InputError(f"{source}: {how}")
    content = Content(with_header(_plain(decoded(packed, source))), source, reading, window_ms)
    try:
        found = recognized(content)
        imported = found.read(content)
    except InputError as error:
        # Errors raised by CapacityTrace do not name the file.
        if source in str(error):
            raise
        raise InputError(f"{source}: {error}") from None
    unused = [] if found.has_rows else reading.without_effect(source, f"the format {found.name}")
    return replace(imported, findings=[*unused, *imported.findings])


def read_trace(
    path: str | Path,
    *,
    repair: bool = False,
    strict: bool = False,
    window_ms: int = DEFAULT_WINDOW_MS,
    reading: Reading = AS_WRITTEN,
) -> ImportedTrace:
    """Reads a file of any known format.

    Args:
        path: the file.
        repair: accept faults that can be repaired; the findings describe the repairs.
        strict: refuse faults that are otherwise repaired with a warning.
        window_ms: averaging window for Mahimahi files, ms.
        reading: the user's statements about rows.

    Raises:
        InputError: unreadable, unparsable, ambiguous, or faulty and not (to be) repaired.
    """
    imported = inspect_trace(path, window_ms=window_ms, reading=reading)
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
