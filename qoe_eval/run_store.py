"""The folder of a replay: `results.jsonl`, grown line by line as runs complete, and the series beside it.

A line holds everything about a run but its time series, which lie in `series/<scenario>-<controller>-<seed>.json.gz`.
A line counts only when it is whole: a writer that was killed leaves a torn last line, which the next one drops.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from weir.traces.errors import InputError

RESULTS = "results.jsonl"
SET_ASIDE = "results.previous.jsonl"
SERIES = "series"


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
        try:
            lines = self.results_path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"{self.results_path}: cannot be read ({error.strerror})") from None
        records = []
        for number, line in enumerate(lines[:-1], start=1):
            try:
                record = json.loads(line)
                if record["schema"] != "weir.result/1":
                    raise ValueError(record["schema"])
            except (ValueError, KeyError, TypeError):
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
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--out {self.folder}: cannot be made ({error.strerror}); choose another folder") from None
        kept, others, seen = [], [], set()
        for record in self.read():
            key = record.get("key")
            belongs = key in wanted and key not in seen and self._has_series(record, wanted[key])
            (kept if belongs else others).append(record)
            seen.add(key)
        if others:
            with (self.folder / SET_ASIDE).open("ab") as previous:
                previous.writelines(_line(record) for record in others)
        # Also drops a torn last line.
        replacement = self.results_path.with_suffix(".jsonl.new")
        replacement.write_bytes(b"".join(_line(record) for record in kept))
        replacement.replace(self.results_path)
        return kept

    def append(self, file: IO[bytes], record: Mapping[str, Any], series: Mapping[str, Any] | None) -> None:
        """Writes the series first, if they are to be kept: a record in the results always has them."""
        if series is not None:
            (self.folder / SERIES).mkdir(exist_ok=True)
            with gzip.GzipFile(self.series_path(record), "wb", compresslevel=4, mtime=0) as compressed:
                compressed.write(json.dumps(series, separators=(",", ":")).encode())
        file.write(_line(record))
        file.flush()

    def series_path(self, record: Mapping[str, Any]) -> Path:
        """Where the series of a run are; the name has only letters, digits and ._+-."""
        name = re.sub(r"[^A-Za-z0-9._+-]", "_", f"{record['scenario']}-{record['controller']}-{record['seed']}")
        return self.folder / SERIES / f"{name}.json.gz"

    def read_series(self, record: Mapping[str, Any]) -> dict[str, Any] | None:
        """The series of a run: {"path": ..., "flows": {id: ...}}; nothing when the file is gone."""
        try:
            with gzip.open(self.series_path(record), "rb") as compressed:
                return json.load(compressed)
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError) as error:
            raise InputError(f"{self.series_path(record)}: damaged ({error}); delete it and replay again") from None

    def _has_series(self, record: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
        return not job["job"]["keep_series"] or self.series_path(record).is_file()


def split_series(record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A `weir.result/1` record without its series, and the series: {"path": {...}, "flows": {id: {...}}}."""
    lean = {name: value for name, value in record.items() if name not in ("series", "flows", "job")}
    lean["flows"] = [{name: value for name, value in flow.items() if name != "series"} for flow in record["flows"]]
    series = {"path": record.get("series"), "flows": {flow["id"]: flow.get("series") for flow in record["flows"]}}
    return lean, series


def join_series(record: Mapping[str, Any], series: Mapping[str, Any]) -> dict[str, Any]:
    """The opposite of `split_series`: a record that carries its series again."""
    flows = [dict(flow) | {"series": series["flows"].get(flow["id"])} for flow in record["flows"]]
    return dict(record) | {"flows": flows, "series": series["path"]}


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
