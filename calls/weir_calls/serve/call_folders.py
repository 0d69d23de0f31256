"""The calls in the output folder, and their files by path. Reads nothing outside the folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from weir_calls.call.logs import RECORD, RECORDING, SCENARIO
from weir_calls.call.record import INTERRUPTED, read_record
from weir_calls.call.user_changes import objective_changes
from weir_cli.errors import InputError
from weir_cli.files.input import printable, why
from weir_cli.files.output import REPORT, make_folder
from weir_eval.records.call_record import CallRecord

MAX_DEPTH = 3
MAX_LISTED = 100
MAX_FOLDERS = 5000
MAX_TEXT = 500
MAX_FREEZES = 200
MAX_CHANGES = 1000

# The types of files that are served.
CONTENT_TYPES = {
    ".html": "text/html",
    ".mp4": "video/mp4",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".log": "text/plain",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
COUNTS = ("freeze_count", "stats_freeze_count")
IN_LIST = ("call_quality", "received_bitrate_bps", "vmaf_mean", "frozen_share", "end_to_end_delay_ms_p95")
"""The measures in the list of calls."""
SHOWN = (
    "call_quality", "received_bitrate_bps", "vmaf_mean", "vmaf_p5", "frozen_share", *COUNTS, "frames_per_second",
    "end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95", "network_delay_ms_p95", "utilisation", "loss_ratio",
)  # fmt: skip
"""The measures of a result."""


class ListedCall(TypedDict):
    """A call in the page's list; `report`, `video` and `path`, its scenario file, are relative to the folder of calls.
    `finished` is an ISO 8601 time, `failure` why it ended early, `stopped` when the user stopped it, `interrupted` True
    if it was not measured, `disturbed` why it was; `freezes` are pairs of start and duration, in s of the recording.
    `objective_changes`: time, in s, and weights of each change by the user.
    """

    folder: str
    scenario: str
    controller: str
    sender: str
    objective: list[float] | None
    objective_changes: list[tuple[float, list[float]]]
    finished: str
    metrics: dict[str, float]
    failure: str
    stopped: str
    interrupted: bool
    disturbed: list[str]
    report: str | None
    video: str | None
    path: str | None
    freezes: list[list[float]]


def new_folder(out: Path, scenario: str, controller: str) -> Path:
    """Creates the folder of a new call, named by time, scenario and controller.

    Raises:
        InputError: the folder cannot be created.
    """
    stem = re.sub(r"[^A-Za-z0-9.]+", "-", f"{datetime.now():%Y-%m-%d-%H%M%S}-{scenario}-{controller}")[:120]
    number = 1
    make_folder(out)
    while True:
        folder = out / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1
        except OSError as error:
            raise InputError(f"{printable(folder)}: the folder cannot be made ({why(error)})") from None


def list_calls(out: Path) -> list[ListedCall]:
    """The newest calls first, at most 100; skips folders without a readable record."""
    found = sorted(_records(out), key=lambda path: path.stat().st_mtime, reverse=True)
    calls = (describe_call(out, path.parent) for path in found[:MAX_LISTED])
    return [call for call in calls if call is not None]


def describe_call(out: Path, folder: Path) -> ListedCall | None:
    """One entry of `list_calls`; None without a readable record."""
    try:
        record = read_record(folder)
        finished = (folder / RECORD).stat().st_mtime
    except (InputError, OSError):
        return None
    if record is None:
        return None
    return {
        "folder": folder.relative_to(out).as_posix(),
        "scenario": record.scenario[:MAX_TEXT],
        "controller": record.controller[:MAX_TEXT],
        "sender": record.call.sender[:MAX_TEXT],
        "objective": list(record.objective) if record.objective else None,
        "objective_changes": objective_changes(record)[:MAX_CHANGES],
        "finished": datetime.fromtimestamp(finished, UTC).isoformat(timespec="seconds"),
        "metrics": {name: value for name in SHOWN if (value := record.measures.get(name)) is not None},
        "failure": record.call.failure[:MAX_TEXT],
        "stopped": record.stopped,
        "interrupted": record.call.failure == INTERRUPTED,
        "disturbed": [reason[:MAX_TEXT] for reason in record.call.disturbed[:10]],
        "report": _beside(out, folder, REPORT),
        "video": _beside(out, folder, RECORDING),
        "path": _beside(out, folder, SCENARIO),
        "freezes": _freezes_of_recording(record)[:MAX_FREEZES],
    }


def _freezes_of_recording(record: CallRecord) -> list[list[float]]:
    """Episodes count from the start of the call, and the recording begins with the first rendered frame."""
    begins_s = (record.measures.get("time_to_first_frame_ms") or 0.0) / 1e3
    freezes = [episode for episode in record.episodes if episode.kind == "freeze"]
    return [[max(0.0, freeze.start_s - begins_s), freeze.duration_s] for freeze in freezes]


def find_file(out: Path, path: str) -> Path | None:
    """The file of a call by its path below `out`; None for anything else, whether it exists or not."""
    parts = path.split("/")
    if not 1 <= len(parts) <= MAX_DEPTH + 2 or any(not part or part.startswith(".") for part in parts):
        return None
    if Path(parts[-1]).suffix not in CONTENT_TYPES or any("\\" in part or "\0" in part for part in parts):
        return None
    try:
        root = out.resolve(strict=True)
        # Resolve links, so that none can lead out of the folder.
        found = (root / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    return found if found.is_relative_to(root) and found.is_file() else None


def _records(out: Path) -> Iterator[Path]:
    folders, level = [out], 0
    seen = 0
    while folders and level <= MAX_DEPTH:
        below = []
        for folder in folders:
            seen += 1
            if seen > MAX_FOLDERS:
                return
            try:
                entries = sorted(folder.iterdir())
            except OSError:
                continue
            if (folder / RECORD).is_file():
                yield folder / RECORD
            below += [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
        folders, level = below, level + 1


def _beside(out: Path, folder: Path, name: str) -> str | None:
    """The file in the call's folder; a report also in parent folders, which have that of a comparison."""
    while folder.is_relative_to(out):
        if (folder / name).is_file():
            return (folder / name).relative_to(out).as_posix()
        if folder == out or name != REPORT:
            return None
        folder = folder.parent
    return None
