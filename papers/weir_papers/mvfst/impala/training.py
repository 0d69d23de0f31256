"""IMPALA as an algorithm of `weir train`; see `Learner`. Export needs no Ray, so only a training imports it."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from stable_baselines3.common.logger import Logger

from weir_cli.errors import InputError
from weir_papers.mvfst.agent import Agent
from weir_papers.mvfst.export import export
from weir_papers.mvfst.impala.configuration import ImpalaConfiguration
from weir_papers.mvfst.impala.runner import Runner, Sample, make_policy
from weir_papers.mvfst.impala.supervisor import Supervisor
from weir_papers.mvfst.learner import Learner, Variant
from weir_sim.cluster import ClusterError, connected, core_count
from weir_train.learning.algorithms import moments_of, set_moments
from weir_train.learning.callbacks import ProgressLog
from weir_train.learning.checkpoint import policy_arrays, read_checkpoint, write_checkpoint
from weir_train.learning.learner import TrainingOutcome, TrainingProgress, TrainingRun
from weir_train.learning.run_record import EPISODES, EPISODES_SHOWN, PROGRESS_LOG

__all__ = ["PACKAGES", "description", "export", "make_policy", "origin", "train"]

PACKAGES: Final = ("ray", "torch", "gymnasium")
_OPTIMIZER: Final = "optimizer"
_UPDATES: Final = "updates"
_POLL_S: Final = 1.0


@dataclass(frozen=True)
class Update:
    """The learner has learned from a fragment: the sample, how many runners work, how many were lost so far, and how
    many updates late the sample was.
    """

    sample: Sample
    working: int
    lost: int
    late: int


def train(run: TrainingRun) -> TrainingOutcome:
    """Trains until all steps are done. A resumed training has new runners, which begin new episodes.

    Raises:
        InputError: there is no such cluster, or it has fewer cores than the configuration runners; or the training has
            diverged.
        MissingComponent: Ray is not installed.
        ClusterError: a runner failed, or the training stands still; its checkpoint is written first.
    """
    configuration, agent = run.configuration, make_policy(run.configuration)
    learner, saved = make_learner(configuration, agent), run.steps_done
    rewards: deque[float] = deque(maxlen=EPISODES_SHOWN)

    def outcome(interrupted: bool) -> TrainingOutcome:
        save(learner, run.checkpoint)
        return TrainingOutcome(learner.steps, interrupted, float(np.mean(rewards)) if rewards else float("nan"))

    if run.resume:
        load(learner, run.checkpoint)
    with connected(run.address), closing(Logger(None, [ProgressLog(run.folder / PROGRESS_LOG)])) as log:
        try:
            with closing(learn_on_cluster(configuration, learner, run.sampler.documents)) as learned:
                for update in learned:
                    rewards.extend(reward for of_emulator in update.sample.rewards.values() for reward in of_emulator)
                    mean = float(np.mean(rewards)) if rewards else float("nan")
                    log.record("time/total_timesteps", learner.steps)
                    log.record("rollout/mean_reward_per_step", mean)
                    log.record(EPISODES, len(rewards))
                    log.record("runners/working", update.working)
                    log.record("runners/lost", update.lost)
                    log.record("train/updates_late", update.late)
                    log.dump(learner.steps)
                    if learner.steps - saved >= configuration.checkpoint_every_steps:
                        saved = learner.steps
                        save(learner, run.checkpoint)
                    if run.on_progress is not None:
                        run.on_progress(TrainingProgress(learner.steps, mean, (np.nan, np.nan, np.nan)))
        except KeyboardInterrupt:
            return outcome(interrupted=True)
        except ClusterError:
            save(learner, run.checkpoint)
            raise
    return outcome(interrupted=False)


def save(learner: Learner, checkpoint: Path) -> None:
    """Writes a checkpoint for `load`."""
    arrays: dict[str, Any] = policy_arrays(learner.agent.state_dict()) | moments_of(learner.optimizer, _OPTIMIZER)
    write_checkpoint(checkpoint, "impala", learner.steps, arrays | {_UPDATES: learner.updates})


def load(learner: Learner, checkpoint: Path) -> None:
    """Sets a fresh learner to the state of a checkpoint.

    Raises:
        InputError: it is damaged, or not of this learner.
    """
    found = read_checkpoint(checkpoint)
    found.load_into(learner.agent)
    set_moments(learner.optimizer, found, _OPTIMIZER)
    try:
        learner.steps, learner.updates = found.steps, int(found.arrays[_UPDATES])
    except (KeyError, TypeError) as error:
        raise found.mismatch_error(error) from None


def make_learner(configuration: ImpalaConfiguration, agent: Agent) -> Learner:
    """The learner of `learn`, of these settings."""
    settings = configuration.impala
    variant = Variant(settings.recurrent, settings.entropy, settings.corrected, settings.delay_ms)
    return Learner(agent, variant, steps=configuration.steps, learning_rate=settings.learning_rate)


def learn_on_cluster(
    configuration: ImpalaConfiguration, learner: Learner, documents: Sequence[Mapping[str, Any]]
) -> Generator[Update]:
    """Learns in this process from runners on the cluster that `connected` has joined, until the configuration's steps
    are done.

    Raises:
        InputError: see `train`.
        ClusterError: see `train`.
    """
    import ray

    from weir_papers.mvfst.impala.runner_pool import RunnerPool

    settings, cores = configuration.impala, core_count()
    count = settings.runners or cores
    if count > cores:
        raise InputError(f"impala.runners {count}: there are {cores} cores; lower it, or add machines to the cluster")
    runner: Any = ray.remote(num_cpus=1)(Runner)
    pool = RunnerPool(
        count, lambda index: runner.remote(configuration, documents, index), synchronous=settings.synchronous
    )
    with closing(pool), Supervisor(settings.standstill_s) as supervisor:
        while learner.steps < configuration.steps:
            pool.set_parameters(learner.parameters(), learner.updates)
            samples = pool.next_samples(_POLL_S)
            state = f"{pool.working} of {count} runners are at work"
            supervisor.check(learner.steps, learner.updates, state)
            for sample in samples:
                late = learner.updates - sample.update
                learner.learn(sample.fragment)
                yield Update(sample, pool.working, pool.lost, late)


def origin(configuration: ImpalaConfiguration) -> dict[str, Any]:
    """See `Learner`."""
    return {}


def description(configuration: ImpalaConfiguration, done: str) -> dict[str, Any]:
    """See `Learner`."""
    return {
        "algorithm": f"IMPALA (MVFST-RL), {done} steps",
        "network": configuration.impala.model_dump(include={"hidden", "recurrent"}),
    }
