"""Claims of MOCC, and the values of its repetition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result
from weir_train.model.file import CHECKPOINT

_SENDER = "REMB's rivals run here; Aurora, Orca, Allegro, Vivace, BBR, Copa are not RTP senders"

_SIZE: Final = "300,000 steps of each policy, half of the default, one seed"
# The base policy of the first adaptation, or without one the policy of all landmarks.
_MODELS: Final = ("landmarks-21-1001", "landmarks-36-1")
# Since then an update has one landmark, and environments are 16. Values of the day before are of both.
_SINCE: Final = "2026-12-01"

CLAIMS: Final = (
    Claim(
        "mocc/steps_ratio",
        "steps to an unseen objective: from scratch to adaptation (Fig. 7a)",
        "14.2",
        14.2,
        Bound("at least", 14.2, "times", decimals=1),
        Bound("at least", 1.0, "times", strict=True),
        "of seeds that are not zero-shot; evaluated at every update, 1,536 steps",
        since=_SINCE,
    ),
    Claim(
        "mocc/initial",
        "initial reward for an unseen objective: base policy to untrained network (Fig. 7a)",
        "1.8",
        1.8,
        Bound("at least", 1.8, "times"),
        Bound("at least", 1.0, "times", strict=True),
        "the base policy learns no landmark that weighs throughput by 0.4 or more",
        since=_SINCE,
    ),
    Claim(
        "mocc/old_loss",
        "loss of old objectives while adapting with requirement replay (Fig. 7b)",
        "below 5 %",
        0.05,
        Bound("at most", 0.05, "%", scale=100),
        reason="an episode replays with a probability of one half, which is Eq. 6 in expectation",
        since=_SINCE,
    ),
    Claim(
        "mocc/old_loss_without",
        "loss of its old objective by a policy of one objective that is trained on (Aurora, Fig. 7b)",
        "83 %",
        0.83,
        Bound("at least", 0.83, "%", scale=100),
        Bound("at least", 0.05, "%", scale=100),
        "from latency to throughput; the paper does not name its two objectives",
        since=_SINCE,
    ),
    Claim(
        "mocc/over_aurora",
        "100 objectives: mean reward less that of ten policies of one objective (Fig. 6)",
        "above",
        None,
        Bound("at least", 0.0, strict=True, decimals=3, signed=True),
        Bound("at least", -0.02, decimals=3, signed=True),
        "networks of Table 3 beyond those trained on, in Weir's simulator",
        since=_SINCE,
    ),
    Claim(
        "mocc/over_best",
        "100 objectives: mean reward less that of the best controller (Fig. 6)",
        "above",
        None,
        Bound("at least", 0.0, strict=True, decimals=3, signed=True),
        Bound("at least", -0.02, decimals=3, signed=True),
        _SENDER,
        since=_SINCE,
    ),
    Claim(
        "mocc/landmarks_3_gain",
        "mean reward above sending nothing, 3 landmarks to 36 (Fig. 16)",
        "1/3",
        1 / 3,
        Bound("at most", 1 / 3, "times"),
        Bound("at most", 1.0, "times", strict=True),
        f"{_SIZE}; after twice the steps 36 landmarks have 3.8 times this gain (MOCC's page)",
    ),
    Claim(
        "mocc/landmarks_171_gain",
        "mean reward above sending nothing, 171 landmarks to 36 (Fig. 16)",
        "comparable",
        1.0,
        Bound("at most", 1.02, "times"),
        reason=f"{_SIZE}; the paper trains 171 for five times as long",
    ),
    Claim(
        "mocc/dqn_gain",
        "mean reward above sending nothing, DQN to PPO (Fig. 19)",
        "1/3",
        1 / 3,
        Bound("at most", 1 / 3, "times"),
        Bound("at most", 1.0, "times", strict=True),
        f"{_SIZE}; DQN has nine levels of the action",
    ),
)


def measured(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `mocc.json`, seed by seed."""
    found: dict[str, list[float]] = {claim.key: [] for claim in CLAIMS}
    for run in document["runs"]:
        if not run["zero_shot"]:
            # Never there: the whole length, a bound.
            scratch, adapted = (
                run["steps"][name] or run["curves"][name][-1][0] for name in ("from_scratch", "with_replay")
            )
            found["mocc/steps_ratio"].append(scratch / adapted)
        found["mocc/initial"].append(run["unadapted"] / run["untrained"])
        found["mocc/old_loss"].append(run["loss_with_replay"])
        found["mocc/old_loss_without"].append(run["loss_aurora"])
    for run in document["objectives"]:
        schemes, counts = run["schemes"], run["landmarks"]
        if "enhanced-aurora" in schemes:  # Figure 6 is of all schemes
            rivals = [value for name, value in schemes.items() if name != "mocc" and "aurora" not in name]
            found["mocc/over_aurora"].append(schemes["mocc"] - schemes["enhanced-aurora"])
            found["mocc/over_best"].append(schemes["mocc"] - max(rivals))
        gain = counts["36"] - run["nothing"]
        if gain > 0:
            found["mocc/landmarks_3_gain"].append((counts["3"] - run["nothing"]) / gain)
            found["mocc/landmarks_171_gain"].append((counts["171"] - run["nothing"]) / gain)
            found["mocc/dqn_gain"].append((run["dqn"] - run["nothing"]) / gain)
    return found


def _commands(out: Path, small: bool) -> list[list[str]]:
    sizes = "--seeds 1 --base-steps 24576 --scratch-steps 12288 --adaptation-steps 12288 --networks 2 --judged 2"
    return [["paper", "mocc", *(sizes.split() if small else []), "--out", str(out)]]


def _measured(out: Path) -> Samples:
    return measured(read_result(out / "mocc.json"))


def _model(out: Path) -> Path | None:
    files = (out / "models" / name / CHECKPOINT for name in _MODELS)
    return next((file for file in files if file.exists()), None)


REPETITION: Final = Repetition("mocc", CLAIMS, _commands, _measured, _model)
