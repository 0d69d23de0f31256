"""Adaptation to an unseen objective against training from scratch, and its cost for the objectives learned before.

Measured as in MOCC section 6.2, with these definitions:

- The reward of a policy under an objective is its mean reward per step, without exploration noise, over the same
  scenarios of the random domain's `train` split at every evaluation (training draws others of that split).
- The gain is the reward of the converged policy that was trained from scratch on the unseen objective alone (the mean
  of its last `CONVERGED` evaluations) minus the reward of the untrained network.
- Steps to 99 % of the gain: environment steps before the first of two consecutive evaluations that both reach the
  untrained network's reward plus 99 % of the gain. Both ways have the same evaluation schedule and settings. A policy
  that starts there counts with one update; a training from scratch that never gets there with all its steps: the ratio
  is then a lower bound.
- The loss on old objectives is the mean relative decrease of their reward at the end of adaptation; negative values are
  gains. The decrease relative to their gain (the base policy's reward minus that of the untrained network) is reported
  too. It is stricter: an untrained network is the ten-line rule here, and no bad policy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from weir.registry import PRESETS
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.episode import random_objective
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.learning.adaptation import LearningState, RequirementReplay, learn
from weir.trainer.learning.algorithms import load_policy
from weir.trainer.learning.evaluation import Evaluation
from weir.trainer.learning.train import train
from weir.trainer.model.file import CHECKPOINT
from weir.trainer.policies.networks import PreferencePolicy

Objective = tuple[float, float, float]

# Training gains most over the untrained network on this preset, so that noise hides 99 % of the gain least.
UNSEEN: Objective = PRESETS["throughput"]
# Objectives whose weights are all within this of the unseen one are not trained.
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
    """The size of the experiment: one base policy; with each of the seeds 1 to `seeds` one policy from scratch and an
    adaptation of the base with and without replay; evaluations on `scenarios` of `scenario_duration_s`.
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
    folder: Path,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[str, int], None] | None = None,
) -> dict[str, Any]:
    """The whole experiment; returns the content of `mocc.json`. A base policy in `folder` is resumed; its learning rate
    falls to `BASE_LEARNING_RATE_END`, as the shipped model's does. `on_progress` gets the environment steps of all
    training.

    Raises:
        SimulatorError: a simulator failed.
    """
    one_update = settings.environment.environments * settings.ppo.steps_per_update
    with Evaluation(settings, plan.scenarios, plan.scenario_duration_s, split="train", simulator=simulator) as evaluate:
        bench = _Bench(settings, plan, folder, evaluate, simulator, on_progress)
        curves = [bench.measure(seed) for seed in range(1, plan.seeds + 1)]
    return {
        "schema": "weir.mocc/1",
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
    """Policies, their curves on the unseen objective, and their rewards on the old ones."""

    def __init__(
        self,
        settings: TrainingConfiguration,
        plan: Plan,
        folder: Path,
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
        self._base = self._train_base(folder)
        self._base_rewards = self._old_rewards(self._base)

    def _train_base(self, folder: Path) -> PreferencePolicy:
        """The base policy, on objectives outside the neighbourhood of the unseen one."""
        plan, ppo = self._plan, self._settings.ppo
        update = {"learning_rate_end": BASE_LEARNING_RATE_END, "entropy_coefficient_end": ppo.entropy_coefficient}
        offline = self._settings.model_copy(
            update={"seed": BASE_SEED, "steps": plan.base_steps, "ppo": ppo.model_copy(update=update)}
        )
        result = train(
            offline,
            folder,
            resume=(folder / CHECKPOINT).is_file(),
            simulator=self._simulator,
            objective=seen_objective,
            on_progress=lambda state: self._report("base policy", min(state.steps, plan.base_steps)),
        )
        if result.interrupted:
            raise KeyboardInterrupt
        self._done += plan.base_steps
        policy = load_policy(result.checkpoint)
        assert isinstance(policy, PreferencePolicy)
        return policy

    def _report(self, what: str, steps: int) -> None:
        if self._on_progress is not None:
            self._on_progress(what, self._done + steps)

    def measure(self, seed: int) -> dict[str, Any]:
        """Curves and old rewards of one seed."""
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
            self._report(what, min(state.steps, steps))

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
