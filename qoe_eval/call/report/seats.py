"""Who sat where in a call under a pool: from its estimates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weir.qoe_eval.call.logs.json_lines import number, read_objects


@dataclass(frozen=True)
class Seats:
    """At `time_us`: the member in the pilot's seat, and the trust in each member by its name, 0 to 1."""

    time_us: float
    pilot: str
    trust: dict[str, float]


def read_seats(path: Path) -> list[Seats]:
    """One of each estimate of a pool, in order; nothing of a controller alone.

    Raises:
        InputError: the file cannot be read, or is larger than any call's.
    """
    found = []
    for entry in read_objects(path):
        pool, time_us = entry.get("pool"), number(entry.get("time_us"))
        members = pool.get("members") if isinstance(pool, dict) else None
        if time_us is None or not isinstance(members, list):
            continue
        known = [one for one in members if isinstance(one, dict) and isinstance(one.get("name"), str)]
        pilot = next((one["name"] for one in known if one.get("role") == "pilot"), None)
        if pilot is not None:
            trust = {one["name"]: value for one in known if (value := number(one.get("trust"), 0, 1)) is not None}
            found.append(Seats(time_us, pilot, trust))
    return found
