"""`results.jsonl`: one `weir.result/1` record per line, a `RunRecord` of a replay or a `CallRecord` of a real call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from weir_cli.errors import InputError
from weir_cli.files.input import open_file, why
from weir_eval.records.call_record import CallRecord
from weir_eval.records.part import first_fault
from weir_eval.records.record import SCHEMA, Record

LARGEST_RESULTS_BYTES = 1 << 30
"""The size of about a hundred thousand records."""
LARGEST_RECORD_BYTES = 16 << 20
RecordType = TypeVar("RecordType", bound=Record)


def read_records(path: Path, kind: type[RecordType]) -> list[RecordType]:
    """Reads the complete lines of a `results.jsonl` in order. Ignores a truncated last line, as of a killed writer.

    Raises:
        InputError: the file cannot be read, or a line is damaged.
    """
    records = []
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            record = kind.model_validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"{path}: line {number} is no {SCHEMA} record ({first_fault(error)}); delete that line, or choose "
                "another folder"
            ) from None
        if "call" in (record.model_extra or {}):
            raise InputError(f"{path}: holds calls and no replays; choose another folder")
        records.append(record)
    return records


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines that have an end, one at a time: all at once, a file of line ends would take many times its size."""
    size_bytes = 0
    try:
        with open_file(path) as file:
            while (line := file.readline(LARGEST_RECORD_BYTES)).endswith(b"\n"):
                size_bytes += len(line)
                if size_bytes > LARGEST_RESULTS_BYTES:
                    raise InputError(f"{path}: over {LARGEST_RESULTS_BYTES >> 20} MiB; choose another folder")
                yield line
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({why(error)})") from None
    if len(line) == LARGEST_RECORD_BYTES:
        raise InputError(f"{path}: has a line of over {LARGEST_RECORD_BYTES >> 20} MiB; choose another folder")


def to_line(record: Record) -> bytes:
    """The line of a record in `results.jsonl`."""
    return json.dumps(record.to_json(), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def holds_calls(results: Path) -> bool:
    """True if the first line of a `results.jsonl` is the record of a call."""
    if not results.is_file():
        return False
    try:
        with results.open("rb") as file:
            CallRecord.model_validate_json(file.readline(LARGEST_RECORD_BYTES))
        return True
    except (OSError, ValidationError):
        return False
