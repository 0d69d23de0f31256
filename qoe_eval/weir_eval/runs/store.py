"""The folder of a replay: `results.jsonl`, extended line by line as runs complete, and their series.

A line has everything about a run except its time series, which are in
`series/<scenario>-<controller>-<seed>-<hash of these>.json.gz`.
Only complete lines count: a killed writer leaves a truncated last line, which the next one drops.
"""

from __future__ import annotations

import gzip
import json
import os
import weakref
import zlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Generic

from weir_cli.console import counted, error_console
from weir_cli.errors import InputError
from weir_cli.files.input import open_file, printable
from weir_cli.files.output import alone_in, append, file_name, make_folder, refuse_other_results, write_bytes
from weir_eval.records.results_file import RecordType, read_records, to_line
from weir_eval.records.run_record import RunRecord
from weir_eval.records.series import Series, parse_series

RESULTS = "results.jsonl"
SET_ASIDE = "results.previous.jsonl"
SERIES = "series"
SUMMARY = "summary.json"
"""Beside the page; while runs are missing, it has the plan alone."""
LARGEST_SERIES_BYTES = 256 << 20
"""The series of one run, unpacked: hundreds of flows for a day."""


class RecordStore(Generic[RecordType]):
    """Reads and extends the results in one folder: records of `kind`."""

    def __init__(self, folder: Path, kind: type[RecordType]) -> None:
        self.folder = folder
        self._kind = kind
        self._release: Callable[[], object] = lambda: None

    def close(self) -> None:
        """Releases the folder, which `start` locks; so does the deletion of this object."""
        self._release()

    @property
    def results_path(self) -> Path:
        """The path of the records."""
        return self.folder / RESULTS

    def read(self) -> list[RecordType]:
        """All complete records, in the order in which they were written.

        Raises:
            InputError: a line other than the last is not a record.
        """
        return read_records(self.results_path, self._kind) if os.path.lexists(self.results_path) else []

    def start(self, wanted: Mapping[str, bool]) -> list[RecordType]:
        """Prepares the folder for the runs of these keys; returns their existing records.

        Moves other records (other options, another build, disturbed calls) to `results.previous.jsonl`, so that the
        remaining results belong together.

        Args:
            wanted: by key, True if the run must have a file of series.

        Raises:
            InputError: the folder cannot be used.
        """
        make_folder(self.folder)
        refuse_other_results(self.folder, RESULTS)
        self._lock()
        kept: list[RecordType] = []
        others: list[RecordType] = []
        seen: set[str] = set()
        for record in self.read():
            key = record.key
            has_series = not wanted.get(key, False) or self.series_path(record).is_file()
            (kept if key in wanted and key not in seen and has_series else others).append(record)
            seen.add(key)
        if others:
            append(self.folder / SET_ASIDE, b"".join(map(to_line, others)))
            moved = f"{counted(len(others), 'result')} that this command does not use moved to {SET_ASIDE}"
            moved += f"; to report them, copy it to {RESULTS} of another folder"
            error_console().print(f"weir: {printable(self.folder)}: {moved}")
        # Also drops a truncated last line.
        write_bytes(self.results_path, b"".join(map(to_line, kept)))
        return kept

    def discard_if_empty(self) -> None:
        """Removes the folder of a command that was refused before the first record."""
        if not self.read():
            with suppress(OSError):
                self.results_path.unlink()
                (self.folder / SUMMARY).unlink(missing_ok=True)
                self.folder.rmdir()

    def append(self, record: RecordType, series: Series | None = None) -> None:
        """Writes a record, and before it its series, if any, so that every record in the results has them.

        Raises:
            InputError: it cannot be written; earlier records remain.
        """
        if series is not None:
            make_folder(self.folder / SERIES)
            text = json.dumps(series, separators=(",", ":"))
            write_bytes(self.series_path(record), gzip.compress(text.encode(), compresslevel=4, mtime=0))
        append(self.results_path, to_line(record))

    def series_path(self, record: RecordType) -> Path:
        """The path of the series of a run."""
        name = file_name(record.scenario, record.controller, record.seed)
        return self.folder / SERIES / f"{name}.json.gz"

    def read_series(self, record: RecordType) -> Series | None:
        """The series of a run; None if the file is missing."""
        path = self.series_path(record)
        try:
            with open_file(path) as file, gzip.open(file) as compressed:
                content = compressed.read(LARGEST_SERIES_BYTES + 1)
            if len(content) > LARGEST_SERIES_BYTES:
                raise ValueError(f"over {LARGEST_SERIES_BYTES >> 20} MiB")
            return parse_series(content)
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise InputError(f"{path}: damaged ({error}); delete it and replay again") from None

    def _lock(self) -> None:
        """Locks the folder until `close`: two replays would mix their results."""
        lock = ExitStack()
        lock.enter_context(alone_in(self.folder))
        self._release = weakref.finalize(self, lock.close)


class RunStore(RecordStore[RunRecord]):
    """The folder of a replay."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, RunRecord)

    def with_series(self, record: RunRecord) -> RunRecord:
        """The record with its series; unchanged if their file is missing."""
        series = self.read_series(record)
        return record if series is None else record.with_series(series)
