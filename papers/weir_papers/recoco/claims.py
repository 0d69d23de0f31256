"""Claims of ReCoCo, and the values of its repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result

_GCC = "GCC is libwebrtc's own here, a Python port in the paper"

_MODEL: Final = "models/all-gap-1/checkpoint.zip"

CLAIMS: Final = (
    Claim(
        "recoco/trace_gain",
        "QoE of models of one trace less GCC's, mean of nine traces (Table I)",
        "+8.96",
        8.96,
        Bound("at least", 8.96, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        _GCC,
    ),
    Claim(
        "recoco/off_policy",
        "traces whose best configuration is TD3 or SAC, not PPO (section VI-A)",
        "9 of 9",
        9.0,
        Bound("at least", 9.0, "of 9", decimals=0),
        Bound("at least", 5.0, "of 9", decimals=0),
        "one seed of each configuration, in 20,000 steps, in the paper 100,000",
    ),
    Claim(
        "recoco/delayed",
        "traces whose best configuration has delayed states (section VI-A)",
        "7 of 9",
        7.0,
        Bound("at least", 7.0, "of 9", decimals=0),
        Bound("at least", 5.0, "of 9", decimals=0),
        "one seed of each configuration, in 20,000 steps, in the paper 100,000",
    ),
    Claim(
        "recoco/transfer",
        "QoE of models of one trace on the other eight, less that on their own (Fig. 7)",
        "lower",
        None,
        Bound("at most", 0.0, "points", strict=True, signed=True),
        reason="means over all pairs of traces",
    ),
    Claim(
        "recoco/gap_gain",
        "QoE of one model of all traces, order gap, less GCC's (Table II)",
        "+0.20",
        0.20,
        Bound("at least", 0.2, "points", signed=True),
        Bound("at least", -1.0, "points", signed=True),
        _GCC,
    ),
    Claim(
        "recoco/gap_random",
        "QoE of order gap less that of order random (Table II)",
        "+1.65",
        1.65,
        Bound("at least", 1.65, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        "40,000 steps on each trace, in the paper 300,000; the replay buffer survives a change of trace",
    ),
    Claim(
        "recoco/gap_reward",
        "QoE of order gap less that of order reward (Table II)",
        "+11.0",
        11.0,
        Bound("at least", 11.0, "points", signed=True),
        Bound("at least", 0.0, "points", strict=True, signed=True),
        "as above",
    ),
)


def measured(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `recoco.json`, seed by seed."""
    first, second = document["table_1"][-1]["measured"], document["table_2"][-1]["measured"]
    own, gap = first["recoco"]["overall"]["seeds"], second["gap"]["overall"]["seeds"]
    gcc = first["gcc"]["overall"]["mean"]
    found = {
        "recoco/trace_gain": [value - gcc for value in own],
        "recoco/gap_gain": [value - gcc for value in gap],
        "recoco/gap_random": _differences(gap, second["random"]["overall"]["seeds"]),
        "recoco/gap_reward": _differences(gap, second["reward"]["overall"]["seeds"]),
        "recoco/transfer": _transfer(document["figure_7"]),
    }
    # A search on fewer traces has no number of nine.
    if len({row["trace"] for row in document["search"]}) == len(document["table_1"]) - 1:
        chosen = [row["configuration"] for row in document["table_1"][:-1]]
        found["recoco/off_policy"] = [float(sum(not words.startswith("PPO") for words in chosen))]
        found["recoco/delayed"] = [float(sum(", delayed" in words for words in chosen))]
    return found


def _differences(values: Sequence[float], others: Sequence[float]) -> list[float]:
    return [value - other for value, other in zip(values, others, strict=True)]


def _transfer(figure: Mapping[str, Mapping[str, Any]]) -> list[float]:
    """By seed, the mean off the diagonal less the mean on it."""
    seeds = len(next(iter(next(iter(figure.values())).values()))["overall"]["seeds"])
    found = []
    for seed in range(seeds):
        pairs = {
            (row, column): by_column[column]["overall"]["seeds"][seed]
            for row, by_column in figure.items()
            for column in by_column
        }
        own = [value for (row, column), value in pairs.items() if row == column]
        other = [value for (row, column), value in pairs.items() if row != column]
        found.append(sum(other) / len(other) - sum(own) / len(own))
    return found


def _commands(out: Path, small: bool) -> list[list[str]]:
    sizes = ["--steps", "320", "--search-steps", "320", "--search-traces", "1", "--seeds", "1"] if small else []
    return [["paper", "recoco", *sizes, "--out", str(out)]]


def _measured(out: Path) -> Samples:
    return measured(read_result(out / "recoco.json"))


REPETITION: Final = Repetition("recoco", CLAIMS, _commands, _measured, lambda out: out / _MODEL)
