"""The files in a call's folder, and its log of estimates. All times are CLOCK_MONOTONIC of this machine (`time_us`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_cli.files.output import make_folder
from weir_eval.json_lines import number, read_objects

LINK_LOG = "link.jsonl"
ESTIMATES = "estimates.jsonl"
SENDER_STATS = "sender_stats.jsonl"
RECEIVER_STATS = "receiver_stats.jsonl"
FRAMES = "frames.y4m"
FRAME_LOG = f"{FRAMES}.jsonl"
RECEIVED_AUDIO = "received.wav"
RECORD = "call.json"
RECORDING = "recording.mp4"
PROGRAM_LOG = "call.log"
SCENARIO = "scenario.json"
EVENT_LOG = "rtc_event.log"

ALL = (
    LINK_LOG, ESTIMATES, SENDER_STATS, RECEIVER_STATS, FRAMES, FRAME_LOG, RECEIVED_AUDIO,
    RECORD, RECORDING, PROGRAM_LOG, SCENARIO, EVENT_LOG,
)  # fmt: skip


@dataclass(frozen=True)
class PoolState:
    """The active controller of a pool at `time_us`, and the trust in each member by its name, 0 to 1."""

    time_us: float
    active: str
    trust: dict[str, float]


def read_estimates(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns `time_us` and `target_rate_bps` of the estimates that have both, each of shape [n].

    Raises:
        InputError: the file cannot be read, or is too large for a call.
    """
    samples = [
        (entry.get("time_us"), entry.get("target_rate_bps"))
        for entry in read_objects(path)
        if entry.get("type", "estimate") == "estimate"
    ]
    known = [(t, v) for t, v in samples if number(t) is not None and number(v, lowest=0) is not None]
    times_us, values = np.array(known, dtype=np.float64).reshape(-1, 2).T
    return times_us, values


def read_pool_states(path: Path) -> list[PoolState]:
    """Returns the state of the pool at each of its estimates; empty for a single controller or a pool of one.

    Raises:
        InputError: the file cannot be read, or is too large for a call.
    """
    found = []
    for entry in read_objects(path):
        pool, time_us = entry.get("pool"), number(entry.get("time_us"))
        members = pool.get("members") if isinstance(pool, dict) else None
        if time_us is None or not isinstance(members, list):
            continue
        valid = [member for member in members if isinstance(member, dict) and isinstance(member.get("name"), str)]
        active = next((member["name"] for member in valid if member.get("role") == "pilot"), None)
        if active is not None and len(valid) > 1:
            trust = {
                member["name"]: value for member in valid if (value := number(member.get("trust"), 0, 1)) is not None
            }
            found.append(PoolState(time_us, active, trust))
    return found


def clear(folder: Path) -> None:
    """Makes the folder, and removes the files of an earlier, incomplete call.

    Raises:
        InputError: the folder cannot be made.
    """
    make_folder(folder)
    try:
        for name in ALL:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder with --out") from None
