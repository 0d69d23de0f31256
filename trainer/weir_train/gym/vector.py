"""Many environments at once, one simulator process each, as a `gymnasium.vector.VectorEnv`.

Gymnasium's `AsyncVectorEnv` takes five times the CPU time (docs/decisions/9-processes-of-environments.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from weir_cli.errors import ComponentFailed, InputError
from weir_sim.executables import find_stack
from weir_sim.objectives import checked_objective
from weir_train.gym.episode import Episode, EpisodeSource
from weir_train.gym.process import SimulatorProcess, SimulatorRefusal, frame
from weir_train.gym.rewards import Reward, mocc_objectives, resolve_reward
from weir_train.gym.running_episodes import RequestLog, episode_arrays, read_episodes
from weir_train.gym.specification import EnvironmentSpecification, ObjectiveSource, ScenarioSource
from weir_train.gym.step import PRIVILEGED_COLUMNS, StepRecord

DEFAULT = EnvironmentSpecification()


class BottleneckVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`BottleneckEnv` N times: environment i, with seed s + i, behaves like a single one with that seed.

    All actions are sent before any reply is read. When an episode ends, the next begins in the same step
    (`AutoresetMode.SAME_STEP`), while the other environments still run; `info["final_obs"]` then holds its last
    observation. With `AutoresetMode.DISABLED` the caller starts the next episodes.

    `info` of a step: every step field and `objectives` as arrays, with gymnasium's `_name` masks; the next step
    overwrites them.

    A process starts when it is first needed, and after a failure.
    """

    # gymnasium annotates this class attribute as an instance attribute.
    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # type: ignore[misc]

    def __init__(
        self,
        num_envs: int | None = None,
        scenario: ScenarioSource | None = None,
        specification: EnvironmentSpecification = DEFAULT,
        *,
        objective: ObjectiveSource = "balanced",
        reward: str | Reward = "mocc",
        simulator: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: None = None,
    ) -> None:
        """
        Args:
            num_envs: number of environments, and of processes; None: one per core.
            scenario: see `EpisodeSource`.
            specification: interval, features, history, action and whatever else is the same in all episodes.
            objective: see `EpisodeSource`.
            reward: a name in `weir_train.gym.rewards.REWARDS` that the stack supports, or a function like them.
            simulator: path of the stack's program; None: see `weir_sim.executables`.
            timeout_s: time limit for an answer of the simulator.
            autoreset_mode: `SAME_STEP` or `DISABLED`.
            render_mode: None; the environment does not render.

        Raises:
            InputError: a value is out of range or unknown.
        """
        if render_mode is not None:
            raise InputError(f"render_mode {render_mode!r}: this environment does not render")
        if autoreset_mode == AutoresetMode.NEXT_STEP:
            raise InputError("autoreset_mode: an episode begins in the step that ends the last one, or by the caller")
        self.num_envs = num_envs or len(os.sched_getaffinity(0))
        if self.num_envs < 1:
            raise InputError(f"num_envs {num_envs}: at least 1")
        self.metadata = self.metadata | {"autoreset_mode": autoreset_mode}  # type: ignore[misc]
        self.render_mode = None
        self.specification = specification
        self.episode_source = EpisodeSource(scenario, objective)
        # The current episode of each environment.
        self.episodes: list[Episode | None] = [None] * self.num_envs
        self._reward = resolve_reward(reward, specification.stack)
        self._executable = simulator or find_stack(specification.stack)
        self._timeout_s = timeout_s
        self._processes: list[SimulatorProcess | None] = [None] * self.num_envs
        self._generators = [seeding.np_random()[0] for _ in range(self.num_envs)]
        self._log = RequestLog(self.num_envs)
        self.single_observation_space, self.single_action_space = specification.spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._make_arrays(specification)

    def _make_arrays(self, specification: EnvironmentSpecification) -> None:
        """Makes the arrays that each step overwrites: one row for each environment."""
        size, fields = specification.observation_size, specification.step_fields
        low, high = specification.observation_limits()
        self._low, self._high = low[:size], high[:size]
        self._observations = np.zeros((self.num_envs, specification.width), dtype=np.float32)
        self._objectives = self._observations[:, size : size + 3]

        reply = np.dtype([("flags", "u1"), ("observation", "<f4", (size,)), ("step", "<f8", (len(fields),))])
        self._replies = np.zeros(self.num_envs, dtype=reply)
        self._reply_payloads = [self._replies[i : i + 1].view(np.uint8).data for i in range(self.num_envs)]
        request = np.dtype([("header", "u1", (5,)), ("action", "<f4"), ("objective", "<f4", (3,))])
        self._requests = np.zeros(self.num_envs, dtype=request)
        self._requests["header"] = np.frombuffer(frame(b"S", bytes(request.itemsize - 5))[:5], np.uint8)
        self._request_frames = [self._requests[i : i + 1].view(np.uint8).data for i in range(self.num_envs)]

        # The record of the latest step, column-major because rewards compute with columns, and its part of `info`.
        self._record = StepRecord(np.zeros((len(fields), self.num_envs)).T)
        self._all = np.ones(self.num_envs, dtype=np.bool_)
        self._columns: dict[str, np.ndarray] = {"_objectives": self._all}
        for name in fields:
            self._columns |= {name: getattr(self._record, name), "_" + name: self._all}

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode in every environment.

        Args:
            seed: environment i draws with seed + i; or one seed each.
            options: as in `BottleneckEnv.reset`, for these episodes.

        Raises:
            InputError: an option is unknown, or its file cannot be read.
            ComponentFailed, SimulatorRefusal: as `start`.
        """
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int | np.integer) else list(seed)
            if len(seeds) != self.num_envs:
                raise InputError(f"{len(seeds)} seeds for {self.num_envs} environments")
            for index, value in enumerate(seeds):
                if value is not None:
                    self._generators[index] = seeding.np_random(int(value))[0]
        return self.start([self._draw(index, options) for index in range(self.num_envs)]), {}

    def start(self, episodes: Sequence[Episode]) -> np.ndarray:
        """Starts these episodes, one in each environment, and returns their first observations.

        Raises:
            ComponentFailed: a process failed; the next call starts another.
            SimulatorRefusal: a simulator does not run its scenario or specification.
        """
        try:
            for index, episode in enumerate(episodes):
                self._begin(index, episode)
            for index in range(self.num_envs):
                self._finish_reset(index)
        except BaseException as error:
            # A single process that refused can be used again; of several, others may have unread answers.
            if not isinstance(error, SimulatorRefusal) or self.num_envs > 1:
                self.close_extras()
            raise
        return self._observations.copy()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Runs one interval in every environment; `actions` has shape (num_envs, 1) and is clipped to [-1, 1].

        Raises:
            ComponentFailed: a simulator failed, or there is no episode; all environments must be reset.
        """
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        objectives = self._objectives.astype(np.float64)
        restarted: list[int] = []
        try:
            processes = self._running()
            self._requests["action"] = self.specification.wire_actions(np.asarray(actions), self._observations)
            self._requests["objective"] = self._objectives
            self._log.add(self._requests["action"], self._requests["objective"])
            for process, request in zip(processes, self._request_frames, strict=True):
                process.send(request)
            # The last process to receive its request usually replies last; after waiting for it, the others have.
            for index in reversed(range(self.num_envs)):
                reply = self._reply_payloads[index]
                processes[index].receive(b"O", reply)
                if reply[0]:
                    truncated[index] = True
                    if self.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP:
                        restarted.append(index)
                        self._begin(index, self._draw(index))
            self._observe(slice(None))
            self._record.values[:] = self._replies["step"]
            self._record.mocc_measures = None
            rewards = np.asarray(self._reward(self._record, objectives), dtype=np.float64)
            infos: dict[str, Any] = self._columns | {"objectives": mocc_objectives(self._record)}
            if restarted:
                final = np.full(self.num_envs, None, dtype=object)
                for index in restarted:
                    final[index] = self._observations[index].copy()
                    self._finish_reset(index)
                infos |= {"final_obs": final, "_final_obs": truncated}
        except BaseException:
            self.close_extras()
            raise
        return self._observations.copy(), rewards, terminated, truncated, infos

    def set_objectives(self, objectives: Sequence[Sequence[float] | str] | np.ndarray) -> None:
        """Changes the objective of each environment during the episodes, from the next step on; earlier observations
        still have the old one.
        """
        self._objectives[:] = [checked_objective(objective) for objective in objectives]

    def state(self) -> dict[str, np.ndarray]:
        """Returns the running episodes and the random numbers of later ones, for `restore`."""
        episodes = [episode for episode in self.episodes if episode is not None]
        return episode_arrays(episodes, self._generators, self._log) | {"observations": self._observations.copy()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues the episodes of `state`, which it repeats up to there.

        Raises:
            ComponentFailed: a simulator failed, or gives other observations than it did then.
            SimulatorRefusal: a simulator does not run its scenario or specification.
            ValueError, TypeError, KeyError, IndexError, InputError: the state is damaged, or of other environments.
        """
        episodes, generators, requests, lengths = read_episodes(state, self.num_envs)
        observations = state["observations"]
        if observations.shape != self._observations.shape:
            raise ValueError(f"observations of shape {observations.shape}, not {self._observations.shape}")
        for generator, generator_state in zip(self._generators, generators, strict=True):
            generator.bit_generator.state = generator_state
        self.start(episodes)
        try:
            for step, row in enumerate(requests):
                self._repeat(np.flatnonzero(lengths >= len(requests) - step), row)
            self._observe(slice(None))
        except BaseException:
            self.close_extras()
            raise
        self._log.restart(requests, lengths)
        self._objectives[:] = observations[:, self.specification.observation_size :][:, :3]
        if not np.array_equal(self._observations, observations):
            self.close_extras()
            raise ComponentFailed(
                "the simulator does not repeat the episodes of the checkpoint: it was built from other code, or for "
                "another machine"
            )

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the simulator processes."""
        for process in self._processes:
            if process is not None:
                process.close()
        self._processes = [None] * self.num_envs

    def _draw(self, index: int, options: Mapping[str, Any] | None = None) -> Episode:
        return self.episode_source.draw(self._generators[index], options)

    def _running(self) -> list[SimulatorProcess]:
        running = [process for process in self._processes if process is not None and process.alive]
        if len(running) < self.num_envs:
            index = next(i for i, process in enumerate(self._processes) if process not in running)
            raise ComponentFailed(f"environment {index} has no episode: reset it first")
        return running

    def _repeat(self, indices: np.ndarray, row: np.ndarray) -> None:
        """Sends a row of requests to the environments of these indices, and reads their answers."""
        processes = self._running()
        self._requests["action"], self._requests["objective"] = row[:, 0], row[:, 1:]
        for index in indices:
            processes[index].send(self._request_frames[index])
        for index in reversed(indices):
            processes[index].receive(b"O", self._reply_payloads[index])

    def _begin(self, index: int, episode: Episode) -> None:
        """Sends the request of an episode, to a new process if there is none."""
        process = self._processes[index]
        if process is None or not process.alive:
            process = self._processes[index] = SimulatorProcess(self._executable, self._timeout_s)
        self.episodes[index] = episode
        self._log.begin(index)
        process.begin_episode(self.specification.reset_request(episode.scenario, episode.seed, episode.objective))

    def _finish_reset(self, index: int) -> None:
        """Reads the answers to `_begin`."""
        process, episode = self._processes[index], self.episodes[index]
        assert process is not None
        assert episode is not None
        expected = self.specification.observation_size, self.specification.step_fields
        if (greeting := process.greeting()) != expected:
            raise process.failure(f"an observation has {greeting}, not {expected} as in this version of weir")
        process.receive(b"O", self._reply_payloads[index])
        self._observe(slice(index, index + 1))
        self._objectives[index] = episode.objective

    def _observe(self, rows: slice) -> None:
        """Takes over the observations of replies, bounded by the space."""
        received = self._replies["observation"][rows]
        if not np.isfinite(received).all():
            index = int(np.flatnonzero(~np.isfinite(received).all(axis=1))[0]) + (rows.start or 0)
            raise ComponentFailed(f"the simulator of environment {index} failed: its observation is not finite")
        size = received.shape[1]
        histories = self._observations[rows, :size]
        np.minimum(received, self._high, out=histories)  # np.clip costs more
        np.maximum(histories, self._low, out=histories)
        if self.specification.privileged:
            self._observations[rows, size + 3 :] = self._replies["step"][rows][:, PRIVILEGED_COLUMNS]
