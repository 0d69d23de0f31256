"""Units of rates and times as written in options, table headers and cells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weir_cli.errors import InputError

_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30}
_BITS = re.compile(r"((?:[kmg]i?)?)(?:bits?(?:/s|/sec|/second|ps)|bps)", re.IGNORECASE)
_BYTES = re.compile(r"((?:[kmg]i?)?)bytes?(?:/s|/sec|/second)", re.IGNORECASE)
# Lowercase b is a bit and uppercase B a byte; "MBps" is in use for both and is refused.
_SHORT = re.compile(r"((?:[kKmMgG]i?)?)([bB])/s(?:ec)?")
_DOUBTFUL = re.compile(r"[kKmMgG]?i?Bps")
_TIMES = {
    1.0: ("s", "sec", "secs", "second", "seconds"),
    1e-3: ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"),
    1e-6: ("us", "µs", "usec", "micros", "microsecond", "microseconds"),
    1e-9: ("ns", "nsec", "nanos", "nanosecond", "nanoseconds"),
}
_LONGEST = 40
_NAMES = {1.0: "bit/s", 1e3: "kbps", 1e6: "Mbps", 1e9: "Gbps", 8.0: "byte/s", 8e3: "kbyte/s", 8e6: "Mbyte/s"}
_HOW = (
    "write a rate (bps, kbps, Mbps, Gbps, B/s, kB/s, MB/s, KiB/s; bytes: those since the row before; total-bytes: all "
    "so far), a time (s, ms, us, ns) or both, as in ms,kbps"
)


@dataclass(frozen=True)
class RateUnit:
    """The unit of a column of rates: ``bps`` bit/s; with ``is_amount``, ``bps`` bits since the previous row; with
    ``is_total`` too, ``bps`` bits since the beginning.
    """

    bps: float
    is_amount: bool = False
    is_total: bool = False

    def __str__(self) -> str:
        if self.is_total:
            return "all bytes so far"
        return "bytes since the row before" if self.is_amount else unit_name(self.bps)


BYTES_SINCE = RateUnit(8.0, is_amount=True)
_AMOUNTS = {"bytes": BYTES_SINCE, "total-bytes": RateUnit(8.0, is_amount=True, is_total=True)}


def unit_name(bps: float) -> str:
    """The name of a unit of rates, given in bit/s."""
    return _NAMES.get(bps, f"multiples of {bps:g} bit/s")


def time_name(seconds: float) -> str:
    """The name of a unit of times, given in seconds."""
    return _TIMES[seconds][0]


def rate_unit(text: str) -> RateUnit | None:
    """Parses a rate unit; None for other texts, and for those above _LONGEST characters."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    text = re.sub(r"[\s_]*per[\s_]+", "/", text)
    if _DOUBTFUL.fullmatch(text):
        return None
    if found := _BITS.fullmatch(text):
        return RateUnit(_SCALE[found[1].lower()])
    if found := _BYTES.fullmatch(text):
        return RateUnit(8 * _SCALE[found[1].lower()])
    if found := _SHORT.fullmatch(text):
        return RateUnit(_SCALE[found[1].lower()] * (8 if found[2] == "B" else 1))
    return None


def time_unit(text: str) -> float | None:
    """Parses a time unit, in seconds; None for other texts."""
    text = text.strip().lower()
    return next((seconds for seconds, names in _TIMES.items() if text in names), None)


def parse_units(text: str) -> tuple[float | None, RateUnit | None]:
    """The units in an option: of times in seconds, and of rates; None for an omitted one.

    Raises:
        InputError: neither is given, or one is given twice.
    """
    time: float | None = None
    rate: RateUnit | None = None
    for part in text.split(","):
        seconds, unit = time_unit(part), _AMOUNTS.get(part.strip().lower()) or rate_unit(part)
        if (seconds is None or time is not None) and (unit is None or rate is not None):
            raise InputError(f"--unit {text[:40]!r}: {_HOW}")
        time, rate = time if seconds is None else seconds, rate if unit is None else unit
    return time, rate
