"""Learning from rewards with a learner that has stable-baselines3's interface: checkpoints, resume, progress,
evaluation and curricula for every such algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

from stable_baselines3.common.base_class import BaseAlgorithm

from weir_sim.cluster import ClusterError
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.learning.algorithms import load_model, make_environment, save_model
from weir_train.learning.callbacks import Recorder, WeightAverage
from weir_train.learning.checkpoint import RUN, read_checkpoint
from weir_train.learning.continuation import continuation_arrays, continue_from
from weir_train.learning.curriculum import Curriculum, TraceCurriculum, make_curriculum
from weir_train.learning.evaluation import Evaluation, EvaluationCallback
from weir_train.learning.interruption import Stopped, deferred_interrupts
from weir_train.learning.learner import TrainingOutcome, TrainingRun

_CURRICULUM: Final = f"{RUN}/curriculum"


def reinforce(
    run: TrainingRun,
    learner: AbstractContextManager[BaseAlgorithm],
    *,
    load: Callable[[BaseAlgorithm, Path], object] = load_model,
    save: Callable[[BaseAlgorithm, Path, str, Mapping[str, Any]], None] = save_model,
    weight_average_decay: float = 0.0,
    log_interval: int = 1,
    steps_between_records: int = 0,
) -> TrainingOutcome:
    """Trains until all steps are done, `run.is_over` or Ctrl-C, and writes the checkpoint.

    A resumed training has the parameters of one that was not interrupted, if the learner has its environments in this
    process.

    Args:
        run: the training.
        learner: a fresh one with its environments, which exist during the block.
        load: sets the learner to the state of a checkpoint.
        save: writes that checkpoint, with the name of the algorithm and further arrays.
        weight_average_decay: of `WeightAverage`; 0: none.
        log_interval: of stable-baselines3's `learn`.
        steps_between_records: minimum number of steps between two records of progress.

    Raises:
        InputError: the checkpoint is not of this learner, or the training diverged.
        ComponentFailed: a simulator failed; the last checkpoint stays.
        ClusterError: from the learner; the checkpoint is written first.
        KeyboardInterrupt: a second Ctrl-C within an update; the last checkpoint stays.
    """
    configuration, folder, callbacks = run.configuration, run.folder, list(run.callbacks)
    chosen = run.curriculum or make_curriculum(configuration, run.sampler.documents, folder, run.simulator)
    if chosen is not None:
        traces = TraceCurriculum(run.sampler, chosen, configuration.first_step, configuration.steps)
        traces.prepare(run.steps_done)
        callbacks.append(traces)
    average, is_over = None, run.is_over or (lambda: False)
    if weight_average_decay > 0:
        average = WeightAverage(weight_average_decay, configuration.algorithm, folder)
    with learner as model, _watcher(run) as evaluating, _interrupts(model) as requested:

        def keep() -> None:
            more = average.arrays() if average is not None else {}
            if model.num_timesteps < configuration.steps:
                more |= continuation_arrays(model) | _curriculum_arrays(chosen)
            save(model, run.checkpoint, configuration.algorithm, more)
            if average is not None:
                average.save()

        recorder = Recorder(
            configuration, folder, keep, run.on_progress, lambda: requested() or is_over(), steps_between_records
        )
        watching = [callback for callback in (average, recorder, *callbacks, evaluating) if callback is not None]
        if run.resume:
            _continue(run, model, load, average, chosen)
        try:
            model.learn(
                max(0, configuration.steps - model.num_timesteps),
                watching,
                log_interval=log_interval,
                tb_log_name=configuration.name,
                reset_num_timesteps=model.num_timesteps == 0,
            )
        except Stopped:
            if evaluating is not None and is_over():
                evaluating.on_training_end()
        except KeyboardInterrupt:
            if model.env is not None:
                raise
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
    interrupted = model.num_timesteps < configuration.steps
    return TrainingOutcome(model.num_timesteps, interrupted, recorder.mean_reward)


def description_with_library(configuration: TrainingConfiguration, library: str, done: str) -> dict[str, Any]:
    """Returns `Learner.description` for an algorithm of `library`."""
    return {
        "algorithm": f"{configuration.algorithm.upper()} ({library}), {done} steps",
        "network": {"hidden": list(configuration.policy.hidden), "preference": configuration.policy.preference_size},
    }


@contextmanager
def in_environment(
    run: TrainingRun, make: Callable[[Any, BottleneckVecEnv, Path], BaseAlgorithm]
) -> Iterator[BaseAlgorithm]:
    """Yields a fresh learner, which `make` creates from the run's configuration, environments and folder."""
    environment = make_environment(run.configuration, run.simulator, objective=run.objective, sampler=run.sampler)
    with closing(environment):
        yield make(run.configuration, environment, run.folder)


def _continue(
    run: TrainingRun,
    model: BaseAlgorithm,
    load: Callable[[BaseAlgorithm, Path], object],
    average: WeightAverage | None,
    curriculum: Curriculum | None,
) -> None:
    """Sets the learner and what belongs to it to the state of the run's checkpoint."""
    load(model, run.checkpoint)
    found = read_checkpoint(run.checkpoint)
    if average is not None:
        average.continue_from(found, model.policy)
    if continue_from(model, found):
        if curriculum is not None:
            try:
                curriculum.restore(found.arrays_of(_CURRICULUM))
            except (ValueError, KeyError) as error:
                raise found.mismatch_error(error) from None
    elif model.env is not None:
        # The seed of the stage before would repeat its scenarios.
        model.env.seed(run.configuration.seed + model.num_timesteps)


def _curriculum_arrays(curriculum: Curriculum | None) -> dict[str, Any]:
    state = {} if curriculum is None else curriculum.state()
    return {f"{_CURRICULUM}/{name}": values for name, values in state.items()}


def _interrupts(model: BaseAlgorithm) -> AbstractContextManager[Callable[[], bool]]:
    """Returns the context in which Ctrl-C waits for the end of an update; a learner without environments in this
    process, whose state is never exact, ends at once.
    """
    return deferred_interrupts() if model.env is not None else nullcontext(lambda: False)


@contextmanager
def _watcher(run: TrainingRun) -> Iterator[EvaluationCallback | None]:
    """Yields the run's evaluation callback, if any."""
    if run.evaluate_every_steps is None:
        yield None
        return
    with Evaluation(run.configuration, documents=run.held_out, simulator=run.simulator) as evaluation:
        yield EvaluationCallback(evaluation, run.configuration, run.folder, run.evaluate_every_steps)
