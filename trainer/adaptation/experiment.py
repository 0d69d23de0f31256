"""How much sooner adaptation is there than training from nothing, and what it costs the objectives learned before.

Measured as in MOCC section 6.2, with its words made exact:

- The reward of a policy under an objective is the mean reward a step, without exploration noise, over the same
  scenarios of the random domain's `train` split at every evaluation (training draws others of that split).
- The gain is the reward of the converged policy that was trained from nothing on the unseen objective alone (the mean
  of its last `CONVERGED` evaluations) minus the reward of the untrained network.
- Steps to 99 % of the gain: environment steps before the first of two consecutive evaluations that both reach the
  untrained network's reward plus 99 % of the gain. Both ways are evaluated on the same timetable and learn with the
  same settings. A policy that is there before its first update counts with one update; a training from nothing that
  never is, with all its steps: the ratio is then a lower bound.
- The loss on old objectives is the part of their reward that is gone when adaptation ends, the mean over them; below 0
  they have won. The part of their gain (the reward of the base policy minus that of the untrained network) is told
  beside it, and is much stricter: an untrained network is not a bad one here, it is the ten-line rule.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weir.registry import PRESETS
from weir.trainer.adaptation.adapt import LearningState, learn
from weir.trainer.adaptation.requirement_replay import RequirementReplay
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.episode import random_objective
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.learning.evaluation import Evaluation
from weir.trainer.policies.networks import PreferencePolicy

Objective = tuple[float, float, float]

# The preset on which training gains most over the untrained network: there 99 % of the gain is best told from noise.
UNSEEN: Objective = PRESETS["throughput"]
# Objectives are unseen whose weights are all within this of the unseen one's.
NEIGHBOURHOOD = 0.2
# Those of MOCC's bootstrapping, and the presets left.
OLD: tuple[Objective, ...] = (
    (0.6, 0.3, 0.1),
    (0.1, 0.6, 0.3),
    (0.3, 0.1, 0.6),
    PRESETS["balanced"],
    PRESETS["latency"],
)
SHARE_OF_GAIN = 0.99
CONVERGED = 6
# Every update is evaluated up to this one, then every fourth.
EVERY_UPDATE = 12
AFTERWARDS = 4
# Seeds of adaptation begin at 1: the base saw other scenarios.
BASE_SEED = 1001
BASE_LEARNING_RATE_END = 1e-4
STEPS_RATIO_GOAL = 14.2
LOSS_GOAL = 0.05


def seen_objective(generator: np.random.Generator) -> Sequence[float]:
    """A random objective outside the neighbourhood of the unseen one."""
    while True:
        objective = random_objective(generator)
        if max(abs(weight - unseen) for weight, unseen in zip(objective, UNSEEN, strict=True)) >= NEIGHBOURHOOD:
            return objective


@dataclass(frozen=True)
class Plan:
    """How much is run: one base policy; with each of the seeds 1 to `seeds` one policy from nothing and an adaptation
    of the base with and without replay; each evaluation on `scenarios` of `scenario_duration_s`.
    """

    seeds: int = 2
    base_steps: int = 1_200_000
    scratch_steps: int = 400_000
    adaptation_steps: int = 80_000
    replay: float = 0.5
    scenarios: int = 48
    scenario_duration_s: float = 20.0

    @property
    def steps(self) -> int:
        """Environment steps of all training."""
        return self.base_steps + self.seeds * (self.scratch_steps + 2 * self.adaptation_steps)


def run(
    settings: TrainingConfiguration,
    plan: Plan,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[str, int], None] | None = None,
) -> dict[str, Any]:
    """The whole measurement; what it gives is `adaptation.json`.

    Args:
        settings: how everything learns. The base's learning rate falls to `BASE_LEARNING_RATE_END`, as the shipped
            model's does.
        plan: how much.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called after every update with what is learned and the environment steps of all training so far.

    Raises:
        SimulatorError: a simulator failed.
    """
    one_update = settings.environment.environments * settings.ppo.steps_per_update
    with Evaluation(settings, plan.scenarios, plan.scenario_duration_s, split="train", simulator=simulator) as evaluate:
        bench = _Bench(settings, plan, evaluate, simulator, on_progress)
        curves = [bench.measure(seed) for seed in range(1, plan.seeds + 1)]
    return {
        "schema": "weir.adaptation/1",
        **summary([entry | figures(entry, one_update) for entry in curves]),
        "goals": {"steps_ratio": STEPS_RATIO_GOAL, "old_objectives_loss_ratio": LOSS_GOAL},
        "unseen_objective": UNSEEN,
        "neighbourhood": NEIGHBOURHOOD,
        "old_objectives": OLD,
        "one_update_steps": one_update,
        "plan": asdict(plan),
        "configuration": settings.model_dump(mode="json"),
    }


def figures(measured: Mapping[str, Any], one_update: int) -> dict[str, Any]:
    """Gain, threshold, steps and losses of one seed from its curves (pairs of steps and reward) and old rewards."""
    curves = measured["curves"]
    untrained = curves["from_scratch"][0][1]
    converged = float(np.mean([reward for _, reward in curves["from_scratch"][-CONVERGED:]]))
    threshold = untrained + SHARE_OF_GAIN * (converged - untrained)
    reached = {name: steps_to(curve, threshold) for name, curve in curves.items()}
    found: dict[str, Any] = {
        "untrained": untrained,
        "unadapted": curves["with_replay"][0][1],
        "converged": converged,
        "threshold": threshold,
        "at_once": reached["with_replay"] == 0,
        "steps": {name: None if steps is None else max(steps, one_update) for name, steps in reached.items()},
    }
    old = {name: np.array(rewards) for name, rewards in measured["old_rewards"].items()}
    for name in ("with_replay", "without_replay"):
        lost = old["base"] - old[name]
        found[f"loss_{name}"] = float(np.mean(lost / old["base"]))
        found[f"worst_loss_{name}"] = float(np.max(lost / old["base"]))
        found[f"loss_of_gain_{name}"] = float(np.sum(lost) / np.sum(old["base"] - old["untrained"]))
    return found


def steps_to(curve: Sequence[tuple[int, float]], threshold: float) -> int | None:
    """Steps before the first of two consecutive evaluations that both reach the threshold; nothing when none do."""
    for (steps, reward), (_, following) in pairwise(curve):
        if reward >= threshold and following >= threshold:
            return steps
    return None


def summary(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of all seeds: mean steps from scratch over mean steps of adaptation (nothing when an adaptation never
    got there), and means of the losses.
    """
    scratch = [run["steps"]["from_scratch"] or run["curves"]["from_scratch"][-1][0] for run in runs]

    def ratio(name: str) -> float | None:
        steps = [run["steps"][name] for run in runs]
        return None if None in steps else sum(scratch) / sum(steps)

    def mean(name: str) -> float:
        return float(np.mean([run[name] for run in runs]))

    return {
        "steps_ratio": ratio("with_replay"),
        "old_objectives_loss_ratio": mean("loss_with_replay"),
        "steps_ratio_without_replay": ratio("without_replay"),
        "old_objectives_loss_ratio_without_replay": mean("loss_without_replay"),
        "old_objectives_loss_of_gain": mean("loss_of_gain_with_replay"),
        "old_objectives_loss_of_gain_without_replay": mean("loss_of_gain_without_replay"),
        "steps_ratio_is_lower_bound": any(run["steps"]["from_scratch"] is None for run in runs)
        or any(run["at_once"] for run in runs),
        "runs": list(runs),
    }


class _Bench:
    """Policies, their curves on the unseen objective, and their rewards on the old ones. Making it trains the base."""

    def __init__(
        self,
        settings: TrainingConfiguration,
        plan: Plan,
        evaluate: Evaluation,
        simulator: str | os.PathLike[str] | None,
        on_progress: Callable[[str, int], None] | None,
    ) -> None:
        self._settings = settings
        self._plan = plan
        self._evaluate = evaluate
        self._simulator = simulator
        self._on_progress = on_progress
        self._done = 0
        falling = settings.ppo.model_copy(update={"learning_rate_end": BASE_LEARNING_RATE_END})
        offline = settings.model_copy(update={"seed": BASE_SEED, "ppo": falling})
        self._base, _ = self._learn(offline, "base policy", seen_objective, plan.base_steps)
        self._base_rewards = self._old_rewards(self._base)

    def measure(self, seed: int) -> dict[str, Any]:
        """What is run with one seed, without conclusions."""
        plan = self._plan
        settings = self._settings.model_copy(update={"seed": seed})
        untrained, _ = self._learn(settings, "untrained", UNSEEN, 0)
        old = {"untrained": self._old_rewards(untrained), "base": self._base_rewards}
        curves = {}
        what = f"seed {seed}, from scratch"
        _, curves["from_scratch"] = self._learn(settings, what, UNSEEN, plan.scratch_steps, watched=True)
        for name, share in (("with_replay", plan.replay), ("without_replay", 0.0)):
            objective = RequirementReplay(UNSEEN, (seen_objective,), share)
            what = f"seed {seed}, adapting {name.replace('_', ' ')}"
            policy, curves[name] = self._learn(
                settings, what, objective, plan.adaptation_steps, self._base, watched=True
            )
            old[name] = self._old_rewards(policy)
        return {"seed": seed, "curves": curves, "old_rewards": old}

    def _learn(
        self,
        settings: TrainingConfiguration,
        what: str,
        objective: ObjectiveSource,
        steps: int,
        start: PreferencePolicy | None = None,
        watched: bool = False,
    ) -> tuple[PreferencePolicy, list[tuple[int, float]]]:
        curve: list[tuple[int, float]] = []
        updates = 0

        def on_update(state: LearningState) -> None:
            nonlocal updates
            if watched and (updates <= EVERY_UPDATE or updates % AFTERWARDS == 0):
                curve.append((state.steps, self._evaluate(state.policy, UNSEEN)))
            updates += 1
            if self._on_progress is not None:
                self._on_progress(what, self._done + min(state.steps, steps))

        learned = learn(
            settings,
            objective,
            steps=steps,
            parameters=None if start is None else start.state_dict(),
            simulator=self._simulator,
            on_update=on_update,
        )
        if learned.interrupted:
            raise KeyboardInterrupt
        self._done += steps
        return learned.policy, curve

    def _old_rewards(self, policy: PreferencePolicy) -> list[float]:
        return [self._evaluate(policy, objective) for objective in OLD]
