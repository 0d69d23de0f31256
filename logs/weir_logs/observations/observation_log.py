"""Reads a log of a connection on which Weir runs beside another estimator; logs/event_log/README.md has its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir_cli.errors import InputError
from weir_cli.files.input import open_file, printable
from weir_eval.json_lines import LONGEST_LINE, number, parse_object, read_objects
from weir_eval.measures.flow_series import Array

Mask = NDArray[np.bool_]
SUFFIX = ".observed.jsonl"
MOST_LOGS = 100_000
MOST_OBSERVATIONS = 700_000
"""Limit of one log: more than a week of one each second."""
_LONGEST_NAME = 100
_MOST_BPS = 1e12
# Name, bounds: the numbers of an observation.
_NUMBERS: Mapping[str, tuple[float, float]] = {
    "time_us": (-(2.0**61), 2.0**61),
    "other_bps": (1, _MOST_BPS),
    "weir_bps": (1, _MOST_BPS),
    "received_bps": (0, _MOST_BPS),
    "loss_ratio": (0, 1),
    "queueing_delay_ms": (0, 1e7),
}


@dataclass(frozen=True)
class ObservedConnection:
    """A connection.

    Attributes:
        name: the identifier of the connection, else the name of the file.
        other: the estimator beside Weir.
        weir_in_charge: True where Weir was in charge, of each observation, shape [n].
        reasons: why Weir's target was what it was, of each observation.
        numbers: shape [n] each: `time_s` since the first observation, `other_bps` (NaN: no target), `weir_bps`,
            `received_bps`, `loss_ratio` (0 to 1), `queueing_delay_ms`.
        freezes, frozen_s: of the receiver's video, since its begin; None if the host did not report them.
    """

    name: str
    other: str
    weir_in_charge: Mask
    reasons: list[str]
    numbers: dict[str, Array]
    freezes: float | None = None
    frozen_s: float | None = None

    def __len__(self) -> int:
        return len(self.reasons)


def is_observation_log(path: Path) -> bool:
    """True for a file whose first line is that of such a log; False also for pipes and unreadable files."""
    try:
        with open_file(path) as file:
            first = file.readline(LONGEST_LINE)
    except OSError:
        return False
    head = parse_object(first)
    return head is not None and head.get("type") == "log" and "connection" in head


def find_observation_logs(folder: Path) -> list[Path]:
    """The logs in a folder, in the order of their names.

    Raises:
        InputError: there are over MOST_LOGS.
    """
    found = sorted(folder.glob(f"*{SUFFIX}"))
    if len(found) > MOST_LOGS:
        raise InputError(f"{printable(folder)}: over {MOST_LOGS:,} logs; give a folder of fewer connections")
    return found


def read_observation_log(path: Path) -> ObservedConnection:
    """Reads a log, also of a process that was killed or still writes. Lines that are no observations are skipped.

    Raises:
        InputError: it is no such log, cannot be read, or is too large.
    """
    lines = read_objects(path)
    head = next(lines, {})
    if head.get("type") != "log" or not isinstance(head.get("connection"), str):
        raise InputError(f"{printable(path)}: is no log of an observed connection; its first line has no connection")
    other = head.get("other")
    other = other if isinstance(other, str) and other not in ("", "weir") else "other"
    return _connection(lines, head["connection"][:_LONGEST_NAME] or path.name, other[:_LONGEST_NAME], path)


def _connection(lines: Iterator[dict[str, Any]], name: str, other: str, path: Path) -> ObservedConnection:
    rows: list[list[float]] = []
    reasons: list[str] = []
    freezes = frozen_s = None
    for event in lines:
        if event.get("type") == "viewer":
            counted, lasted_ms = number(event.get("freezes"), 0, 1e9), number(event.get("frozen_ms"), 0, 1e12)
            if counted is not None and lasted_ms is not None:
                freezes, frozen_s = counted, 1e-3 * lasted_ms
        elif event.get("type") == "observation":
            values = [number(event.get(key), *bounds) for key, bounds in _NUMBERS.items()]
            # Only the other's target may be missing.
            if any(value is None for key, value in zip(_NUMBERS, values, strict=True) if key != "other_bps"):
                continue
            if len(rows) == MOST_OBSERVATIONS:
                raise InputError(f"{printable(path)}: over {MOST_OBSERVATIONS:,} observations; give a shorter log")
            rows.append([np.nan if value is None else value for value in (*values, event.get("in_charge") == "weir")])
            reason = event.get("weir_reason")
            reasons.append(reason[:_LONGEST_NAME] if isinstance(reason, str) else "")
    table = np.array(rows, dtype=np.float64).reshape(-1, len(_NUMBERS) + 1).T
    columns = dict(zip(_NUMBERS, table, strict=False))
    time_us = columns.pop("time_us")
    columns["time_s"] = 1e-6 * (time_us - time_us[0]) if len(time_us) else time_us
    return ObservedConnection(name, other, table[-1] > 0, reasons, columns, freezes, frozen_s)
