"""Numbers in the JSON of traces."""

from __future__ import annotations

from typing import Any

from weir_cli.errors import InputError

# The largest number that a trace may hold: as a duration in ms, 31 years; as a capacity in kbps, 1 Pbps.
LARGEST_NUMBER = 1e12


def entry_number(entry: dict[str, Any], key: str, source: str, at: str, default: float | None = None) -> float | None:
    """A number of an entry, or ``default`` if omitted. Raises InputError if it is not a number, or too large."""
    if key not in entry:
        return default
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
        raise InputError(f"{source}: {at}: {key} is {value!r:.40}; it must be a number of at most {LARGEST_NUMBER:g}")
    return float(value)
