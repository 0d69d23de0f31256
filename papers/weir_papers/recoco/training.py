"""Trains ReCoCo's models and runs them on a trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from weir.traces.schema.scenario import Scenario
from weir.trainer.configuration.scenarios import ScenarioSampler, ScenarioSettings
from weir.trainer.gym.environment import BottleneckEnv
from weir.trainer.gym.rewards import recoco
from weir.trainer.gym.step import STEP_FIELDS, StepRecord
from weir.trainer.learning.algorithms import REPLAY_BUFFER, load_policy
from weir.trainer.learning.checkpoint import read_checkpoint
from weir.trainer.learning.train import train
from weir.trainer.model.file import CHECKPOINT
from weir_papers.recoco.models import RecocoModel, training_configuration


class OrderedTraces(ScenarioSampler):
    """Samples one trace after the other, each for the same share of the steps."""

    def __init__(self, settings: ScenarioSettings, steps: int) -> None:
        super().__init__(settings)
        self._steps = steps
        self._stage = 0

    def advance(self, step: int) -> bool:
        """Goes to the trace of a step; True when it is another one than before."""
        before, count = self._stage, len(self.documents)
        self._stage = min(step * count // self._steps, count - 1)
        return self._stage != before

    def __call__(self, seed: int) -> dict[str, Any]:
        """The current trace."""
        return self.documents[self._stage]


class _Restart(BaseCallback):
    """Restarts all environments when the trace changes; the learner keeps its replay buffer."""

    def __init__(self, traces: OrderedTraces) -> None:
        super().__init__()
        self._traces = traces

    def _on_rollout_start(self) -> None:
        if self._traces.advance(self.num_timesteps):
            # stable-baselines3 does the same when it begins with fresh environments.
            self.model._last_obs = np.asarray(self.training_env.reset())

    def _on_step(self) -> bool:
        return True


def train_model(
    model: RecocoModel,
    files: Mapping[str, Path],
    folder: Path,
    on_progress: Callable[[int], None],
    simulator: str | os.PathLike[str] | None = None,
) -> bool:
    """Trains a model in `folder`, from its checkpoint if it has one; False when interrupted, with a checkpoint. A
    KeyboardInterrupt of `on_progress` interrupts.
    """
    configuration, checkpoint = training_configuration(model, files), folder / CHECKPOINT
    sampler, callbacks = ScenarioSampler(configuration.scenarios), []
    if model.order not in (None, "random"):
        sampler = traces = OrderedTraces(configuration.scenarios, model.steps)
        traces.advance(read_checkpoint(checkpoint).steps if checkpoint.is_file() else 0)
        callbacks.append(_Restart(traces))
    result = train(
        configuration,
        folder,
        resume=checkpoint.is_file(),
        simulator=simulator,
        on_progress=lambda state: on_progress(state.steps),
        sampler=sampler,
        callbacks=callbacks,
    )
    return not result.interrupted


def run_policy(
    model: RecocoModel, files: Mapping[str, Path], trace: str, folder: Path,
    simulator: str | os.PathLike[str] | None = None,
) -> StepRecord:  # fmt: skip
    """The policy in `folder` on one trace, once, without exploration: a record of shape (steps,)."""
    policy: Any = load_policy(folder / CHECKPOINT)
    settings = training_configuration(model, files).environment
    environment = BottleneckEnv(
        Scenario.load(files[trace]), objective=settings.objective, simulator=simulator, **settings.arguments()
    )
    rows = []
    try:
        observation, _ = environment.reset(seed=model.seed)
        ended = False
        while not ended:
            action, _ = policy.predict(observation, deterministic=True)
            observation, _, terminated, truncated, info = environment.step(action)
            ended = terminated or truncated
            rows.append([info[name] for name in STEP_FIELDS])
    finally:
        environment.close()
    return StepRecord(np.array(rows))


def drop_replay_buffer(folder: Path) -> None:
    """Removes the replay buffer: a hundred times as large as the model, and for further training only."""
    (folder / REPLAY_BUFFER).unlink(missing_ok=True)


def mean_reward(record: StepRecord) -> float:
    """Mean of Eq. 6 over a run."""
    return float(np.mean(recoco(record)))
