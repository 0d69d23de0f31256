"""The raw logs of a call: JSON lines in the call's folder, all on the machine's monotonic clock (`time_us`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from weir.errors import InputError
from weir.qoe_eval.call.logs.json_lines import number, read_objects

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


def read_estimates(path: Path, name: str = "target_rate_bps") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`time_us` and that number, at least 0, of the estimates that have it, both of shape [n].

    Raises:
        InputError: the file cannot be read, or is larger than any call's.
    """
    samples = [
        (entry.get("time_us"), entry.get(name))
        for entry in read_objects(path)
        if entry.get("type", "estimate") == "estimate"
    ]
    known = [(t, v) for t, v in samples if number(t) is not None and number(v, lowest=0) is not None]
    times_us, values = np.array(known, dtype=np.float64).reshape(-1, 2).T
    return times_us, values


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
