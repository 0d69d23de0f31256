"""Trains ReCoCo's models and runs them on a trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weir_papers.off_policy.replay_buffer import REPLAY_BUFFER
from weir_papers.recoco.models import RecocoModel, training_configuration
from weir_traces.schema.scenario import Scenario
from weir_train.gym.environment import BottleneckEnv
from weir_train.gym.rewards import recoco
from weir_train.gym.step import STEP_FIELDS, StepRecord
from weir_train.learning.algorithms import load_policy
from weir_train.learning.curriculum import OrderedTraces
from weir_train.learning.train import train
from weir_train.model.file import CHECKPOINT


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
    # The files of the configuration are in the model's order.
    ordered = model.order not in (None, "random")
    result = train(
        training_configuration(model, files),
        folder,
        resume=(folder / CHECKPOINT).is_file(),
        simulator=simulator,
        on_progress=lambda state: on_progress(state.steps),
        curriculum=OrderedTraces(range(len(model.traces))) if ordered else None,
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
