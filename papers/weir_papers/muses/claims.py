"""Claims of Muses, and the values of its repetition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result, row_values

# As `muses_runs` and `sets` have them.
_TREES, _TEACHER, _SETS = "weir", "teacher", ("steady-wifi", "fluctuating-wifi", "lte")
_CALL = "a call whose feedback comes every 200 ms; Muses is a sender with a window, every 10 ms"
_JAIN = "the received rates of calls, not of senders with a window"
_ROWS: Final = {
    "muses/steady": "utilisation_steady-wifi",
    "muses/fluctuating": "utilisation_fluctuating-wifi",
    "muses/lte": "utilisation_lte",
    "muses/cubic_delay": "cubic_delay",
    "muses/lte_utilisation": "lte_utilisation",
    "muses/lte_delay": "lte_delay",
    "muses/in_flight_bbr": "in_flight_bbr",
    "muses/in_flight_tree": "in_flight_global",
    "muses/f1_gap": "f1_gap",
    "muses/f1_closed": "f1_closed",
    "muses/nearest": "nearest",
    "muses/jain_3": "jain_3",
    "muses/jain_20": "jain_20",
    "muses/cross": "cross_rate",
}


def _share(key: str, description: str, paper: str, limit: float, least: float, reason: str = _CALL) -> Claim:
    holds, partly = (Bound("at least", value, "%", scale=100, decimals=1) for value in (limit, least))
    return Claim(key, description, paper, limit, holds, partly, reason)


def _times(key: str, description: str, limit: float, reason: str = _CALL) -> Claim:
    partly = Bound("at least", 1.0, "times", strict=True)
    return Claim(key, description, f"{limit:g}", limit, Bound("at least", limit, "times"), partly, reason)


def _index(key: str, description: str, limit: float, least: float) -> Claim:
    holds, partly = (Bound("at least", value, decimals=3) for value in (limit, least))
    return Claim(key, description, f"{limit:g}", limit, holds, partly, _JAIN)


CLAIMS: Final = (
    _share("muses/steady", "trees by kind, steady Wi-Fi: utilisation (Fig. 3)", "99.7 %", 0.997, 0.95),
    _share("muses/fluctuating", "fluctuating Wi-Fi: utilisation (Fig. 3)", "97.8 %", 0.978, 0.9),
    _share("muses/lte", "LTE: utilisation (Fig. 3)", "above 90 %", 0.9, 0.85),
    _times("muses/cubic_delay", "steady Wi-Fi: p95 queueing delay of Cubic to ours (Fig. 3)", 2.29),
    _times("muses/lte_utilisation", "LTE: utilisation to GCC's (Fig. 3)", 1.26, "GCC in place of Verus"),
    _times("muses/lte_delay", "LTE: p95 queueing delay of GCC to ours (Fig. 3)", 1.29, "GCC in place of Verus"),
    _times("muses/in_flight_bbr", "error of what is in flight, BBR's to ours (Fig. 4)", 3.17),
    _times("muses/in_flight_tree", "error of what is in flight, one tree's to that of trees by kind (Fig. 4)", 1.78),
    _share(
        "muses/f1_gap",
        "delays to 150 ms: F1 of the teacher less that of one tree (Fig. 1b)",
        "9 %",
        0.09,
        0.0,
        "the label is the oracle's rate, not its window",
    ),
    _share(
        "muses/f1_closed",
        "part of that gap that trees by kind close",
        "nearly all",
        0.7,
        0.0,
        "as above",
    ),
    _share(
        "muses/nearest",
        "chosen kind is among the true two nearest",
        "97 %",
        0.97,
        0.9,
        "windows of ten seconds; where the silhouettes find two kinds, as here, each choice is",
    ),
    Claim(
        "muses/of_teacher",
        "utilisation of the trees less the teacher's, mean of the three kinds of network",
        "about 0",
        0.0,
        Bound("at least", -0.01, "points", scale=100, decimals=1, signed=True),
        Bound("at least", -0.05, "points", scale=100, decimals=1, signed=True),
        "teacher 2 x 256 on generated networks of Table II; Weir only tests with the paper's AT&T and T-Mobile",
    ),
    _index("muses/jain_3", "Jain's index of 3 flows (Table IV)", 0.999, 0.95),
    _index("muses/jain_20", "Jain's index of 20 flows (Table IV)", 0.965, 0.9),
    _times(
        "muses/cross", "WebRTC, cross traffic: bitrate to GCC's (Fig. 8)", 1.34, "all that is left is 1.21 times GCC's"
    ),
)


def measured(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `muses.json`: means over networks."""
    found = row_values(document, _ROWS)
    pairs = [
        (network[_TREES]["utilisation"], network[_TEACHER]["utilisation"])
        for name in _SETS
        if {_TREES, _TEACHER} <= (network := document["networks"].get(name, {})).keys()
    ]
    if pairs:
        found["muses/of_teacher"] = [sum(own - teacher for own, teacher in pairs) / len(pairs)]
    return found


def _commands(out: Path, small: bool) -> list[list[str]]:
    sizes = (
        "--teach 6400 --flows 16 --environments 8 --duration 20 --kinds 2 --rounds 0 --lines 4 --leaves 50 "
        "--networks 3 --imitated 1 --seeds 1"
    )
    full = "--teach 1024000 --flows 2560 --rounds 1 --networks 40"
    return [["paper", "muses", *(sizes if small else full).split(), "--out", str(out)]]


def _measured(out: Path) -> Samples:
    return measured(read_result(out / "muses.json"))


REPETITION: Final = Repetition("muses", CLAIMS, _commands, _measured, lambda out: out / "muses.onnx")
