"""Finds the columns of time and rate by the header: of known data sets, else by words and units in names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weir_traces.formats import TraceFormat
from weir_traces.formats.reading import RateHolds
from weir_traces.formats.units import RateUnit, rate_unit, time_unit


@dataclass(frozen=True)
class KnownHeader:
    """A data set with documented columns: the names (lower case) that identify it, time, rates and units.

    ``holds``: see ``RateRows``.
    """

    name: TraceFormat
    shown_by: frozenset[str]
    time: str
    rates: dict[str, RateUnit]
    time_unit_s: float | None = None
    holds: RateHolds | None = None


_KBPS, _MBPS = RateUnit(1e3), RateUnit(1e6)
KNOWN = (
    # Puffer's video_sent, according to its data description.
    KnownHeader(
        "puffer", frozenset({"time (ns gmt)", "delivery_rate"}), "time (ns gmt)", {"delivery_rate": RateUnit(8.0)},
        1e-9, "after",
    ),
    # G-NetTrack, in the 4G and 5G data sets of UCC (MMSys 2018 and 2020).
    KnownHeader(
        "ucc", frozenset({"timestamp", "dl_bitrate", "ul_bitrate"}), "timestamp",
        {"dl_bitrate": _KBPS, "ul_bitrate": _KBPS},
    ),
    # 5GTracker, in a data set of Starlink and cellular networks; the last name is misspelled in the data.
    KnownHeader("starlink", frozenset({"time", "throughput", "longtitu"}), "time", {"throughput": _MBPS}),
    # Lumos5G (IMC 2020): a row each second of a run.
    KnownHeader(
        "lumos5g", frozenset({"run_num", "seq_num", "nrstatus", "throughput"}), "seq_num", {"throughput": _MBPS}, 1.0,
    ),
)  # fmt: skip

GROUP_NAMES = ("session_id", "unit_id", "run_num", "run_id", "trace_id")
"""Columns that have the same value in all rows of a trace."""

_OWN_TIMES, _OWN_RATES = {"time_s", "time_ms"}, {"rate_bps", "rate_kbps", "rate_mbps"}
_TIME_WORDS = {"time", "timestamp", "times", "timestamps", "t", "ts", "date", "datetime", "elapsed", "epoch", "hhmmss"}
_WITH_TIME = _TIME_WORDS | {
    "unix", "utc", "gmt", "since", "start", "from", "of", "the", "relative", "rel", "and", "stamp", "hh", "mm", "ss",
    "local",
}  # fmt: skip
_DURATION_WORDS = {"duration", "durations", "timeframe"}
_DOWN_WORDS = {"dl", "down", "downlink", "download"}
_UP_WORDS = {"ul", "up", "uplink", "upload"}
# Omits "link": a link speed, such as Android's linkDownKbps, is the rate that the radio negotiated.
_WITH_RATE = _DOWN_WORDS | _UP_WORDS | {
    "rate", "bandwidth", "bw", "throughput", "tput", "thrpt", "capacity", "goodput", "datarate", "speed", "bitrate",
    "data", "net", "network", "tcp", "udp", "measured", "avg", "average", "mean", "available",
}  # fmt: skip


def known_header(names: list[str]) -> KnownHeader | None:
    """The known data set that a header identifies; None for others."""
    lower = {name.lower() for name in names}
    return next((known for known in KNOWN if known.shown_by <= lower), None)


def is_own(time: str, rate: str) -> bool:
    """True for the names of Weir's own CSV, in which a rate holds until the next row."""
    return time.lower() in _OWN_TIMES and rate.lower() in _OWN_RATES


def time_columns(names: list[str]) -> list[int]:
    """The indexes of columns whose names are those of row times."""
    found = []
    for index, name in enumerate(names):
        words = _words(_base_and_unit(name)[0])
        if words <= _WITH_TIME and (words & _TIME_WORDS or (not words and time_unit_in_name(name) is not None)):
            found.append(index)
    return found


def is_duration(name: str) -> bool:
    """True for the name of a column of row durations."""
    return _words(_base_and_unit(name)[0]) in ({word} for word in _DURATION_WORDS)


def rate_columns(names: list[str]) -> list[int]:
    """The indexes of columns whose names have a link's rate with a unit: downlink or no direction, else uplink."""
    down: list[int] = []
    up: list[int] = []
    for index, name in enumerate(names):
        words = _words(_base_and_unit(name)[0])
        # A bit rate without a direction may be that of a video.
        is_video = "bitrate" in words and not words & (_DOWN_WORDS | _UP_WORDS)
        if unit_in_name(name) is not None and words <= _WITH_RATE and not is_video:
            (up if words & _UP_WORDS else down).append(index)
    return down or up


def unit_in_name(name: str) -> RateUnit | None:
    """The rate unit in the name of a column, regardless of its other words."""
    return rate_unit(_base_and_unit(name)[1])


def time_unit_in_name(name: str) -> float | None:
    """The time unit in the name of a column, s."""
    return time_unit(_base_and_unit(name)[1])


def _base_and_unit(name: str) -> tuple[str, str]:
    """A name without the unit at its end, and this unit; empty if there is none."""
    text = re.sub(r"[\s_]per[\s_]", "/", name.strip())
    for pattern in (
        r"(.*?)[\s_-]*[(\[]([^()\[\]]+)[)\]]",
        r"(.*)[\s_.-]([^\s_.-]+)",
        r"(.*[a-z])([KMG]bps)",
        r"()(.+)",
    ):
        found = re.fullmatch(pattern, text, flags=re.DOTALL)
        if found and (rate_unit(found[2]) or time_unit(found[2])):
            return found[1], found[2].strip()
    return text, ""


def _words(base: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+", base)}
