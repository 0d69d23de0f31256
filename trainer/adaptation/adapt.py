"""Online adaptation (MOCC section 4.3): a trained policy learns one more objective and keeps those it had."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import onnx
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from weir.errors import InputError
from weir.trainer.configuration.training import TrainingConfiguration, checked_configuration
from weir.trainer.gym.episode import checked_objective, random_objective
from weir.trainer.gym.specification import PRESETS, ObjectiveSource
from weir.trainer.learning.provenance import provenance_of_run
from weir.trainer.learning.train import CHECKPOINT, load_policy, load_run_configuration, make_environment, make_model
from weir.trainer.model.file import PARAMETERS, read_model
from weir.trainer.policies.networks import PreferencePolicy

# What the names of the policy's parameters begin with, by what they begin with in an exported graph.
GRAPH_NAMES = dict(zip(PARAMETERS, ("mlp_extractor.policy.", "action_net."), strict=True))
NOT_PPO = "was not trained with PPO, and only such a policy can be adapted"
WARM_UP_STEPS = 50_000
ACTOR_PARTS = ("mlp_extractor.policy.", "action_net.", "log_std")


@dataclass(frozen=True)
class StartingPoint:
    """What adaptation starts from.

    `parameters` are those of the policy, all of them or (`has_critic` false, from a model file) the actor's only.
    `old_objectives`: what the policy was trained on. `provenance`: of the model so far.
    """

    configuration: TrainingConfiguration
    parameters: Mapping[str, torch.Tensor]
    has_critic: bool
    old_objectives: tuple[ObjectiveSource, ...]
    provenance: dict[str, Any] = field(default_factory=dict)


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


class RequirementReplay:
    """Draws the objective of an episode: one seen before with the probability `share`, else the new one.

    With a share of one half this is MOCC Eq. 6 in expectation, 1/2 (L(new) + L(old)): every update learns from the
    episodes of all environments, and the surrogate loss is a mean over them.

    Args:
        new: weights of the new objective.
        old: objectives seen before, each as likely; "random" stands for `random_objective`.
        share: 0 to 1; 0 replays nothing.

    Raises:
        InputError: the share is out of range, or there is nothing to replay.
    """

    def __init__(self, new: Sequence[float], old: Sequence[ObjectiveSource], share: float = 0.5) -> None:
        if not 0.0 <= share < 1.0:
            raise InputError(f"replay share {share:g}: must be 0 or more and below 1")
        if share > 0 and not old:
            raise InputError("there are no old objectives to replay: give a replay share of 0")
        self.new = checked_objective(new)
        self.old = tuple(old)
        self.share = share

    def __call__(self, generator: np.random.Generator) -> Sequence[float]:
        """The objective of the next episode."""
        if generator.random() >= self.share:
            return self.new
        source = self.old[int(generator.integers(len(self.old)))]
        if isinstance(source, str):
            return random_objective(generator) if source == "random" else PRESETS[source]
        return source(generator) if callable(source) else source


def read_starting_point(path: str | os.PathLike[str], settings: TrainingConfiguration) -> StartingPoint:
    """Reads a model file, a training folder or a checkpoint in one.

    Args:
        path: of it.
        settings: what adaptation is done with. Features, interval, action, reward and network are the model's own.

    Raises:
        InputError: it is missing or unfit; the message says why.
    """
    file = Path(path)
    if file.suffix == ".onnx":
        return _from_model_file(file, settings)
    folder = file if file.is_dir() else file.parent
    checkpoint = file / CHECKPOINT if file.is_dir() else file
    policy = load_policy(checkpoint)
    if not isinstance(policy, PreferencePolicy):
        raise InputError(f"{file}: {NOT_PPO}")
    run = load_run_configuration(folder)
    values = settings.model_dump() | {key: getattr(run, key).model_dump() for key in ("environment", "policy")}
    values["environment"] |= {"environments": settings.environment.environments, "objective": "random"}
    return StartingPoint(
        checked_configuration(values | {"name": run.name, "version": run.version}, str(file)),
        policy.state_dict(),
        True,
        (_source(run.environment.objective),),
        provenance_of_run(folder, checkpoint),
    )


def _from_model_file(file: Path, settings: TrainingConfiguration) -> StartingPoint:
    model = read_model(file)
    provenance = model.provenance if isinstance(model.provenance, dict) else {}
    missing = [key for key in ("algorithm", "action", "network", "objectives", "reward") if key not in provenance]
    if missing:
        raise InputError(
            f"{file}: its provenance lacks {', '.join(missing)}: only a model written by `weir export` can be adapted"
        )
    if not str(provenance["algorithm"]).startswith("PPO"):
        raise InputError(f"{file}: {NOT_PPO}")
    environment = settings.environment.model_dump() | {
        "features": model.features,
        "history": model.history,
        "interval_ms": model.interval_ms,
        "action": provenance["action"],
        "reward": provenance["reward"],
        "objective": "random",
    }
    network = dict(provenance["network"])
    if "preference" in network:
        network["preference_size"] = network.pop("preference")
    values = settings.model_dump() | {"environment": environment, "name": model.name, "version": model.version}
    values["policy"] |= network
    graph = onnx.load(str(file)).graph
    adapted = [entry["objective"] for entry in provenance.get("adaptations", [])]
    return StartingPoint(
        checked_configuration(values, str(file)),
        {
            inside + tensor.name.removeprefix(outside): torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
            for tensor in graph.initializer
            for outside, inside in GRAPH_NAMES.items()
            if tensor.name.startswith(outside)
        },
        False,
        (_source(provenance["objectives"]), *(tuple(objective) for objective in adapted)),
        provenance,
    )


def _source(objectives: Any) -> ObjectiveSource:
    """What a configuration calls its objectives, as `RequirementReplay` takes it; anything but weights and presets
    covers the range that "random" does.
    """
    if isinstance(objectives, list | tuple):
        return checked_objective(objectives)
    return objectives if objectives in PRESETS else "random"


def policy_of(start: StartingPoint) -> PreferencePolicy:
    """The policy alone, for export; a critic that the starting point lacks is left as it comes.

    Raises:
        InputError: the parameters do not fit the description.
    """
    configuration = start.configuration
    specification = configuration.environment.specification()
    low, high = specification.observation_limits()
    policy = PreferencePolicy(
        gymnasium.spaces.Box(low, high, dtype=np.float32),
        gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32),
        lambda remaining: 0.0,
        specification=specification,
        preference_size=configuration.policy.preference_size,
        hidden=configuration.policy.hidden,
    )
    _load_parameters(policy, start.parameters)
    return policy


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
            _load_parameters(model.policy, parameters)
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
    } | ({"interrupted": True} if interrupted else {})
    return start.provenance | {"adaptations": [*start.provenance.get("adaptations", []), entry]}


def _load_parameters(policy: PreferencePolicy, parameters: Mapping[str, torch.Tensor]) -> None:
    own = policy.state_dict()
    needed = {name for name in own if name.startswith(ACTOR_PARTS[:2])}
    unfit = sorted(needed - set(parameters)) + [
        name for name, value in parameters.items() if name not in own or own[name].shape != value.shape
    ]
    if unfit:
        raise InputError(f"the model's network is not what its description says: {', '.join(unfit)}")
    policy.load_state_dict(dict(parameters), strict=False)


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
