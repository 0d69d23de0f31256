"""Reads a log of a connection on which Weir runs beside another estimator; logs/event_log/README.md has its lines."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
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
MOST_OBSERVATIONS = 1_500_000
"""Limit of one log: more than a host writes into 256 MiB, and two weeks of one each second."""
MOST_LOG_LINES = 6_000_000
"""Limit of one log: more than a host writes into 256 MiB, with packets."""
MOST_REASONS = 50
OTHER_REASON = "other"
_LONGEST_NAME = 100
_MOST_BPS = 1e12
# The shortest freeze that getStats counts (W3C webrtc-stats, freezeCount).
_SHORTEST_FREEZE_S = 0.15
# Name, bounds: the numbers of an observation.
_NUMBERS: Mapping[str, tuple[float, float]] = {
    "time_us": (-(2.0**61), 2.0**61),
    "other_bps": (1, _MOST_BPS),
    "weir_bps": (1, _MOST_BPS),
    "received_bps": (0, _MOST_BPS),
    "loss_ratio": (0, 1),
    "queueing_delay_ms": (0, 1e7),
}


class EmptyLogError(InputError):
    """A log has no complete line, such as one of a connection that has just begun."""


@dataclass(frozen=True)
class ObservedConnection:
    """A connection.

    Attributes:
        name: the identifier of the connection, else the name of the file.
        other: the estimator beside Weir.
        weir_in_charge: True where Weir was in charge, of each observation, shape [n].
        reasons: why Weir's target was what it was: at most MOST_REASONS different ones, then OTHER_REASON.
        reason_of: index into `reasons`, of each observation, shape [n].
        numbers: shape [n] each: `time_s` since the first observation, `other_bps` (NaN: no target), `weir_bps`,
            `received_bps`, `loss_ratio` (0 to 1), `queueing_delay_ms`.
        freezes, frozen_s: of the receiver's video, since its begin; None if the host did not report them.
            Reports that are longer than the connection are ignored.
    """

    name: str
    other: str
    weir_in_charge: Mask
    reasons: list[str]
    reason_of: NDArray[np.uint8]
    numbers: dict[str, Array]
    freezes: float | None = None
    frozen_s: float | None = None

    def __len__(self) -> int:
        return len(self.reason_of)


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
        EmptyLogError: it has no complete line.
        InputError: it is no such log, cannot be read, or is too large.
    """
    lines = read_objects(path, MOST_LOG_LINES)
    head = next(lines, None)
    no_log = f"{printable(path)}: is no log of an observed connection; its first line has no connection"
    if head is None:
        raise EmptyLogError(no_log)
    name, other = head.get("connection"), head.get("other")
    if head.get("type") != "log" or not isinstance(name, str):
        raise InputError(no_log)
    other = other if isinstance(other, str) and other not in ("", "weir") else "other"
    return _connection(chain([head], lines), name[:_LONGEST_NAME] or path.name, other[:_LONGEST_NAME], path)


def _connection(lines: Iterable[dict[str, Any]], name: str, other: str, path: Path) -> ObservedConnection:
    rows, reason_of, reasons = array("d"), array("B"), _Reasons()
    begin_us: float | None = None
    freezes = frozen_s = None
    for event in lines:
        kind = event.get("type")
        time_us = number(event.get("begin_us" if kind == "log" else "time_us"), *_NUMBERS["time_us"])
        if time_us is None or kind not in ("log", "viewer", "observation"):
            continue
        begin_us = time_us if begin_us is None else begin_us
        if kind == "viewer":
            length_s = 1e-6 * (time_us - begin_us)
            counted = number(event.get("freezes"), 0, length_s / _SHORTEST_FREEZE_S)
            lasted_ms = number(event.get("frozen_ms"), 0, 1e3 * length_s)
            if counted is not None and lasted_ms is not None:
                freezes, frozen_s = counted, 1e-3 * lasted_ms
        elif kind == "observation":
            values = [number(event.get(key), *bounds) for key, bounds in _NUMBERS.items()]
            # Only the other's target may be missing.
            if any(value is None for key, value in zip(_NUMBERS, values, strict=True) if key != "other_bps"):
                continue
            if len(reason_of) == MOST_OBSERVATIONS:
                raise InputError(f"{printable(path)}: over {MOST_OBSERVATIONS:,} observations; give a shorter log")
            rows.extend(np.nan if value is None else value for value in (*values, event.get("in_charge") == "weir"))
            reason_of.append(reasons.index_of(event.get("weir_reason")))
    table = np.array(rows, dtype=np.float64).reshape(-1, len(_NUMBERS) + 1).T
    columns = dict(zip(_NUMBERS, table, strict=False))
    time_us_of = columns.pop("time_us")
    columns["time_s"] = 1e-6 * (time_us_of - time_us_of[0]) if len(time_us_of) else time_us_of
    found = np.array(reason_of, dtype=np.uint8)
    return ObservedConnection(name, other, table[-1] > 0, list(reasons.indices), found, columns, freezes, frozen_s)


class _Reasons:
    """Numbers the different reasons of a log."""

    def __init__(self) -> None:
        self.indices: dict[str, int] = {}

    def index_of(self, value: Any) -> int:
        reason = value[:_LONGEST_NAME] if isinstance(value, str) else ""
        if reason not in self.indices and len(self.indices) >= MOST_REASONS:
            reason = OTHER_REASON
        return self.indices.setdefault(reason, len(self.indices))
