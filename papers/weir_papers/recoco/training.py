"""Trains ReCoCo's models, with validation every 10,000 steps (section V-D), and runs them on a trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from weir_papers.off_policy.replay_buffer import REPLAY_BUFFER
from weir_papers.recoco.models import VALIDATION_STEPS, RecocoModel, training_configuration
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.environment import BottleneckEnv
from weir_train.gym.rewards import recoco
from weir_train.gym.step import STEP_FIELDS, StepRecord
from weir_train.learning.algorithms import load_policy
from weir_train.learning.curriculum import OrderedTraces
from weir_train.learning.evaluation import Evaluation, EvaluationCallback
from weir_train.learning.train import train
from weir_train.model.file import BEST_MODEL, CHECKPOINT


class ReplayBufferOfTrace(BaseCallback):
    """Empties the replay buffer when an ordered training starts its next trace.

    Args:
        curriculum: of the training.
        configuration: of the training, from its first step.
    """

    def __init__(self, curriculum: OrderedTraces, configuration: TrainingConfiguration) -> None:
        super().__init__()
        self._curriculum = curriculum
        self._steps, self._steps_per_update = configuration.steps, configuration.steps_per_update
        self._trace = -1

    def _on_training_start(self) -> None:
        # A checkpoint has the replay buffer from before it is emptied: that of the last update.
        self._trace = self._trace_at(self.num_timesteps - self._steps_per_update)

    def _on_rollout_start(self) -> None:
        trace = self._trace_at(self.num_timesteps)
        if trace != self._trace:
            assert isinstance(self.model, OffPolicyAlgorithm)
            assert self.model.replay_buffer is not None
            self.model.replay_buffer.reset()
            self._trace = trace

    def _on_step(self) -> bool:
        return True

    def _trace_at(self, step: int) -> int:
        return int(np.argmax(self._curriculum.probabilities(min(1.0, max(0, step) / self._steps))))


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
    configuration = training_configuration(model, files)
    curriculum, callbacks = None, list[BaseCallback]()
    if model.order not in (None, "random"):
        # The files of the configuration are in the model's order.
        curriculum = OrderedTraces(range(len(model.traces)))
        callbacks.append(ReplayBufferOfTrace(curriculum, configuration))
    documents = [Scenario.load(files[name]).to_dict() for name in model.traces]
    with Evaluation(configuration, documents=documents, simulator=simulator) as validation:
        result = train(
            configuration,
            folder,
            resume=(folder / CHECKPOINT).is_file(),
            simulator=simulator,
            on_progress=lambda state: on_progress(state.steps),
            curriculum=curriculum,
            callbacks=[*callbacks, EvaluationCallback(validation, configuration, folder, VALIDATION_STEPS)],
        )
    return not result.interrupted


def run_policy(
    model: RecocoModel, files: Mapping[str, Path], trace: str, folder: Path,
    simulator: str | os.PathLike[str] | None = None,
) -> StepRecord:  # fmt: skip
    """The policy in `folder` on one trace, once, without exploration: a record of shape (steps,). A model of one trace
    has the parameters of its best validation, one of all traces those of its last step.
    """
    policy: Any = load_policy(folder / (BEST_MODEL if model.order is None else CHECKPOINT))
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
