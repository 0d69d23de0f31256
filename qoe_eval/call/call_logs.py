"""The raw logs of a call: JSON lines in the call's folder, all on the machine's monotonic clock (`time_us`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

from weir.traces.errors import InputError

LINK_LOG = "link.jsonl"
ESTIMATES = "estimates.jsonl"
SENDER_STATS = "sender_stats.jsonl"
RECEIVER_STATS = "receiver_stats.jsonl"
FRAMES = "frames.y4m"
FRAME_LOG = f"{FRAMES}.jsonl"
RECORD = "call.json"
RECORDING = "recording.mp4"
PROGRAM_LOG = "call.log"
SCENARIO = "scenario.json"

ALL = (LINK_LOG, ESTIMATES, SENDER_STATS, RECEIVER_STATS, FRAMES, FRAME_LOG, RECORD, RECORDING, PROGRAM_LOG, SCENARIO)


class JsonLines:
    """Writes objects to a file, a line each, and each at once: what happens to this process later loses none."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = path.open("w", buffering=1, encoding="utf-8")

    def write(self, value: dict[str, Any]) -> None:
        """One line."""
        self._file.write(json.dumps(value, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Nothing is written after it."""
        self._file.close()


def clear(folder: Path) -> None:
    """Makes the folder, and removes what a call that did not complete has left there.

    Raises:
        InputError: it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ALL:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder with --out") from None
