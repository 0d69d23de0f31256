"""Learning from rewards with a learner that has stable-baselines3's interface: checkpoints, resume, progress,
evaluation and curricula for every such algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm

from weir_sim.cluster import ClusterError
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.learning.algorithms import load_model, make_environment, save_model
from weir_train.learning.callbacks import EarlyEnd, Recorder, WeightAverage
from weir_train.learning.curriculum import TraceCurriculum, make_curriculum
from weir_train.learning.evaluation import Evaluation, EvaluationCallback
from weir_train.learning.learner import TrainingOutcome, TrainingRun


def reinforce(
    run: TrainingRun,
    learner: AbstractContextManager[BaseAlgorithm],
    *,
    load: Callable[[BaseAlgorithm, Path], object] = load_model,
    save: Callable[[BaseAlgorithm, Path, str], None] = save_model,
    weight_average_decay: float = 0.0,
    log_interval: int = 1,
    steps_between_records: int = 0,
) -> TrainingOutcome:
    """Trains until all steps are done, `run.is_over` or Ctrl-C, and writes the checkpoint.

    Args:
        run: the training.
        learner: a fresh one with its environments, which exist during the block.
        load: sets the learner to the state of a checkpoint.
        save: writes that checkpoint, with the name of the algorithm.
        weight_average_decay: of `WeightAverage`; 0: none.
        log_interval: of stable-baselines3's `learn`.
        steps_between_records: minimum number of steps between two records of progress.

    Raises:
        InputError: the checkpoint is not of this learner, or the training diverged.
        ComponentFailed: a simulator failed; the last checkpoint stays.
        ClusterError: from the learner; the checkpoint is written first.
    """
    configuration, folder, callbacks = run.configuration, run.folder, list(run.callbacks)
    chosen = run.curriculum or make_curriculum(configuration, run.sampler.documents, folder, run.simulator)
    if chosen is not None:
        traces = TraceCurriculum(run.sampler, chosen, configuration.first_step, configuration.steps)
        traces.prepare(run.steps_done)
        callbacks.append(traces)
    if run.is_over is not None:
        callbacks.append(EarlyEnd(run.is_over))
    average, interrupted = None, False
    if weight_average_decay > 0:
        average = WeightAverage(weight_average_decay, configuration.algorithm, folder)
    # Made after the average, which draws random numbers; the learner then sets its own seed.
    with _continued(run, learner, load) as model, _watcher(run) as evaluating:

        def keep() -> None:
            save(model, run.checkpoint, configuration.algorithm)
            if average is not None:
                average.save()

        recorder = Recorder(configuration, folder, keep, run.on_progress, steps_between_records)
        watching = [callback for callback in (recorder, average, *callbacks, evaluating) if callback is not None]
        try:
            model.learn(
                max(0, configuration.steps - model.num_timesteps),
                watching,
                log_interval=log_interval,
                tb_log_name=configuration.name,
                reset_num_timesteps=model.num_timesteps == 0,
            )
        except KeyboardInterrupt:
            interrupted = True
        except ClusterError:
            keep()
            raise
        except ValueError:
            # torch raises this for a distribution that is not finite; `keep` then reports it.
            if all(values.isfinite().all() for values in model.policy.state_dict().values()):
                raise
        keep()
    if evaluating is not None:
        run.record.rule_mean_reward = evaluating.rule_mean_reward
    interrupted = interrupted or model.num_timesteps < configuration.steps
    return TrainingOutcome(model.num_timesteps, interrupted, recorder.mean_reward)


def description_with_library(configuration: TrainingConfiguration, library: str, done: str) -> dict[str, Any]:
    """Returns `Learner.description` for an algorithm of `library`."""
    return {
        "algorithm": f"{configuration.algorithm.upper()} ({library}), {done} steps",
        "network": {"hidden": list(configuration.policy.hidden)},
    }


@contextmanager
def in_environment(
    run: TrainingRun, make: Callable[[Any, BottleneckVecEnv, Path], BaseAlgorithm]
) -> Iterator[BaseAlgorithm]:
    """Yields a fresh learner, which `make` creates from the run's configuration, environments and folder."""
    environment = make_environment(run.configuration, run.simulator, objective=run.objective, sampler=run.sampler)
    with closing(environment):
        yield make(run.configuration, environment, run.folder)


@contextmanager
def _continued(
    run: TrainingRun,
    learner: AbstractContextManager[BaseAlgorithm],
    load: Callable[[BaseAlgorithm, Path], object],
) -> Iterator[BaseAlgorithm]:
    """Yields the learner, in the state of the checkpoint if the training is resumed."""
    with learner as model:
        if run.resume:
            load(model, run.checkpoint)
            if model.env is not None:
                # The first part's seed would repeat its scenarios.
                model.env.seed(run.configuration.seed + model.num_timesteps)
        yield model


@contextmanager
def _watcher(run: TrainingRun) -> Iterator[EvaluationCallback | None]:
    """Yields the run's evaluation callback, if any."""
    if run.evaluate_every_steps is None:
        yield None
        return
    with Evaluation(run.configuration, documents=run.held_out, simulator=run.simulator) as evaluation:
        yield EvaluationCallback(evaluation, run.configuration, run.folder, run.evaluate_every_steps)
