"""IMPALA as a learner of stable-baselines3's interface, so that checkpoints, callbacks and logs are those of PPO.

RLlib's own loop is not used: its learner runs in a thread whose end it does not notice, and its V-trace leaks the
appended bootstrap step into the targets (Ray 2.60).
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import ray
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import MaybeCallback

from weir_cli.errors import InputError
from weir_papers.mvfst.impala.configuration import ImpalaConfiguration
from weir_papers.mvfst.impala.fragment import Fragment
from weir_papers.mvfst.impala.learner import make_learner, rllib_configuration
from weir_papers.mvfst.impala.runner import Runner
from weir_papers.mvfst.impala.runner_pool import RunnerPool
from weir_papers.mvfst.impala.supervisor import Supervisor
from weir_sim.cluster import core_count
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.algorithms import LinearSchedule, events_folder
from weir_train.policies.networks import PreferencePolicy

_POLL_S = 1.0


class Impala(BaseAlgorithm):
    """Learns in this process from runners on the cluster that `weir_sim.cluster.connected` has joined.

    Args:
        configuration: of the training.
        folder: of the run.
        sampler: of scenarios.
        objective: of episodes, instead of the configuration's.

    Raises:
        InputError: the cluster has fewer cores than the configuration runners.
    """

    policy: PreferencePolicy

    def __init__(
        self,
        configuration: ImpalaConfiguration,
        folder: Path,
        *,
        sampler: ScenarioSampler,
        objective: ObjectiveSource | None = None,
    ) -> None:
        settings = configuration.impala
        cores = core_count()
        self._runners = settings.runners or cores
        if self._runners > cores:
            raise InputError(
                f"impala.runners {self._runners}: there are {cores} cores; lower it, or add machines to the cluster"
            )
        schedule = LinearSchedule(settings.learning_rate, settings.learning_rate_end)
        events = events_folder(folder)
        super().__init__(PreferencePolicy, None, schedule, tensorboard_log=events, device="cpu")
        self._configuration = configuration
        self._sampler = sampler
        self._objective = objective
        self._setup_model()
        # Else the start of `learn` would reset an environment, which only the runners have.
        self._last_obs = self.policy.observation_space.sample()
        if events is None:
            self.set_logger(Logger(None, []))

    def _setup_model(self) -> None:
        self._setup_lr_schedule()
        torch.manual_seed(self._configuration.seed)
        self._learner = make_learner(self._configuration)
        self.policy = self._learner.policy_module.policy

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        return ["policy", "policy.optimizer"], []

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 1,
        tb_log_name: str = "impala",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Impala:
        """Until so many further steps are learned from; see `BaseAlgorithm.learn`.

        Raises:
            ClusterError: a runner failed, or nothing was sampled or learned for too long.
        """
        total, callback = self._setup_learn(total_timesteps, callback, False, tb_log_name)
        pool = RunnerPool(self._runners, self._start_runner)
        callback.on_training_start(locals(), globals())
        callback.on_rollout_start()
        iteration = 0
        with closing(pool), Supervisor(self._configuration.impala.standstill_s) as supervisor:
            while self.num_timesteps < total:
                pool.set_parameters(self.policy.state_dict(), self._n_updates)
                fragment = pool.next_fragment(_POLL_S)
                state = f"{pool.working} of {self._runners} runners are at work"
                supervisor.check(self.num_timesteps, self._n_updates, state)
                if fragment is None:
                    continue
                infos = [{"episode": episode} for episode in fragment.episodes]
                self.num_timesteps += fragment.steps
                callback.update_locals(locals())
                callback.on_step()
                callback.on_rollout_end()
                self._update_current_progress_remaining(self.num_timesteps, total)
                self._learn(fragment)
                self._log(pool, fragment)
                iteration += 1
                if iteration % log_interval == 0:
                    self.logger.dump(self.num_timesteps)
                callback.on_rollout_start()
        callback.on_training_end()
        return self

    def _start_runner(self, index: int) -> Any:
        actor = ray.remote(num_cpus=1)(Runner)
        return actor.remote(
            config=rllib_configuration(self._configuration),
            worker_index=index,
            configuration=self._configuration,
            sampler=self._sampler,
            objective=self._objective,
        )

    def _learn(self, fragment: Fragment) -> None:
        settings = self._configuration.impala
        self._update_learning_rate(self.policy.optimizer)
        schedule = LinearSchedule(settings.entropy_coefficient, settings.entropy_coefficient_end)
        self._learner.entropy_coefficient = schedule(self._current_progress_remaining)
        self._learner.learn(fragment)
        self._n_updates += 1

    def _log(self, pool: RunnerPool, fragment: Fragment) -> None:
        elapsed_s = max((time.time_ns() - self.start_time) / 1e9, 1e-9)
        steps = self.num_timesteps - self._num_timesteps_at_start
        self.logger.record("time/fps", int(steps / elapsed_s))
        self.logger.record("time/total_timesteps", self.num_timesteps)
        self.logger.record("runners/working", pool.working)
        self.logger.record("runners/lost", pool.lost)
        self.logger.record("train/updates_late", self._n_updates - 1 - fragment.update)
        self.logger.record("train/std", float(self.policy.log_std.detach().exp().mean()))
