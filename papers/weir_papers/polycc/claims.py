"""Claims of PolyCC, and the values of its repetition."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result, row_values

_NS3 = "ns-3's BBR, with five faults fixed, on ns-3's TCP instead of gQUIC"
_ROWS: Final = {
    "polycc/jitter_20": "jitter20_least",
    "polycc/jitter_70": "jitter70",
    "polycc/jitter_100": "jitter100",
    "polycc/converges": "halved",
    "polycc/goodput": "halved_after",
}

CLAIMS: Final = (
    Claim(
        "polycc/jitter_20",
        "jitter of 20 ms: goodput of max(BBR, CUBIC) to BBR's (Fig. 3a)",
        "about 1",
        1.0,
        Bound("at least", 0.95, "times"),
        Bound("at least", 0.9, "times"),
        _NS3,
    ),
    Claim(
        "polycc/jitter_70",
        "jitter of 70 ms: the same",
        "1.82 to 10.35",
        1.82,
        Bound("at least", 1.82, "times", decimals=1),
        Bound("at least", 1.0, "times", strict=True),
        "CUBIC alone has 6.2 times BBR's goodput here",
        most=10.35,
    ),
    Claim(
        "polycc/jitter_100",
        "jitter of 100 ms: the same",
        "1.82 to 10.35",
        1.82,
        Bound("at least", 1.82, "times", decimals=1),
        Bound("at least", 1.0, "times", strict=True),
        "BBR has 3.1 % of the link here; a shortest round trip of 10 ms, not 0, gives 22.5 (PolyCC's page)",
        most=10.35,
    ),
    Claim(
        "polycc/converges",
        "link halved: min(BBR, Copa) converges sooner than BBR by (Fig. 3b)",
        "54.1 %",
        0.541,
        Bound("at least", 0.541, "%", scale=100, decimals=1),
        Bound("at least", 0.0, "%", strict=True, scale=100),
        "converged: within 1.25 bandwidth-delay products for good, which the paper does not define; no BBRv2 in ns-3",
    ),
    Claim(
        "polycc/goodput",
        "link halved: goodput of min(BBR, Copa) to BBR's after it",
        "about 1",
        1.0,
        Bound("at least", 0.95, "times"),
        Bound("at least", 0.9, "times"),
        _NS3,
    ),
)


def _commands(out: Path, small: bool) -> list[list[str]]:
    return [["paper", "polycc", *(["--seeds", "1"] if small else []), "--out", str(out)]]


def _measured(out: Path) -> Samples:
    return row_values(read_result(out / "polycc.json"), _ROWS)


REPETITION: Final = Repetition("polycc", CLAIMS, _commands, _measured, lambda out: None)
