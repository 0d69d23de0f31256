"""Adaptation to an unseen objective against training from scratch, and its cost for the objectives learned before.

Measured as in MOCC section 6.2, with these definitions:

- The base policy learns the landmarks in two phases, but those in the neighborhood of the unseen objective, so that
  none serves it yet; requirement replay (Eq. 6) draws from the landmarks that it learned.
- The reward of a policy under an objective is its mean reward per step, without exploration noise, over the same
  networks of Table 3 (training ranges) at every evaluation; training has others.
- The gain is the reward of the converged policy that was trained from scratch on the unseen objective alone (the mean
  of its last `CONVERGED` evaluations) minus the reward of the untrained network.
- Steps to 99 % of the gain: environment steps before the first of two consecutive evaluations that both reach the
  untrained network's reward plus 99 % of the gain. Both ways have the same evaluation schedule and settings. A policy
  that starts there is zero-shot: it has no steps to count, and no ratio. A policy that never gets there counts with
  all its steps: the ratio is then a bound.
- The loss on old objectives is the mean relative decrease of their reward at the end of adaptation; negative values are
  gains. The decrease relative to their gain (the base policy's reward minus that of the untrained network) is reported
  too.
- Aurora is a policy of one old objective, `AURORA`, which is trained on for the unseen one, as long as one from
  scratch. Its reward under the old objective is that of its decisions for the objective that it learned last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from weir_papers.mocc.landmarks import Landmark, landmarks, weights_of
from weir_papers.mocc.objectives import Trainer, policy_act
from weir_papers.mocc.testbed import Testbed
from weir_sim.controllers import PRESETS
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.adaptation import LearningState, RequirementReplay, learn
from weir_train.learning.algorithms import load_policy
from weir_train.learning.evaluation import Evaluation
from weir_train.model.file import CHECKPOINT
from weir_train.policies.networks import PreferencePolicy

Objective = tuple[float, float, float]

# Training gains most over the untrained network on this preset, so that noise hides 99 % of the gain least.
UNSEEN: Objective = PRESETS["throughput"]
# Objectives whose weights are all within this of the unseen one are not trained: those that weigh throughput by 0.4 or
# more.
NEIGHBOURHOOD = 0.5
# Those of MOCC's bootstrapping, and the presets left.
OLD: tuple[Objective, ...] = (
    (0.6, 0.3, 0.1),
    (0.1, 0.6, 0.3),
    (0.3, 0.1, 0.6),
    PRESETS["balanced"],
    PRESETS["latency"],
)
AURORA: Final = PRESETS["latency"]
SHARE_OF_GAIN = 0.99
REPLAY = 0.5
CONVERGED = 6
# Every update is evaluated up to this one, then every fourth.
EVERY_UPDATE = 40
AFTERWARDS = 4
# Seeds of base policies are above those of adaptations.
BASE_SEEDS = 1000


def near_unseen(landmark: Landmark) -> bool:
    """True for a landmark in the neighbourhood of the unseen objective."""
    pairs = zip(weights_of(landmark), UNSEEN, strict=True)
    return max(abs(weight - unseen) for weight, unseen in pairs) < NEIGHBOURHOOD - 1e-9


@dataclass(frozen=True)
class Plan:
    """The size of the experiment, for each seed: a base policy, a policy from scratch, and adaptations of the base with
    and without replay; evaluations on `networks` of `duration_s`.
    """

    seeds: int
    base_steps: int
    scratch_steps: int
    adaptation_steps: int
    networks: int
    duration_s: float


def measure_adaptation(trainer: Trainer, evaluated: TrainingConfiguration, plan: Plan, seed: int) -> dict[str, Any]:
    """Curves, old rewards and figures of one seed. `evaluated` has the networks of the evaluations.

    Raises:
        ComponentFailed: a simulator failed.
        KeyboardInterrupt: Ctrl-C; the base policy is kept.
    """
    excluded = tuple(landmark for landmark in landmarks() if near_unseen(landmark))
    folder = trainer.landmarks(BASE_SEEDS + seed, plan.base_steps, excluded=excluded)
    base = load_policy(folder / CHECKPOINT)
    assert isinstance(base, PreferencePolicy)
    replayed = [weights_of(landmark) for landmark in landmarks() if landmark not in excluded]
    settings = trainer.settings.model_copy(update={"seed": seed})
    with Evaluation(evaluated, plan.networks, plan.duration_s, simulator=trainer.simulator) as evaluate:
        adaptation = _Adaptation(settings, trainer, evaluate)
        untrained, _ = adaptation.learn("untrained", UNSEEN, 0)
        old = {"untrained": adaptation.old_rewards(untrained), "base": adaptation.old_rewards(base)}
        curves = {}
        _, curves["from_scratch"] = adaptation.learn("from scratch", UNSEEN, plan.scratch_steps, watched=True)
        for name, share in (("with_replay", REPLAY), ("without_replay", 0.0)):
            objective = RequirementReplay(UNSEEN, replayed, share)
            description = f"adapting {name.replace('_', ' ')}"
            policy, curves[name] = adaptation.learn(description, objective, plan.adaptation_steps, base, watched=True)
            old[name] = adaptation.old_rewards(policy)
        aurora = load_policy(trainer.single(seed, plan.scratch_steps, AURORA) / CHECKPOINT)
        assert isinstance(aurora, PreferencePolicy)
        retrained, _ = adaptation.learn("aurora, trained on", UNSEEN, plan.scratch_steps, aurora)
    testbed = Testbed(settings, evaluated.scenarios.files, trainer.simulator)
    try:
        rewards = [
            float((testbed.measures(policy_act(policy), objective) @ np.array(AURORA)).mean())
            for policy, objective in ((aurora, AURORA), (retrained, UNSEEN))
        ]
    finally:
        testbed.close()
    measured = {"seed": seed, "curves": curves, "old_rewards": old, "aurora": rewards}
    return measured | figures(measured)


def figures(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Gain, threshold, steps and losses of one seed from its curves (pairs of steps and reward), old rewards, and
    Aurora's old reward before and after.
    """
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
        "zero_shot": reached["with_replay"] == 0,
        "steps": reached,
        "loss_aurora": 1.0 - measured["aurora"][1] / measured["aurora"][0],
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
    """The figures of all seeds: mean steps from scratch over mean steps of adaptation, of the seeds that are not
    zero-shot (nothing when there are none, or an adaptation never got there), and means of the losses.
    """
    adapted = [run for run in runs if not run["zero_shot"]]
    scratch = [run["steps"]["from_scratch"] or run["curves"]["from_scratch"][-1][0] for run in adapted]

    def ratio(name: str) -> float | None:
        steps = [run["steps"][name] for run in adapted]
        return sum(scratch) / sum(steps) if steps and all(steps) else None

    def mean(name: str) -> float:
        return float(np.mean([run[name] for run in runs]))

    return {
        "steps_ratio": ratio("with_replay"),
        "old_objectives_loss_ratio": mean("loss_with_replay"),
        "steps_ratio_without_replay": ratio("without_replay"),
        "old_objectives_loss_ratio_without_replay": mean("loss_without_replay"),
        "old_objectives_loss_of_gain": mean("loss_of_gain_with_replay"),
        "old_objectives_loss_of_gain_without_replay": mean("loss_of_gain_without_replay"),
        "old_objective_loss_of_aurora": mean("loss_aurora"),
        "steps_ratio_is_lower_bound": any(run["steps"]["from_scratch"] is None for run in adapted),
        "zero_shot": sum(run["zero_shot"] for run in runs),
        "runs": list(runs),
    }


class _Adaptation:
    """Policies that learn the unseen objective, and their rewards on it and on old ones."""

    def __init__(self, settings: TrainingConfiguration, trainer: Trainer, evaluate: Evaluation) -> None:
        self._settings = settings
        self._trainer = trainer
        self._evaluate = evaluate

    def learn(
        self,
        description: str,
        objective: ObjectiveSource,
        steps: int,
        start: PreferencePolicy | None = None,
        watched: bool = False,
    ) -> tuple[PreferencePolicy, list[tuple[int, float]]]:
        """The policy, from nothing or from `start`, and where `watched` its curve: pairs of steps and reward."""
        curve: list[tuple[int, float]] = []
        updates = 0

        def on_update(state: LearningState) -> None:
            nonlocal updates
            if watched and (updates <= EVERY_UPDATE or updates % AFTERWARDS == 0):
                curve.append((state.steps, self._evaluate(state.policy, UNSEEN)))
            updates += 1
            self._trainer.report(description, min(state.steps, steps))

        learned = learn(
            self._settings,
            objective,
            steps=steps,
            parameters=None if start is None else start.state_dict(),
            simulator=self._trainer.simulator,
            on_update=on_update,
        )
        if learned.interrupted:
            raise KeyboardInterrupt
        return learned.policy, curve

    def old_rewards(self, policy: PreferencePolicy) -> list[float]:
        """Under each of `OLD`."""
        return [self._evaluate(policy, objective) for objective in OLD]
