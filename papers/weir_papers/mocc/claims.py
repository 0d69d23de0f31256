"""Claims of MOCC, and the values of its repetition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result

_SENDER = "REMB's rivals run here; Aurora, Orca, Allegro, Vivace, BBR, Copa are not RTP senders"

_MODEL: Final = "models/landmarks-36-1/checkpoint.zip"

CLAIMS: Final = (
    Claim(
        "mocc/steps_ratio",
        "steps to an unseen objective: from scratch to adaptation (Fig. 7a)",
        "14.2",
        14.2,
        Bound("at least", 14.2, "times", decimals=1),
        Bound("at least", 1.0, "times", strict=True),
        "both learn in 64 environments at once; one update is the least that can be counted",
    ),
    Claim(
        "mocc/old_loss",
        "loss of old objectives while adapting with requirement replay (Fig. 7b)",
        "below 5 %",
        0.05,
        Bound("at most", 0.05, "%", scale=100),
        reason="replay draws half of the episodes, which is Eq. 6 in expectation",
    ),
    Claim(
        "mocc/old_loss_without",
        "the same without replay (Aurora)",
        "83 %",
        0.83,
        Bound("at least", 0.05, "%", scale=100),
        reason="the paper's Aurora is one policy of one objective that is trained on; here the policy of landmarks is",
    ),
    Claim(
        "mocc/over_aurora",
        "100 objectives: mean reward less that of ten policies of one objective (Fig. 6)",
        "above",
        None,
        Bound("at least", 0.0, strict=True, decimals=3, signed=True),
        Bound("at least", -0.02, decimals=3, signed=True),
        "networks of Table 3 beyond those trained on, in Weir's simulator",
    ),
    Claim(
        "mocc/over_best",
        "100 objectives: mean reward less that of the best controller (Fig. 6)",
        "above",
        None,
        Bound("at least", 0.0, strict=True, decimals=3, signed=True),
        Bound("at least", -0.02, decimals=3, signed=True),
        _SENDER,
    ),
    Claim(
        "mocc/landmarks_3",
        "mean reward, 36 landmarks to 3 (Fig. 16)",
        "3",
        3.0,
        Bound("at least", 3.0, "times"),
        Bound("at least", 1.0, "times", strict=True),
        "equal steps for every number of landmarks; a reward that counts latency and loss is never near 0",
    ),
    Claim(
        "mocc/landmarks_171",
        "mean reward, 36 landmarks to 171 (Fig. 16)",
        "comparable",
        1.0,
        Bound("at least", 0.98, "times"),
        reason="equal steps; the paper trains 171 for five times as long",
    ),
    Claim(
        "mocc/ppo_to_dqn",
        "mean reward, PPO to DQN (Fig. 19)",
        "3",
        3.0,
        Bound("at least", 3.0, "times"),
        Bound("at least", 1.0, "times", strict=True),
        "DQN has nine levels of the action; a reward that counts latency and loss is never near 0",
    ),
)


def measured(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `mocc.json`, seed by seed."""
    found: dict[str, list[float]] = {claim.key: [] for claim in CLAIMS}
    for run in document["runs"]:
        scratch, adapted = (run["steps"][name] for name in ("from_scratch", "with_replay"))
        if adapted is not None:
            # From scratch never there: its whole length, a lower bound.
            found["mocc/steps_ratio"].append((scratch or run["curves"]["from_scratch"][-1][0]) / adapted)
        found["mocc/old_loss"].append(run["loss_with_replay"])
        found["mocc/old_loss_without"].append(run["loss_without_replay"])
    for run in document["objectives"]:
        schemes, counts = run["schemes"], run["landmarks"]
        rivals = [value for name, value in schemes.items() if name != "mocc" and "aurora" not in name]
        found["mocc/over_aurora"].append(schemes["mocc"] - schemes["enhanced-aurora"])
        found["mocc/over_best"].append(schemes["mocc"] - max(rivals))
        found["mocc/landmarks_3"].append(counts["36"] / counts["3"])
        found["mocc/landmarks_171"].append(counts["36"] / counts["171"])
        found["mocc/ppo_to_dqn"].append(counts["36"] / run["dqn"])
    return found


def _commands(out: Path, small: bool) -> list[list[str]]:
    sizes = "--seeds 1 --base-steps 24576 --scratch-steps 12288 --adaptation-steps 12288 --networks 2 --judged 2"
    return [["paper", "mocc", *(sizes.split() if small else []), "--out", str(out)]]


def _measured(out: Path) -> Samples:
    return measured(read_result(out / "mocc.json"))


REPETITION: Final = Repetition("mocc", CLAIMS, _commands, _measured, lambda out: out / _MODEL)
