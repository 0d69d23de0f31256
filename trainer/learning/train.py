"""Training runs of every algorithm in a folder: checkpoints, resume, progress, TensorBoard, and a record of the run."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from weir.errors import InputError
from weir.files.output import alone_in, make_folder, refuse_other_results, write_text
from weir.simulator.cluster import ClusterError, connected
from weir.trainer.configuration.algorithms import ImpalaSettings, PpoSettings
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.specification import ObjectiveSource
from weir.trainer.learning.algorithms import check_checkpoint, load_model, make_environment, make_model, save_checkpoint
from weir.trainer.learning.callbacks import Recorder, TrainingProgress, WeightAverage
from weir.trainer.learning.checkpoint import read_checkpoint
from weir.trainer.learning.curriculum import Curriculum, TraceCurriculum, make_curriculum
from weir.trainer.learning.evaluation import Evaluation, EvaluationCallback
from weir.trainer.learning.provenance import record_origin
from weir.trainer.learning.registered import learner_of
from weir.trainer.learning.run_record import ConfigurationFile, TrainingRecord, read_training_record
from weir.trainer.model.file import CHECKPOINT, CONFIGURATION


@dataclass(frozen=True)
class TrainingResult:
    """The end of a training run. `checkpoint` can be resumed from and exported. `was_complete`: nothing was left to do.
    `mean_reward` is over the latest episodes, NaN when none has ended.
    """

    checkpoint: Path
    steps: int
    interrupted: bool
    mean_reward: float
    was_complete: bool = False


def train(
    configuration: TrainingConfiguration,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    evaluate_every_steps: int | None = None,
    curriculum: Curriculum | None = None,
    objective: ObjectiveSource | None = None,
    callbacks: Sequence[BaseCallback] = (),
    command: str | None = None,
    configuration_file: ConfigurationFile | None = None,
    address: str | None = None,
) -> TrainingResult:
    """Trains until `configuration.steps` environment steps are done, or until Ctrl-C, which keeps a checkpoint.

    Args:
        configuration: what to train.
        out: folder for the checkpoint, the configuration, figures of the run and TensorBoard's events.
        resume: continue from the checkpoint in `out`, in other scenarios than before it.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called after every update; see `TrainingProgress`.
        evaluate_every_steps: evaluate this often, and keep the best policy; see `EvaluationCallback`. None: never.
        curriculum: over the traces of the files, instead of the configuration's.
        objective: of episodes, instead of the configuration's.
        callbacks: of stable-baselines3, besides those of every run.
        command: for the record.
        configuration_file: for the record.
        address: of the cluster that `impala` trains on; see `connected`.

    Raises:
        InputError: the folder holds a checkpoint and `resume` is false, or the other way round, or results of another
            command; another command is at work there; a scenario file or a teacher is missing; the training diverged,
            or does not fit into memory.
        SimulatorError: a simulator failed; the last checkpoint stays.
        MissingComponent: `impala` without Ray.
        ClusterError: a runner failed, or a distributed training stands still; its checkpoint is written first.
    """
    started = time.monotonic()
    folder = Path(out)
    checkpoint = folder / CHECKPOINT
    if resume and not checkpoint.is_file():
        raise InputError(f"{folder}: has no {CHECKPOINT} to resume from")
    if not resume and checkpoint.exists():
        raise InputError(f"{folder}: already holds a training run; resume it, or give another folder")
    found = read_checkpoint(checkpoint) if resume else None
    if found is not None:
        check_checkpoint(configuration, found)
        if found.steps >= configuration.steps:
            return TrainingResult(checkpoint, found.steps, False, math.nan, was_complete=True)
    refuse_other_results(folder, CONFIGURATION)
    registered = learner_of(configuration)
    if registered is not None and evaluate_every_steps is not None:
        raise InputError(f"--eval: evaluates learners from rewards, and algorithm {configuration.algorithm} is none")
    sampler = ScenarioSampler(configuration.scenarios)
    make_folder(folder)
    with alone_in(folder):
        write_text(folder / CONFIGURATION, configuration.model_dump_json(indent=1) + "\n")
        torch.set_num_threads(configuration.threads)
        record = read_training_record(folder) if resume else TrainingRecord()
        record.planned_steps = configuration.steps
        record.interrupted = True
        record.commands += [command] if command else []
        record.configuration = configuration_file
        record_origin(record, configuration)
        record.save(folder)
        if registered is not None:
            result = registered.train(
                configuration, checkpoint, resume=resume, simulator=simulator, on_progress=on_progress
            )
        else:
            chosen = curriculum or make_curriculum(configuration, sampler.documents, folder, simulator)
            if chosen is not None:
                traces = TraceCurriculum(sampler, chosen, configuration.first_step, configuration.steps)
                traces.prepare(found.steps if found else 0)
                callbacks = [*callbacks, traces]
            try:
                learner = _learner(
                    configuration, folder, resume=resume, simulator=simulator, sampler=sampler, objective=objective,
                    address=address,
                )  # fmt: skip
                watcher = _watcher(configuration, folder, evaluate_every_steps, simulator)
                result = _reinforce(configuration, folder, record, learner, watcher, on_progress, callbacks)
            except MemoryError as error:
                raise InputError(
                    f"the training does not fit into memory ({error}): lower environments, steps_per_update, "
                    "buffer_size or hidden"
                ) from None
        record.steps, record.interrupted, mean_reward = result
        record.wall_s = round(record.wall_s + time.monotonic() - started, 1)
        record.steps_per_s = round(record.steps / max(record.wall_s, 0.1), 1)
        record.save(folder)
    return TrainingResult(checkpoint, record.steps, record.interrupted, mean_reward)


@contextmanager
def _learner(
    configuration: TrainingConfiguration,
    folder: Path,
    *,
    resume: bool,
    simulator: str | os.PathLike[str] | None,
    sampler: ScenarioSampler,
    objective: ObjectiveSource | None,
    address: str | None,
) -> Iterator[BaseAlgorithm]:
    """The learner from rewards with its environments, fresh or in the state of the checkpoint."""
    with ExitStack() as stack:
        model: BaseAlgorithm
        if configuration.algorithm == "impala":
            stack.enter_context(connected(address))
            # Only in the environment that has Ray.
            from weir.trainer.learning.distributed.impala import Impala

            model = Impala(configuration, folder, sampler=sampler, objective=objective)
        else:
            environment = make_environment(configuration, simulator, objective=objective, sampler=sampler)
            stack.enter_context(closing(environment))
            model = make_model(configuration, environment, folder)
        if resume:
            load_model(model, folder / CHECKPOINT)
            if model.env is not None:
                # The seed of the first part would repeat its scenarios.
                model.env.seed(configuration.seed + model.num_timesteps)
        yield model


@contextmanager
def _watcher(
    configuration: TrainingConfiguration,
    folder: Path,
    every_steps: int | None,
    simulator: str | os.PathLike[str] | None,
) -> Iterator[EvaluationCallback | None]:
    """Evaluates this often; None: never."""
    if every_steps is None:
        yield None
        return
    with Evaluation(configuration, simulator=simulator) as evaluation:
        yield EvaluationCallback(evaluation, configuration, folder, every_steps)


def _reinforce(
    configuration: TrainingConfiguration,
    folder: Path,
    record: TrainingRecord,
    learner: AbstractContextManager[BaseAlgorithm],
    watcher: AbstractContextManager[EvaluationCallback | None],
    on_progress: Callable[[TrainingProgress], None] | None,
    callbacks: Sequence[BaseCallback],
) -> tuple[int, bool, float]:
    """Learns from rewards; the steps, whether Ctrl-C interrupted it, and the mean reward of the latest episodes."""
    settings = configuration.algorithm_settings
    on_policy, average = isinstance(settings, PpoSettings | ImpalaSettings), None
    if isinstance(settings, PpoSettings | ImpalaSettings) and settings.weight_average_decay > 0:
        average = WeightAverage(settings.weight_average_decay, configuration.algorithm, folder)
    interrupted = False
    # After the average, which draws random numbers that it does not use: a learner begins with a seed of its own.
    with learner as model, watcher as evaluating:

        def save() -> None:
            save_checkpoint(model, folder / CHECKPOINT, configuration.algorithm)
            if average is not None:
                average.save()

        recorder = Recorder(configuration, folder, save, on_progress)
        watching = [one for one in (recorder, average, *callbacks, evaluating) if one is not None]
        try:
            model.learn(
                max(0, configuration.steps - model.num_timesteps),
                watching,
                log_interval=1 if on_policy else 4 * configuration.environment.environments,
                tb_log_name=configuration.name,
                reset_num_timesteps=model.num_timesteps == 0,
            )
        except KeyboardInterrupt:
            interrupted = True
        except ClusterError:
            save()
            raise
        except ValueError:
            # torch refuses a distribution that is not finite: `save` then refuses.
            if all(values.isfinite().all() for values in model.policy.state_dict().values()):
                raise
        save()
    if evaluating is not None:
        record.rule_mean_reward = evaluating.rule_mean_reward
    return model.num_timesteps, interrupted, recorder.mean_reward
