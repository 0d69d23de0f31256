"""Claims of ReCoCo, and the values of its repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result

_ONE = "10,000 steps of one seed with the paper's configurations, in the paper 100,000"
_LENGTH = "on 300 kbps the QoE is 85.8 after them and 91.3 after 30,000"
_ALL = "3,000 steps of one seed on each trace, in the paper 300,000"
_GCC = "libwebrtc's GCC at the sender, a Python port in the paper"
_GCC_REMB = "libwebrtc's GCC at the receiver, by REMB as the models"
_SEARCH = "20,000 steps and 5,000 gradient steps of one seed of each configuration, in the paper 100,000 of both"
# Since then models learn with a gradient step for each step, and those of one trace are of their best validation.
_SINCE: Final = "2026-11-30"
# Models of one trace and their traces, as section VI-B has them.
_FAST: Final = ("WIRED_35mbps", "5G_12mbps", "5G_13mbps")
_MIDDLE: Final = ("WIRED_900kbps", "4G_500kbps", "4G_700kbps")
_STABLE: Final = "trace_300k"

_MODEL: Final = "models/all-gap-1/checkpoint.zip"

CLAIMS: Final = (
    Claim(
        "recoco/trace_gain",
        "QoE of models of one trace less GCC's, mean of nine traces (Table I)",
        "+8.96",
        8.96,
        Bound("at least", 8.96, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        f"{_GCC}; {_ONE}: {_LENGTH}",
        since=_SINCE,
    ),
    Claim(
        "recoco/trace_gain_remb",
        "the same less that of GCC at the receiver",
        "+8.96",
        8.96,
        Bound("at least", 8.96, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        f"{_GCC_REMB}; {_ONE}",
        since=_SINCE,
    ),
    Claim(
        "recoco/off_policy",
        "traces whose best configuration is TD3 or SAC, not PPO (section VI-A)",
        "9 of 9",
        9.0,
        Bound("at least", 9.0, "of 9", decimals=0),
        Bound("at least", 5.0, "of 9", decimals=0),
        _SEARCH,
        since=_SINCE,
    ),
    Claim(
        "recoco/delayed",
        "traces whose best configuration has delayed states (section VI-A)",
        "7 of 9",
        7.0,
        Bound("at least", 7.0, "of 9", decimals=0),
        Bound("at least", 5.0, "of 9", decimals=0),
        _SEARCH,
        since=_SINCE,
    ),
    Claim(
        "recoco/transfer",
        "QoE of models of one trace on the other eight, less that on their own (Fig. 7)",
        "lower",
        None,
        Bound("at most", 0.0, "points", strict=True, signed=True),
        reason="means over all pairs of traces",
        since=_SINCE,
    ),
    Claim(
        "recoco/fast",
        "rate QoE on three fast traces, of models of another of them less that of models of the six others (Fig. 7)",
        "higher",
        None,
        Bound("at least", 0.0, "points", strict=True, signed=True),
        reason="Wired 35 Mbps, 5G 12 and 13 Mbps",
        since=_SINCE,
    ),
    Claim(
        "recoco/middle",
        "QoE on three traces, of models of another of them less that of models of the six others (Fig. 7)",
        "higher",
        None,
        Bound("at least", 0.0, "points", strict=True, signed=True),
        reason=f"Wired 900, 4G 500 and 700 kbps; {_ONE}",
        since=_SINCE,
    ),
    Claim(
        "recoco/stable",
        "QoE of models of other traces on 300 kbps, less that of the model of 300 kbps on others (Fig. 7)",
        "lower",
        None,
        Bound("at most", 0.0, "points", strict=True, signed=True),
        reason=f"{_ONE}: {_LENGTH}",
        since=_SINCE,
    ),
    Claim(
        "recoco/gap_gain",
        "QoE of one model of all traces, order gap, less GCC's (Table II)",
        "+0.20",
        0.20,
        Bound("at least", 0.2, "points", signed=True),
        Bound("at least", -1.0, "points", signed=True),
        f"{_GCC}; {_ALL}",
        since=_SINCE,
    ),
    Claim(
        "recoco/gap_gain_remb",
        "the same less that of GCC at the receiver",
        "+0.20",
        0.20,
        Bound("at least", 0.2, "points", signed=True),
        Bound("at least", -1.0, "points", signed=True),
        f"{_GCC_REMB}; {_ALL}",
        since=_SINCE,
    ),
    Claim(
        "recoco/gap_random",
        "QoE of order gap less that of order random (Table II)",
        "+1.65",
        1.65,
        Bound("at least", 1.65, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        _ALL,
        since=_SINCE,
    ),
    Claim(
        "recoco/gap_reward",
        "QoE of order gap less that of order reward (Table II)",
        "+11.0",
        11.0,
        Bound("at least", 11.0, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        _ALL,
        since=_SINCE,
    ),
)


def measured(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `recoco.json`, seed by seed."""
    first, second = document["table_1"][-1]["measured"], document["table_2"][-1]["measured"]
    own, gap = first["recoco"]["overall"]["seeds"], second["gap"]["overall"]["seeds"]
    gcc, gcc_remb = (first[name]["overall"]["mean"] for name in ("gcc", "gcc-remb"))
    found = {
        "recoco/trace_gain": [value - gcc for value in own],
        "recoco/trace_gain_remb": [value - gcc_remb for value in own],
        "recoco/gap_gain": [value - gcc for value in gap],
        "recoco/gap_gain_remb": [value - gcc_remb for value in gap],
        "recoco/gap_random": _differences(gap, second["random"]["overall"]["seeds"]),
        "recoco/gap_reward": _differences(gap, second["reward"]["overall"]["seeds"]),
    }
    found |= _figure_7(document["figure_7"])
    # A search on fewer traces has no number of nine.
    if len({row["trace"] for row in document["search"]}) == len(document["table_1"]) - 1:
        chosen = [row["configuration"] for row in document["table_1"][:-1]]
        found["recoco/off_policy"] = [float(sum(not words.startswith("PPO") for words in chosen))]
        found["recoco/delayed"] = [float(sum(", delayed" in words for words in chosen))]
    return found


def _differences(values: Sequence[float], others: Sequence[float]) -> list[float]:
    return [value - other for value, other in zip(values, others, strict=True)]


def _figure_7(figure: Mapping[str, Mapping[str, Any]]) -> dict[str, list[float]]:
    """The rows of Figure 7, by seed."""
    traces = list(figure)
    slow, others = ([name for name in traces if name not in some] for some in (_FAST, _MIDDLE))

    def mean(trained_on: Sequence[str], tested_on: Sequence[str], measure: str = "overall") -> list[float]:
        """Over pairs of different traces."""
        rows = [figure[row][column][measure]["seeds"] for row in trained_on for column in tested_on if row != column]
        return [sum(of_seed) / len(rows) for of_seed in zip(*rows, strict=True)]

    on_own = [figure[name][name]["overall"]["seeds"] for name in traces]
    own = [sum(of_seed) / len(traces) for of_seed in zip(*on_own, strict=True)]
    return {
        "recoco/transfer": _differences(mean(traces, traces), own),
        "recoco/fast": _differences(mean(_FAST, _FAST, "rate"), mean(slow, _FAST, "rate")),
        "recoco/middle": _differences(mean(_MIDDLE, _MIDDLE), mean(others, _MIDDLE)),
        "recoco/stable": _differences(mean(traces, [_STABLE]), mean([_STABLE], traces)),
    }


def _commands(out: Path, small: bool) -> list[list[str]]:
    sizes = (
        ["--steps", "320", "--steps-all", "320", "--search-steps", "320", "--search-traces", "1", "--seeds", "1"]
        if small
        else []
    )
    return [["paper", "recoco", *sizes, "--out", str(out)]]


def _measured(out: Path) -> Samples:
    return measured(read_result(out / "recoco.json"))


REPETITION: Final = Repetition("recoco", CLAIMS, _commands, _measured, lambda out: out / _MODEL)
