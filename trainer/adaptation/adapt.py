"""Online adaptation (MOCC section 4.3): a trained policy learns one more objective and keeps those it had."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from weir.errors import InputError
from weir.trainer.adaptation.requirement_replay import RequirementReplay
from weir.trainer.adaptation.starting_point import ACTOR_PARTS, StartingPoint, load_parameters
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.episode import checked_objective
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.learning.train import make_environment, make_model
from weir.trainer.policies.networks import PreferencePolicy

WARM_UP_STEPS = 50_000


@dataclass(frozen=True)
class LearningState:
    """What a display shows, once per update. `mean_reward` is over the latest episodes, not a number before the first
    has ended; `warming_up`: only the critic learns as yet.
    """

    steps: int
    mean_reward: float
    warming_up: bool
    policy: PreferencePolicy


@dataclass(frozen=True)
class Learned:
    """A policy and the environment steps it took; `interrupted`: fewer than were asked for."""

    policy: PreferencePolicy
    steps: int
    interrupted: bool


def adapt(
    start: StartingPoint,
    objective: Sequence[float],
    *,
    steps: int,
    replay: float = 0.5,
    warm_up_steps: int | None = None,
    simulator: str | os.PathLike[str] | None = None,
    on_update: Callable[[LearningState], None] | None = None,
) -> Learned:
    """Fine-tunes for a new objective; an interruption (Ctrl-C) keeps what is learned.

    Args:
        start: see `read_starting_point`.
        objective: the new one.
        steps: environment steps, those of the warm-up among them.
        replay: share of the episodes with old objectives.
        warm_up_steps: how long a critic that starts from nothing learns alone. None: a quarter of the steps, at most
            `WARM_UP_STEPS`.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_update: called before the first update and after every one.

    Raises:
        InputError: the starting point does not fit its own description, or there is nothing to replay.
        SimulatorError: a simulator failed.
    """
    if warm_up_steps is None:
        warm_up_steps = min(steps // 4, WARM_UP_STEPS)
    return learn(
        start.configuration,
        RequirementReplay(objective, start.old_objectives, replay),
        steps=steps,
        parameters=start.parameters,
        warm_up_steps=0 if start.has_critic else warm_up_steps,
        simulator=simulator,
        on_update=on_update,
    )


def learn(
    configuration: TrainingConfiguration,
    objective: ObjectiveSource,
    *,
    steps: int,
    parameters: Mapping[str, torch.Tensor] | None = None,
    warm_up_steps: int = 0,
    simulator: str | os.PathLike[str] | None = None,
    on_update: Callable[[LearningState], None] | None = None,
) -> Learned:
    """PPO from given parameters (None: from nothing) on an objective; nothing is written. See `adapt`."""
    if configuration.algorithm != "ppo":
        raise InputError(f"algorithm {configuration.algorithm}: adaptation learns with ppo only")
    torch.set_num_threads(configuration.threads)
    environment = make_environment(configuration, simulator, objective=objective)
    try:
        model = make_model(configuration, environment)
        assert isinstance(model, PPO)
        assert isinstance(model.policy, PreferencePolicy)
        if parameters is not None:
            load_parameters(model.policy, parameters)
        interrupted = False
        try:
            model.learn(steps, _Watch(warm_up_steps, on_update))
        except KeyboardInterrupt:
            interrupted = True
    finally:
        environment.close()
    return Learned(model.policy, model.num_timesteps, interrupted)


def adapted_provenance(
    start: StartingPoint, objective: Sequence[float], steps: int, replay: float, *, interrupted: bool = False
) -> dict[str, Any]:
    """The provenance of an adapted model: that of the model before, and one more entry in `adaptations`, from which a
    later adaptation knows what to replay. `steps` are those really done.
    """
    entry = {
        "objective": [round(weight, 6) for weight in checked_objective(objective)],
        "steps": steps,
        "replay": replay,
        "seed": start.configuration.seed,
        "side": start.configuration.environment.side,
    } | ({"interrupted": True} if interrupted else {})
    return start.provenance | {"adaptations": [*start.provenance.get("adaptations", []), entry]}


class _Watch(BaseCallback):
    """Holds the actor still while the critic warms up, and tells about every update."""

    def __init__(self, warm_up_steps: int, on_update: Callable[[LearningState], None] | None) -> None:
        super().__init__()
        self._warm_up_steps = warm_up_steps
        self._on_update = on_update
        self._rewards: list[float] = []

    def _on_step(self) -> bool:
        self._rewards += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return True

    def _on_rollout_start(self) -> None:
        self._tell()

    def _on_training_end(self) -> None:
        self._tell()

    def _on_rollout_end(self) -> None:
        learns = self.num_timesteps > self._warm_up_steps
        for name, parameter in self.model.policy.named_parameters():
            if name.startswith(ACTOR_PARTS):
                parameter.requires_grad_(learns)

    def _tell(self) -> None:
        assert isinstance(self.model.policy, PreferencePolicy)
        del self._rewards[:-200]
        mean_reward = float(np.mean(self._rewards)) if self._rewards else float("nan")
        if self._on_update is not None:
            warming_up = self.num_timesteps < self._warm_up_steps
            self._on_update(LearningState(self.num_timesteps, mean_reward, warming_up, self.model.policy))
