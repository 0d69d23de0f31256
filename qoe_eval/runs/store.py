"""The folder of a replay: `results.jsonl`, grown line by line as runs complete, and the series beside it.

A line holds everything about a run but its time series, which lie in
`series/<scenario>-<controller>-<seed>-<hash of these>.json.gz`.
A line counts only when it is whole: a writer that was killed leaves a torn last line, which the next one drops.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import math
import os
import weakref
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.input import read_bytes
from weir.files.names import file_name
from weir.files.output import append, make_folder, write_bytes

RESULTS = "results.jsonl"
SET_ASIDE = "results.previous.jsonl"
SERIES = "series"
# Of a hundred thousand runs.
LARGEST_RESULTS_BYTES = 1 << 30


class RunStore:
    """Reads and extends the results in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def results_path(self) -> Path:
        """Where the records are."""
        return self.folder / RESULTS

    def read(self) -> list[dict[str, Any]]:
        """All whole records, in the order in which they were written.

        Raises:
            InputError: a line other than the last is no record.
        """
        if not os.path.lexists(self.results_path):
            return []
        lines = read_bytes(self.results_path, LARGEST_RESULTS_BYTES).split(b"\n")
        records = []
        for number, line in enumerate(lines[:-1], start=1):
            try:
                record = _checked(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                raise InputError(
                    f"{self.results_path}: line {number} is no weir.result/1 record; "
                    "delete that line, or choose another folder"
                ) from None
            records.append(record)
        return records

    def start(self, wanted: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Prepares the folder for these runs (jobs by their key); returns the records that are there already.

        Records that are not wanted (other options, another build of the simulator) move to `results.previous.jsonl`,
        so that the results that stay belong together.

        Raises:
            InputError: the folder cannot be used.
        """
        make_folder(self.folder)
        self._lock()
        kept: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        seen: set[str] = set()
        for record in self.read():
            key = record.get("key", "")
            belongs = key in wanted and key not in seen and self._has_series(record, wanted[key])
            (kept if belongs else others).append(record)
            seen.add(key)
        if others:
            append(self.folder / SET_ASIDE, b"".join(_line(record) for record in others))
        # Also drops a torn last line.
        write_bytes(self.results_path, b"".join(_line(record) for record in kept))
        return kept

    def append(self, record: Mapping[str, Any], series: Mapping[str, Any] | None) -> None:
        """Writes the series first, if they are to be kept: a record in the results always has them.

        Raises:
            InputError: it cannot be written; what was there before stays.
        """
        if series is not None:
            make_folder(self.folder / SERIES)
            text = json.dumps(series, separators=(",", ":"))
            write_bytes(self.series_path(record), gzip.compress(text.encode(), compresslevel=4, mtime=0))
        append(self.results_path, _line(record))

    def series_path(self, record: Mapping[str, Any]) -> Path:
        """Where the series of a run are."""
        name = file_name(record["scenario"], record["controller"], record["seed"])
        return self.folder / SERIES / f"{name}.json.gz"

    def read_series(self, record: Mapping[str, Any]) -> dict[str, Any] | None:
        """The series of a run: {"path": ..., "flows": {id: ...}}; nothing when the file is gone."""
        try:
            with gzip.open(self.series_path(record), "rb") as compressed:
                series = json.load(compressed)
            if not isinstance(series["flows"], dict) or not isinstance(series["path"], dict | None):
                raise ValueError("these are no series")
            return series
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
            raise InputError(f"{self.series_path(record)}: damaged ({error}); delete it and replay again") from None

    def with_series(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """A record as the simulator wrote it, its series in it; as it is when their file is gone."""
        series = self.read_series(record)
        return record if series is None else _join_series(record, series)

    def _lock(self) -> None:
        """Holds the folder for as long as this store lives: two replays would mix their results."""
        self._folder_descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._folder_descriptor)
        try:
            fcntl.flock(self._folder_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{self.folder}: another weir writes its results there; wait for it, or choose another folder"
            ) from None
        except OSError:
            # A file system without locks.
            pass

    def _has_series(self, record: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
        return not job["job"]["keep_series"] or self.series_path(record).is_file()


def _checked(record: Any) -> dict[str, Any]:
    """A line of the results as far as everybody relies on it; ValueError and the like for others."""
    if record["schema"] != "weir.result/1" or not isinstance(record.get("key", ""), str):
        raise ValueError("no result")
    if not (isinstance(record["scenario"], str) and isinstance(record["controller"], str)):
        raise ValueError("no names")
    if not isinstance(record["seed"], int):
        raise ValueError("seed")
    float(record["path"]["one_way_delay_ms"]), float(record["duration_s"])
    for name, value in record["metrics"]["run"].items():
        if not (value is None or (isinstance(value, int | float) and math.isfinite(value))):
            raise ValueError(name)
    for flow in record["flows"]:
        flow["id"], flow["kind"]
    return dict(record)


def split_series(record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A `weir.result/1` record without its series, and the series: {"path": {...}, "flows": {id: {...}}}."""
    lean = {name: value for name, value in record.items() if name not in ("series", "flows", "job")}
    lean["flows"] = [{name: value for name, value in flow.items() if name != "series"} for flow in record["flows"]]
    series = {"path": record.get("series"), "flows": {flow["id"]: flow.get("series") for flow in record["flows"]}}
    return lean, series


def _join_series(record: Mapping[str, Any], series: Mapping[str, Any]) -> dict[str, Any]:
    """The opposite of `split_series`: a record that carries its series again."""
    flows = [dict(flow) | {"series": series["flows"].get(flow["id"])} for flow in record["flows"]]
    return dict(record) | {"flows": flows, "series": series["path"]}


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
