"""Online adaptation (MOCC section 4.3): a trained policy learns one more objective, or other paths, and keeps those it
had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from weir_cli.errors import InputError
from weir_sim.controllers import PRESETS
from weir_sim.objectives import checked_objective
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.episode import random_objective
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.algorithms import make_environment
from weir_train.learning.callbacks import EarlyEnd
from weir_train.learning.evaluation import Evaluation
from weir_train.learning.ppo import make_model, make_policy
from weir_train.learning.starting_point import ACTOR_PARTS, StartingPoint, load_parameters
from weir_train.policies.networks import PreferencePolicy

WARM_UP_STEPS = 50_000


@dataclass(frozen=True)
class LearningState:
    """The state after an update. `mean_reward` is over the latest episodes, NaN before the first has ended. While
    `warming_up`, only the critic learns.
    """

    steps: int
    mean_reward: float
    warming_up: bool
    policy: PreferencePolicy


@dataclass(frozen=True)
class Learned:
    """A policy and the environment steps it took, fewer than requested if `interrupted`."""

    policy: PreferencePolicy
    steps: int
    interrupted: bool


class PathReplay:
    """Draws the scenario of an episode: one of the former `paths` with the probability `share`, else a trace. May be
    pickled.
    """

    def __init__(self, traces: ScenarioSampler, paths: ScenarioSampler, share: float) -> None:
        self.traces = traces
        self.paths = paths
        self.share = share

    def __call__(self, seed: int) -> dict[str, Any]:
        """Returns the scenario of a seed."""
        is_former = np.random.default_rng(seed).random() < self.share
        return (self.paths if is_former else self.traces)(seed)


class RequirementReplay:
    """Draws the objective of an episode: an old one with the probability `share`, else the new one.

    With a share of one half this is MOCC Eq. 6 in expectation, 1/2 (L(new) + L(old)): every update learns from the
    episodes of all environments, and the surrogate loss is a mean over them.

    Args:
        new: weights of the new objective; None: only old ones.
        old: earlier objectives, equally likely; "random" stands for `random_objective`.
        share: 0 to 1; 0 replays nothing.

    Raises:
        InputError: the share is out of range, or there is nothing to replay.
    """

    def __init__(self, new: Sequence[float] | None, old: Sequence[ObjectiveSource], share: float = 0.5) -> None:
        if not 0.0 <= share < 1.0:
            raise InputError(f"replay share {share:g}: must be 0 or more and below 1")
        if (share > 0 or new is None) and not old:
            raise InputError("there are no old objectives to replay: give a replay share of 0")
        self.new = None if new is None else checked_objective(new)
        self.old = tuple(old)
        self.share = share

    def __call__(self, generator: np.random.Generator) -> Sequence[float]:
        """Draws the objective of the next episode."""
        if self.new is not None and generator.random() >= self.share:
            return self.new
        source = self.old[int(generator.integers(len(self.old)))]
        if isinstance(source, str):
            return random_objective(generator) if source == "random" else PRESETS[source]
        return source(generator) if callable(source) else source


def adapt(
    start: StartingPoint,
    objective: Sequence[float] | None,
    *,
    steps: int,
    replay: float = 0.5,
    traces: ScenarioSampler | None = None,
    warm_up_steps: int | None = None,
    simulator: str | os.PathLike[str] | None = None,
    on_update: Callable[[LearningState], None] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Learned:
    """Fine-tunes for a new objective or other traces; an interruption (Ctrl-C) keeps the policy so far.

    Args:
        start: see `read_starting_point`.
        objective: the new objective; None: the old ones.
        steps: environment steps, including the warm-up.
        replay: share of the episodes with old objectives, and with `traces` also on the configuration's scenarios.
        traces: of the other episodes. None: all episodes have the configuration's scenarios.
        warm_up_steps: steps for which a critic without parameters learns alone. None: a quarter of the steps, at most
            `WARM_UP_STEPS`.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_update: called before the first update and after every one.
        is_over: called after every step; true ends the learning.

    Raises:
        InputError: the starting point does not fit its own description, or there is nothing to replay.
        ComponentFailed: a simulator failed.
    """
    if warm_up_steps is None:
        warm_up_steps = min(steps // 4, WARM_UP_STEPS)
    return learn(
        start.configuration,
        RequirementReplay(objective, start.old_objectives, replay),
        steps=steps,
        parameters=start.parameters,
        warm_up_steps=0 if start.has_critic else warm_up_steps,
        sampler=None if traces is None else PathReplay(traces, ScenarioSampler(start.configuration.scenarios), replay),
        simulator=simulator,
        on_update=on_update,
        is_over=is_over,
    )


def learn(
    configuration: TrainingConfiguration,
    objective: ObjectiveSource,
    *,
    steps: int,
    parameters: Mapping[str, torch.Tensor] | None = None,
    warm_up_steps: int = 0,
    sampler: Callable[[int], dict[str, Any]] | None = None,
    simulator: str | os.PathLike[str] | None = None,
    on_update: Callable[[LearningState], None] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Learned:
    """Runs PPO on an objective, from given or (None) new parameters; writes nothing. See `adapt`."""
    if configuration.algorithm != "ppo":
        raise InputError(f"algorithm {configuration.algorithm}: adaptation learns with ppo only")
    torch.set_num_threads(configuration.threads)
    environment = make_environment(configuration, simulator, objective=objective, sampler=sampler)
    try:
        model = make_model(configuration, environment)
        assert isinstance(model.policy, PreferencePolicy)
        if parameters is not None:
            load_parameters(model.policy, parameters)
        interrupted = False
        try:
            ending = [] if is_over is None else [EarlyEnd(is_over)]
            model.learn(steps, [_Watch(warm_up_steps, on_update), *ending])
        except KeyboardInterrupt:
            interrupted = True
    finally:
        environment.close()
    return Learned(model.policy, model.num_timesteps, interrupted or model.num_timesteps < steps)


def is_unchanged(start: StartingPoint, policy: PreferencePolicy) -> bool:
    """True if the actor of the policy has the parameters of the starting point, so that it decides as that does."""
    learned = policy.state_dict()
    actor = ((name, value) for name, value in start.parameters.items() if name.startswith(ACTOR_PARTS[:2]))
    return all(torch.equal(learned[name], value) for name, value in actor)


def held_out_rewards(
    start: StartingPoint,
    policy: PreferencePolicy,
    objective: Sequence[float] | None,
    documents: Sequence[Mapping[str, Any]],
    *,
    simulator: str | os.PathLike[str] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the rewards per step of the starting point and of `policy` by scenario, each a whole one, under the
    objective, by default `balanced`: float64 of shape (documents,).
    """
    weights = checked_objective(PRESETS["balanced"] if objective is None else objective)
    former = make_policy(start.configuration)
    load_parameters(former, start.parameters)
    with Evaluation(start.configuration, documents=documents, simulator=simulator) as evaluation:
        return evaluation.rewards(former, weights), evaluation.rewards(policy, weights)


def adapted_provenance(
    start: StartingPoint,
    objective: Sequence[float] | None,
    steps: int,
    replay: float,
    *,
    traces: Sequence[str] = (),
    interrupted: bool = False,
) -> dict[str, Any]:
    """Returns the provenance of an adapted model: that of the former one with one more entry in `adaptations`, which a
    later adaptation replays. `steps` are the completed ones; `traces` are names.
    """
    new = {} if objective is None else {"objective": [round(weight, 6) for weight in checked_objective(objective)]}
    entry = (
        (new | ({"traces": list(traces)} if traces else {}))
        | {
            "steps": steps,
            "replay": replay,
            "seed": start.configuration.seed,
            "side": start.configuration.environment.side,
        }
        | ({"interrupted": True} if interrupted else {})
    )
    return start.provenance | {"adaptations": [*start.provenance.get("adaptations", []), entry]}


class _Watch(BaseCallback):
    """Freezes the actor while the critic warms up, and reports every update."""

    def __init__(self, warm_up_steps: int, on_update: Callable[[LearningState], None] | None) -> None:
        super().__init__()
        self._warm_up_steps = warm_up_steps
        self._on_update = on_update
        self._rewards: list[float] = []

    def _on_step(self) -> bool:
        self._rewards += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return True

    def _on_rollout_start(self) -> None:
        self._report()

    def _on_training_end(self) -> None:
        self._report()

    def _on_rollout_end(self) -> None:
        learns = self.num_timesteps > self._warm_up_steps
        for name, parameter in self.model.policy.named_parameters():
            if name.startswith(ACTOR_PARTS):
                parameter.requires_grad_(learns)

    def _report(self) -> None:
        assert isinstance(self.model.policy, PreferencePolicy)
        del self._rewards[:-200]
        mean_reward = float(np.mean(self._rewards)) if self._rewards else float("nan")
        if self._on_update is not None:
            warming_up = self.num_timesteps < self._warm_up_steps
            self._on_update(LearningState(self.num_timesteps, mean_reward, warming_up, self.model.policy))
