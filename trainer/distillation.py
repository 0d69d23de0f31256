"""One policy from several.

Trained alike with different seeds they err in different places, and the mean of their actions scores higher than any of
them (trainer/README.md has numbers). A student learns that mean. It acts itself, so that the states are those it gets
into (dataset aggregation, Ross et al. 2011); what it learns there is what the teachers would have done. Its critic
learns the mean of their values, for adaptation later.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from stable_baselines3 import PPO

from weir.traces.errors import InputError
from weir.trainer.algorithms import LinearSchedule, load_policy, make_model, save_checkpoint
from weir.trainer.configuration import TrainingConfiguration
from weir.trainer.gym.sb3 import BottleneckVecEnv
from weir.trainer.networks import PreferencePolicy
from weir.trainer.recorder import TrainingProgress
from weir.trainer.train import (
    CHECKPOINT,
    CONFIGURATION,
    FIGURES,
    TrainingResult,
    make_environment,
    train,
    write_figures,
)

ACTION_NOISE = 0.05
"""Standard deviation of what is added to the student's actions: states beside its own path are visited too."""
MEMORY_STEPS = 400_000
BATCH_SIZE = 2048
BATCHES_PER_ROLLOUT = 64
LEARNING_RATE = LinearSchedule(1e-3, 5e-5)


def train_ensemble(
    configuration: TrainingConfiguration,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
) -> TrainingResult:
    """Trains the teachers, each in `teacher-SEED` of the folder, and the student, in the folder itself.

    Args:
        configuration: with `distillation`.
        out: folder; what it holds afterwards is a training run like any other.
        resume: go on with the teacher that was interrupted; a student begins anew.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called after every update; steps are counted over all teachers and the student.

    Raises:
        InputError: as `train`.
        SimulatorError: as `train`.
    """
    assert configuration.distillation is not None
    folder, total = Path(out), configuration.total_steps
    folders = {seed: folder / f"teacher-{seed}" for seed in configuration.distillation.seeds}
    if not resume and (folder / CHECKPOINT).exists():
        raise InputError(f"{folder}: already holds a training run; resume it, or give another folder")

    def counted(done: int) -> Callable[[TrainingProgress], None] | None:
        if on_progress is None:
            return None
        return lambda state: on_progress(replace(state, steps=done + state.steps, total_steps=total))

    done = 0
    for seed, teacher in folders.items():
        own = configuration.model_copy(update={"seed": seed, "distillation": None})
        begun = resume and (teacher / CHECKPOINT).is_file()
        if not (begun and _steps_of(teacher) >= own.steps):
            result = train(own, teacher, resume=begun, simulator=simulator, on_progress=counted(done))
            if result.interrupted:
                return replace(result, steps=done + result.steps)
        done += own.steps
    return distill(
        configuration,
        list(folders.values()),
        folder,
        simulator=simulator,
        on_progress=counted(done),
    )


def distill(
    configuration: TrainingConfiguration,
    teachers: Sequence[Path],
    out: Path,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
) -> TrainingResult:
    """Trains the student of finished runs and writes its checkpoint, configuration and figures to `out`; the figures
    are of all the work, the teachers' too. Interrupted (Ctrl-C), it leaves no checkpoint.

    Raises:
        InputError: a run lacks its checkpoint.
        SimulatorError: a simulator failed.
    """
    started = time.monotonic()
    assert configuration.distillation is not None
    policies = [load_policy(teacher / CHECKPOINT) for teacher in teachers]
    torch.set_num_threads(configuration.threads)
    environment = make_environment(configuration, simulator)
    # Other scenarios than the teacher's of the same seed.
    environment.seed(configuration.seed + configuration.total_steps)
    rewards: list[float] = []
    interrupted, steps = False, 0
    try:
        model = make_model(configuration, environment)
        assert isinstance(model, PPO)
        assert isinstance(model.policy, PreferencePolicy)
        # In the place of one of them it has less to learn.
        model.policy.load_state_dict(policies[0].state_dict())
        student = _Student(model.policy, _Teachers(policies), environment, configuration.seed)
        wanted, rollout = configuration.distillation.steps, configuration.steps_between_updates
        while steps < wanted:
            rewards.append(student.roll_out(configuration.ppo.steps_per_update))
            student.learn(LEARNING_RATE(1.0 - steps / wanted))
            steps += rollout
            if on_progress is not None:
                unknown = (float("nan"),) * 3
                on_progress(TrainingProgress(min(steps, wanted), wanted, rewards[-1], unknown))
        out.mkdir(parents=True, exist_ok=True)
        (out / CONFIGURATION).write_text(configuration.model_dump_json(indent=1) + "\n", encoding="utf-8")
        save_checkpoint(model, out / CHECKPOINT)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        environment.close()
    taught = [json.loads((teacher / FIGURES).read_text(encoding="utf-8")) for teacher in teachers]
    total = steps + sum(figures["steps"] for figures in taught)
    if not interrupted:
        wall_s = time.monotonic() - started + sum(figures["wall_s"] for figures in taught)
        write_figures(out / FIGURES, total, wall_s)
    return TrainingResult(out / CHECKPOINT, total, interrupted, float(np.mean(rewards[-10:])) if rewards else np.nan)


class _Teachers:
    """Their mean action, each cut to [-1, 1], and mean value."""

    def __init__(self, policies: Sequence[object]) -> None:
        self._policies = [policy for policy in policies if isinstance(policy, PreferencePolicy)]
        assert len(self._policies) == len(policies)
        for policy in self._policies:
            policy.set_training_mode(False)

    def __call__(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        actions, values = zip(*(action_and_value(policy, observations) for policy in self._policies), strict=True)
        return torch.stack([action.clamp(-1.0, 1.0) for action in actions]).mean(0), torch.stack(values).mean(0)


class _Student:
    """Acts, remembers what the teachers say to it, and learns that."""

    def __init__(self, policy: PreferencePolicy, teachers: _Teachers, environment: BottleneckVecEnv, seed: int) -> None:
        self._policy = policy
        self._teachers = teachers
        self._environment = environment
        self._observations = torch.from_numpy(environment.reset())
        self._random = np.random.default_rng(seed)
        self._optimizer = torch.optim.Adam(policy.parameters())
        width = self._observations.shape[1]
        # Rounded up to whole steps of all environments.
        self._memory = torch.empty(-(-MEMORY_STEPS // environment.num_envs), environment.num_envs, width + 2)
        self._steps = 0

    def roll_out(self, steps: int) -> float:
        """That many steps of every environment; the mean reward."""
        rewards = []
        for _ in range(steps):
            with torch.no_grad():
                action, _ = action_and_value(self._policy, self._observations)
                told = self._teachers(self._observations)
            self._memory[self._steps % len(self._memory)] = torch.cat([self._observations, *told], dim=1)
            self._steps += 1
            noise = self._random.normal(0.0, ACTION_NOISE, action.shape).astype(np.float32)
            observations, reward, _, _ = self._environment.step(np.clip(action.numpy() + noise, -1.0, 1.0))
            self._observations = torch.from_numpy(observations)
            rewards.append(float(reward.mean()))
        return float(np.mean(rewards))

    def learn(self, learning_rate: float) -> None:
        """`BATCHES_PER_ROLLOUT` batches of what is remembered."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        for batch in self._batches():
            action, value = action_and_value(self._policy, batch[:, :-2])
            error = torch.nn.functional.mse_loss
            # Actor and critic share no parameter: neither loss reaches the other.
            loss = error(action, batch[:, -2:-1]) + error(value, batch[:, -1:])
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()

    def _batches(self) -> Iterator[torch.Tensor]:
        known = self._memory[: self._steps].flatten(0, 1)
        for _ in range(BATCHES_PER_ROLLOUT):
            yield known[torch.from_numpy(self._random.integers(len(known), size=min(BATCH_SIZE, len(known))))]


def action_and_value(policy: PreferencePolicy, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean action before it is cut, and the value: (N, 1) each."""
    actor, critic = policy.mlp_extractor(policy.extract_features(observations))
    return policy.action_net(actor), policy.value_net(critic)


def _steps_of(run: Path) -> int:
    figures = run / FIGURES
    return int(json.loads(figures.read_text(encoding="utf-8"))["steps"]) if figures.is_file() else 0
