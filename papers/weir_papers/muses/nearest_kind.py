"""Figure 1b: how well models imitate the oracle as the range of delays widens.

As in the paper an action is one of seven multiples of the current rate. The oracle's answer and the model's are each
rounded to the nearest multiple; the F1 score between the two is the mean over the multiples (macro). The networks are
held-out ones of Table II, but for the range of delays; the objective is balanced.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weir import Model, Policy
from weir_cli.errors import InputError
from weir_eval.report.goal_table import Bound, GoalRow
from weir_papers.common import goal_row
from weir_papers.muses.muses_runs import GLOBAL_TREE, MUSES, TEACHER
from weir_papers.muses.networks import muses_scenario
from weir_sim.controllers import PRESETS
from weir_train.gym import ActionSpecification, BottleneckEnv, EnvironmentSpecification

LARGEST_DELAYS_MS = (20.0, 50.0, 100.0, 150.0)
MULTIPLES = (1 / 2, 1 / 1.2, 1 / 1.05, 1.0, 1.05, 1.2, 2.0)
FLOW_S = 30.0

Levels = NDArray[np.int64]


def imitation_scores(models: Mapping[str, Path], flows: int, simulator: Path) -> dict[str, dict[float, float]]:
    """F1 of each model by the largest delay in ms.

    Raises:
        InputError: a model cannot be read, or does not answer with a rate.
    """
    from sklearn.metrics import f1_score

    def score(file: Path, largest_ms: float) -> float:
        return float(f1_score(*_flows(file, largest_ms, flows, simulator), average="macro"))

    return {
        controller: {delay_ms: score(file, delay_ms) for delay_ms in LARGEST_DELAYS_MS}
        for controller, file in models.items()
    }


def imitation_rows(f1: Mapping[str, Mapping[float, float]], nearest: float | None) -> Iterator[GoalRow]:
    """The goals of Figure 1b, and of the choice of a kind. `nearest` is the share of held-out flows whose kind is among
    the true two nearest.
    """
    widest = LARGEST_DELAYS_MS[-1]
    gap = Bound("at least", 0.09, "%", scale=100, decimals=1)
    closed = Bound("at least", 0.7, "%", scale=100, decimals=0)
    description = f"delays up to {widest:g} ms: F1 against the oracle's actions,"
    gap_description, closed_description = (
        f"{description} teacher less one global tree",
        f"{description} part of that gap closed by the mixture",
    )
    known = {MUSES, GLOBAL_TREE, TEACHER} <= f1.keys()
    own, tree, teacher = (f1[controller][widest] if known else 0.0 for controller in (MUSES, GLOBAL_TREE, TEACHER))
    detail = "; ".join(
        f"{controller} " + ", ".join(f"{score:.3f} ({largest_ms:g} ms)" for largest_ms, score in scores.items())
        for controller, scores in f1.items()
    )
    reason = "there is no gap to close" if known else "give TEACHER and --global"
    yield goal_row("f1_gap", gap_description, gap, teacher - tree if known else None, detail, reason)
    yield goal_row(
        "f1_closed",
        closed_description,
        closed,
        (own - tree) / (teacher - tree) if teacher > tree else None,
        reason=reason,
    )
    goal = Bound("at least", 0.97, "%", scale=100, decimals=1)
    yield goal_row(
        "nearest",
        "held-out flows: chosen kind among the true two nearest",
        goal,
        nearest,
        reason="the model is no mixture",
    )


def levels_of(rates_bps: Sequence[float], current_bps: Sequence[float]) -> Levels:
    """The index of the MULTIPLE of the current rate that is nearest to each rate (Equation 2)."""
    multiples = np.multiply.outer(np.asarray(current_bps), np.array(MULTIPLES))
    return np.argmin(np.abs(multiples - np.asarray(rates_bps)[:, None]), axis=1)


def _flows(file: Path, largest_ms: float, flows: int, simulator: Path) -> tuple[Levels, Levels]:
    try:
        policy = Policy(Model.load(file))
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    about = policy.description
    if about["action_kind"] != "rate_bps":
        raise InputError(f"{file}: answers with {about['action_kind']}; Figure 1b takes models that answer with rates")
    action = ActionSpecification("log_rate", about["min_bps"], about["max_bps"])
    features = tuple(about["features"])
    specification = EnvironmentSpecification(round(about["interval_ms"]), features, about["history"], action)
    environment = BottleneckEnv(None, specification, simulator=simulator)
    span = math.log(action.max_bps / action.min_bps)
    optimal_bps, answers_bps, current_bps = [], [], []
    try:
        for seed in range(flows):
            scenario = muses_scenario(seed, split="held_out", duration_s=FLOW_S, largest_delay_ms=largest_ms)
            observation, _ = environment.reset(seed=seed, options={"scenario": scenario.to_dict()})
            policy.reset_state()
            optimum_bps, in_force_bps, over = math.nan, math.nan, False
            while not over:
                answer = policy.run(observation[: about["observation_size"]].tolist(), list(PRESETS["balanced"]))[0]
                if math.isfinite(optimum_bps):
                    optimal_bps.append(optimum_bps)
                    answers_bps.append(answer)
                    current_bps.append(in_force_bps)
                step = 2 * math.log(answer / action.min_bps) / span - 1
                observation, _, terminated, truncated, info = environment.step(np.array([step], np.float32))
                optimum_bps, in_force_bps, over = info["optimal_bps"], answer, terminated or truncated
    finally:
        environment.close()
    return levels_of(optimal_bps, current_bps), levels_of(answers_bps, current_bps)


def nearest_share(file: Path) -> float | None:
    """The share of held-out flows whose chosen kind is among the true two nearest, from the model's provenance; None:
    it has none.

    Raises:
        InputError: the model cannot be read.
    """
    try:
        provenance = json.loads(Model.load(file).description["provenance"] or "{}")
        share = provenance["muses"]["held_out"]["chosen_among_two_nearest"]
    except (KeyError, TypeError):
        return None
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    is_share = isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
    return float(share) if is_share else None
