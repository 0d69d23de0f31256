"""Advantage-weighted regression on recorded calls: the policy moves to actions that turned out better than its own.

1. Critics Q_k of the starting policy pi_0, each from a resample of the calls. A(s, d) = mean_k A_k - std_k A_k is the
   advantage of the action pi_0(s) + d: one that they do not agree on is not preferred.
2. In each recorded state deviations d are drawn as the recorded ones are spread, and pi learns the mean of pi_0(s) + d
   weighted by exp(A / std A): none is beyond the recorded ones. Under random objectives it learns pi_0.
3. The estimate of `critic.evaluate`, from every fourth call, which neither step has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import torch

from weir.errors import InputError
from weir.trainer.configuration.training import TrainingConfiguration, checked_configuration
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.learning.algorithms import make_policy
from weir.trainer.learning.starting_point import ACTOR_PARTS, StartingPoint, load_parameters
from weir.trainer.offline.critic import (
    Equations,
    Estimate,
    Steps,
    advantages,
    blocks,
    evaluate,
    resampled,
    state_features,
)
from weir.trainer.offline.reader import Trajectory
from weir.trainer.policies.networks import PreferencePolicy

FEWEST_CALLS: Final = 4
FEWEST_STEPS: Final = 500
# Recorded actions that differ from the model's by less, as a standard deviation, teach nothing.
_LEAST_DEVIATION: Final = 0.005
_CRITICS: Final = 20
_DRAWN: Final = 64
# In standard deviations.
_WIDEST: Final = 2.0
_UPDATES: Final = 2000
_LEARNING_RATE: Final = 3e-4
_BATCH: Final = 256
EXPERIMENTAL: Final = "fine-tuned offline on recorded calls; compare it in calls before use"


@dataclass(frozen=True)
class FineTuned:
    """`deviation`: root mean square of the change of actions in [-1, 1], on the calls it did not learn from;
    `recorded`: that of the recorded actions there.
    """

    policy: PreferencePolicy
    configuration: TrainingConfiguration
    calls: int
    steps: int
    estimate: Estimate
    deviation: float
    recorded: float

    def report(self) -> dict[str, Any]:
        """For the provenance of the model."""
        rounded = {name: round(value, 5) for name, value in asdict(self.estimate).items()}
        return {
            "calls": self.calls,
            "steps": self.steps,
            "reward": "log",
            "estimate": rounded,
            "deviation": round(self.deviation, 4),
            "recorded_deviation": round(self.recorded, 4),
        }


def offline_configuration(start: StartingPoint, seed: int) -> TrainingConfiguration:
    """The configuration of the starting point without inputs of the simulator alone, and with the reward of calls."""
    values = start.configuration.model_dump()
    values["environment"] |= {"privileged_critic": False, "reward": "log"}
    version = start.configuration.version.removesuffix("+experimental") + "+experimental"
    return checked_configuration(values | {"seed": seed, "version": version})


def finetune(start: StartingPoint, trajectories: Sequence[Trajectory], *, seed: int = 1) -> FineTuned:
    """Fine-tunes on recorded calls; nothing is executed and nothing written.

    Raises:
        InputError: there are too few calls or steps, or their actions are those of the model.
    """
    configuration = offline_configuration(start, seed)
    torch.set_num_threads(configuration.threads)
    specification = configuration.environment.specification()
    policy = make_policy(configuration)
    assert isinstance(policy, PreferencePolicy)
    actor = {name: value for name, value in start.parameters.items() if name.startswith(ACTOR_PARTS)}
    load_parameters(policy, actor)
    calls = [_Call(one, specification, policy) for one in trajectories if one.decided.any()]
    steps = sum(len(call.deviations) for call in calls)
    if len(calls) < FEWEST_CALLS or steps < FEWEST_STEPS:
        raise InputError(
            f"{len(calls)} calls with {steps:,} decisions of the policy are too few: record at least {FEWEST_CALLS} "
            f"calls and {FEWEST_STEPS} decisions"
        )
    spread = float(np.sqrt(np.mean(np.concatenate([call.deviations for call in calls]) ** 2)))
    if spread < _LEAST_DEVIATION:
        raise InputError(
            "the recorded actions are the model's own, so that there is none to prefer: record calls with "
            "`weir call --record-transitions DIR --exploration 0.1`"
        )
    held_out = calls[::4]
    learned_from = [call for index, call in enumerate(calls) if index % 4]
    _learn(policy, learned_from, spread, seed)
    taken = [_actions(policy, call.inputs) - call.own for call in held_out]
    after = [_actions(policy, call.next_inputs) - call.next_own for call in held_out]
    estimate = evaluate(
        [block for call in held_out for block in call.steps],
        [block for call in taken for block in blocks(call)],
        [block for call in after for block in blocks(call)],
        seed=seed,
    )
    return FineTuned(
        policy,
        configuration,
        calls=len(calls),
        steps=steps,
        estimate=estimate,
        deviation=float(np.sqrt(np.mean(np.concatenate(taken) ** 2))),
        recorded=float(np.sqrt(np.mean(np.concatenate([call.deviations for call in held_out]) ** 2))),
    )


class _Call:
    """The decided steps of a recorded call, with the policy's own actions before it learns."""

    def __init__(self, one: Trajectory, specification: EnvironmentSpecification, policy: PreferencePolicy) -> None:
        before, after = one.observations[:-1][one.decided], one.observations[1:][one.decided]
        scaling = policy.deployed_modules()[0]
        self.inputs, self.next_inputs = (scaling(torch.from_numpy(values)) for values in (before, after))
        self.own, self.next_own = (_actions(policy, inputs) for inputs in (self.inputs, self.next_inputs))
        self.deviations = _deviations(specification, one.actions[one.decided], self.own, before)
        now, then = (state_features(specification, values) for values in (before, after))
        parts = (blocks(part) for part in (now, self.deviations, one.rewards[one.decided], then))
        self.steps = [Steps(*block) for block in zip(*parts, strict=True)]


def _deviations(
    specification: EnvironmentSpecification, recorded: np.ndarray, own: np.ndarray, observations: np.ndarray
) -> np.ndarray:
    """How far recorded actions are from the policy's own, (N,) in [-1, 1]. Rates at a bound are compared as such: the
    noise is on the rate within the bounds.
    """
    if specification.action.kind != "around_rule":
        return np.clip(recorded, -1.0, 1.0) - own
    ratio = np.maximum(recorded, 1.0) / specification.wire_actions(own, observations)
    return np.clip(np.log(ratio.astype(np.float64)) / np.log(specification.action.span), -1.0, 1.0)


def _actions(policy: PreferencePolicy, inputs: torch.Tensor) -> np.ndarray:
    """The actions of a policy without noise, for scaled inputs, (N,) float64 in [-1, 1]."""
    _, actor, head = policy.deployed_modules()
    with torch.no_grad():
        return head(actor(inputs)).clamp(-1.0, 1.0)[:, 0].double().numpy()


def better_deviations(steps_of: Sequence[Steps], spread: float, seed: int) -> np.ndarray:
    """The weighted mean deviation in each state, (N,), in the order of the blocks; see the module."""
    generator = np.random.default_rng(seed)
    equations = Equations(steps_of, [np.zeros(len(steps.rewards)) for steps in steps_of])
    critics = [equations.solved(resampled(len(steps_of), generator)) for _ in range(_CRITICS)]
    features = np.concatenate([steps.features for steps in steps_of])
    drawn = np.clip(spread * generator.standard_normal(_DRAWN), -_WIDEST * spread, _WIDEST * spread)
    mean, advantage = np.empty((2, _DRAWN, len(features)))
    for index, deviation in enumerate(drawn):
        found = np.array([advantages(one, features, np.full(len(features), deviation)) for one in critics])
        mean[index] = found.mean(axis=0)
        advantage[index] = mean[index] - found.std(axis=0)
    weight = np.exp((advantage - advantage.max(axis=0)) / max(float(np.std(mean)), 1e-9))
    return (drawn @ weight) / weight.sum(axis=0)


def _learn(policy: PreferencePolicy, calls: Sequence[_Call], spread: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.cat([call.inputs for call in calls])
    better = better_deviations([block for call in calls for block in call.steps], spread, seed)
    target = torch.from_numpy(np.concatenate([call.own for call in calls]) + better).float()[:, None].clamp(-1.0, 1.0)
    steered = inputs.clone()
    steered[:, -3:] = torch.from_numpy(np.random.default_rng(seed).dirichlet((1.0, 1.0, 1.0), len(inputs))).float()
    _, actor, head = policy.deployed_modules()
    with torch.no_grad():
        kept = head(actor(steered)).clamp(-1.0, 1.0)
    optimizer = torch.optim.Adam([*actor.parameters(), *head.parameters()], lr=_LEARNING_RATE)
    for _ in range(_UPDATES):
        batch = torch.randint(len(inputs), (_BATCH,), generator=generator)
        loss = ((head(actor(inputs[batch])) - target[batch]) ** 2).mean()
        loss = loss + ((head(actor(steered[batch])) - kept[batch]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
